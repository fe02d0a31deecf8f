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
  /// The address of one that waits before the list, so that a thread alone takes no lock; 0 where there is none.
  private let first = Atomic<UInt>(0)

  func take() -> Unmanaged<Core>? {
    let address = first.exchange(0, ordering: .acquiring)
    if let pointer = UnsafeRawPointer(bitPattern: address) { return .fromOpaque(pointer) }
    return waiting.withLock { Token(core: $0.cores.popLast()) }.core
  }

  func giveBack(_ core: Unmanaged<Core>) {
    let address = UInt(bitPattern: core.toOpaque())
    if first.compareExchange(expected: 0, desired: address, ordering: .releasing).exchanged { return }
    let token = Token(core: core)
    waiting.withLock { if let core = token.core { $0.cores.append(core) } }
  }
}
