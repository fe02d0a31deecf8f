internal import Synchronization

/// Tells without a lock that nobody wants to hear of a commit. If somebody may, the listeners are looked up.
///
/// A listener is counted here before it reads, and a commit asks after it is done. So either the commit finds the listener, or
/// the listener reads the committed state.
struct NewsFilter: ~Copyable, Sendable {
  /// How many listeners want to hear of everything, and how many of typed keys.
  private let everythingCount = Atomic<Int>(0)
  private let valueCount = Atomic<Int>(0)
  /// One bit for each of 256 groups of tags.
  private let bits0 = Atomic<UInt64>(0)
  private let bits1 = Atomic<UInt64>(0)
  private let bits2 = Atomic<UInt64>(0)
  private let bits3 = Atomic<UInt64>(0)
  /// How many tags are counted for each bit. Changed under the lock of the listeners.
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

  /// Whether changed records of a tag may concern anybody.
  @inline(__always)
  func mayConcern(_ tag: UInt64) -> Bool {
    everythingCount.load(ordering: .relaxed) > 0 || has(tag)
  }

  /// Tells the same of records that were committed. It misses no listener that began to listen before the commit.
  @inline(__always)
  func mayConcernCommitted(_ tag: UInt64) -> Bool {
    everythingCount.load(ordering: .sequentiallyConsistent) > 0 || has(tag)
  }

  // MARK: Bits

  /// Tags are digests, so any of their bits will do.
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
