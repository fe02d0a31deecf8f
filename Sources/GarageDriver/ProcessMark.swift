internal import CGarage

/// Remembers the process that it was made in. By it a forked child knows what it must not touch.
///
/// A check costs one atomic load; `getpid` would be a system call.
public struct ProcessMark: Sendable, Hashable {
  private let forkCount: UInt32

  /// The mark of this process.
  public init() {
    garage_watch_forks()
    forkCount = garage_fork_count()
  }

  /// Whether the caller runs in the process that made the mark, and not in a child forked from it later.
  public var isOfThisProcess: Bool { garage_fork_count() == forkCount }
}
