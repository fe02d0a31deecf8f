internal import Synchronization

/// Remembers an answer for each type.
final class TypeMemo<Answer: Sendable>: Sendable {
  private let known = Mutex<[TypeAddress: Answer]>([:])

  /// The answer that was found before; nil if there is none.
  func known(for type: Any.Type) -> Answer? { known.withLock { $0[TypeAddress(type)] } }

  /// - Parameter find: finds the answer. It may be called more than once. It runs outside the lock, because it may run users'
  ///   code.
  func answer(for type: Any.Type, _ find: () -> Answer) -> Answer {
    let key = TypeAddress(type)
    if let known = known(for: type) { return known }
    let found = find()
    known.withLock { $0[key] = found }
    return found
  }
}
