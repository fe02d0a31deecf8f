internal import Synchronization

/// Coders that are kept to be used again.
///
/// A core is used only by the caller that took it out. So it is safe to hand one from thread to thread, and the list may hold
/// objects that are not `Sendable`. Cores are never freed.
struct CorePool<Core: AnyObject>: ~Copyable, @unchecked Sendable {
  private struct Waiting: @unchecked Sendable {
    var cores: [Permanent<Core>] = []
  }
  private struct Token: @unchecked Sendable {
    var core: Permanent<Core>?
  }
  private let waiting = Mutex<Waiting>(Waiting())
  /// One core in front of the list, so that a single thread takes no lock.
  private let first = Atomic<Unmanaged<Core>?>(nil)

  func take() -> Permanent<Core>? {
    if let core = first.exchange(nil, ordering: .acquiring) { return Permanent(core) }
    return waiting.withLock { Token(core: $0.cores.popLast()) }.core
  }

  func giveBack(_ core: Permanent<Core>) {
    if first.compareExchange(expected: nil, desired: core.unmanaged, ordering: .releasing).exchanged {
      return
    }
    let token = Token(core: core)
    waiting.withLock { if let core = token.core { $0.cores.append(core) } }
  }
}
