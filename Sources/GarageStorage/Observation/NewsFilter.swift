internal import Synchronization

/// Says without a lock that nobody wants to hear of a commit. Where it says that somebody may, they are looked up.
///
/// A listener is counted here before it reads, and a commit asks when it is done: either the commit finds the listener, or
/// the listener reads what was committed.
struct NewsFilter: ~Copyable, Sendable {
  /// How many want to hear of everything, and of typed keys.
  private let everythingCount = Atomic<Int>(0)
  private let valueCount = Atomic<Int>(0)
  /// One bit for each of 256 parts of all tags.
  private let bits0 = Atomic<UInt64>(0)
  private let bits1 = Atomic<UInt64>(0)
  private let bits2 = Atomic<UInt64>(0)
  private let bits3 = Atomic<UInt64>(0)
  /// How many tags are behind each bit. Changed under the lock of those who listen.
  private let counts = Mutex([Int](repeating: 0, count: 256))

  func add(_ interest: Interest) { count(interest, 1) }

  func remove(_ interest: Interest) { count(interest, -1) }

  private func count(_ interest: Interest, _ step: Int) {
    if interest.isEverything {
      everythingCount.add(step, ordering: .sequentiallyConsistent)
      return
    }
    if interest.hasAllValues || interest.hasKeysOfValues {
      valueCount.add(step, ordering: .sequentiallyConsistent)
    }
    counts.withLock { counts in
      for tag in interest.tags { count(tag, step, &counts) }
      for tag in interest.keyTags { count(tag, step, &counts) }
    }
  }

  private func count(_ tag: UInt64, _ step: Int, _ counts: inout [Int]) {
    let place = NewsFilter.place(tag)
    let before = counts[place]
    counts[place] += step
    if before == 0 || counts[place] == 0 {
      let bit: UInt64 = 1 << UInt64(place & 63)
      if step > 0 { set(place, bit) } else { clear(place, bit) }
    }
  }

  /// Whether a commit may concern anybody.
  @inline(__always)
  func mayConcern(_ log: ChangeLog) -> Bool {
    if log.isEverything || everythingCount.load(ordering: .sequentiallyConsistent) > 0 { return true }
    if log.hasValues && valueCount.load(ordering: .sequentiallyConsistent) > 0 { return true }
    return log.tags.contains { has($0.tag) }
  }

  /// Whether records of a tag that are changed may concern anybody.
  @inline(__always)
  func mayConcern(_ tag: UInt64) -> Bool {
    everythingCount.load(ordering: .relaxed) > 0 || has(tag)
  }

  /// The same of records that were committed: then nobody is missed who began to listen before that.
  @inline(__always)
  func mayConcernCommitted(_ tag: UInt64) -> Bool {
    everythingCount.load(ordering: .sequentiallyConsistent) > 0 || has(tag)
  }

  // MARK: Bits

  /// Tags are digests: any of their bits will do.
  @inline(__always)
  private static func place(_ tag: UInt64) -> Int { Int(truncatingIfNeeded: tag & 255) }

  @inline(__always)
  private func has(_ tag: UInt64) -> Bool {
    let place = NewsFilter.place(tag)
    let bits =
      switch place >> 6 {
      case 0: bits0.load(ordering: .sequentiallyConsistent)
      case 1: bits1.load(ordering: .sequentiallyConsistent)
      case 2: bits2.load(ordering: .sequentiallyConsistent)
      default: bits3.load(ordering: .sequentiallyConsistent)
      }
    return bits & (1 << UInt64(place & 63)) != 0
  }

  private func set(_ place: Int, _ bit: UInt64) {
    switch place >> 6 {
    case 0: bits0.bitwiseOr(bit, ordering: .sequentiallyConsistent)
    case 1: bits1.bitwiseOr(bit, ordering: .sequentiallyConsistent)
    case 2: bits2.bitwiseOr(bit, ordering: .sequentiallyConsistent)
    default: bits3.bitwiseOr(bit, ordering: .sequentiallyConsistent)
    }
  }

  private func clear(_ place: Int, _ bit: UInt64) {
    switch place >> 6 {
    case 0: bits0.bitwiseAnd(~bit, ordering: .relaxed)
    case 1: bits1.bitwiseAnd(~bit, ordering: .relaxed)
    case 2: bits2.bitwiseAnd(~bit, ordering: .relaxed)
    default: bits3.bitwiseAnd(~bit, ordering: .relaxed)
    }
  }
}
