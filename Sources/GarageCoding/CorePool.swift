internal import Synchronization

/// Coders that wait to be used again.
///
/// A core is used by whoever took it out, by nobody else at the time: that is what makes it safe to hand one
/// from thread to thread, and why the list may hold what is not `Sendable`.
struct CorePool<Core: AnyObject>: ~Copyable, @unchecked Sendable {
  private struct Waiting: @unchecked Sendable {
    var cores: [Unmanaged<Core>] = []
  }
  private struct Token: @unchecked Sendable {
    var core: Unmanaged<Core>?
  }
  private let waiting = Mutex<Waiting>(Waiting())

  func take() -> Unmanaged<Core>? { waiting.withLock { Token(core: $0.cores.popLast()) }.core }

  func giveBack(_ core: Unmanaged<Core>) {
    let token = Token(core: core)
    waiting.withLock { if let core = token.core { $0.cores.append(core) } }
  }
}
