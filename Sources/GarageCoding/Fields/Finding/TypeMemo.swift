internal import Synchronization

/// Remembers what was found out of each type.
final class TypeMemo<Answer: Sendable>: Sendable {
  private let known = Mutex<[TypeAddress: Answer]>([:])

  /// What was found out before; nil where nothing was.
  func known(for type: Any.Type) -> Answer? { known.withLock { $0[TypeAddress(type)] } }

  /// - Parameter find: finds it out. It may be called more than once, and runs outside of the lock: it may run users' code.
  func answer(for type: Any.Type, _ find: () -> Answer) -> Answer {
    let key = TypeAddress(type)
    if let known = known(for: type) { return known }
    let found = find()
    known.withLock { $0[key] = found }
    return found
  }
}
