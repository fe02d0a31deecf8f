internal import GarageDriver

/// The keys of records to which entries of indexes lead, in one piece of memory: there may be many.
struct CandidateKeys {
  struct Candidate {
    fileprivate var start: Int
    fileprivate var count: Int
    /// The first bytes of the identifier, which decide most comparisons.
    fileprivate var order: (UInt64, UInt64)
    /// Whether the record is known to be found.
    var isMatch: Bool
  }

  private(set) var candidates: [Candidate] = []
  private var bytes: [UInt8] = []

  var count: Int { candidates.count }

  /// Adds the record of an entry.
  ///
  /// - Parameter place: where in the entry's key the identifier begins.
  mutating func append(recordOf entry: RawSpan, identifierAt place: Int, isMatch: Bool) {
    let start = bytes.count
    KeyLayout.appendRecord(ofEntry: entry, identifierAt: place, to: &bytes)
    let identifier = entry.extracting(place...)
    candidates.append(
      Candidate(
        start: start, count: bytes.count - start,
        order: (CandidateKeys.number(identifier, at: 0), CandidateKeys.number(identifier, at: 8)),
        isMatch: isMatch))
  }

  /// Eight bytes as a number. Zeros stand for what is behind the end.
  private static func number(_ bytes: RawSpan, at place: Int) -> UInt64 {
    if bytes.byteCount >= place + 8 {
      return UInt64(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: place, as: UInt64.self))
    }
    var number: UInt64 = 0
    for next in place..<place + 8 {
      let byte = next < bytes.byteCount ? bytes.unsafeLoad(fromByteOffset: next, as: UInt8.self) : 0
      number = number << 8 | UInt64(byte)
    }
    return number
  }

  /// Sorts them by identifier, and those with the same one by their type.
  mutating func sort() {
    let bytes = bytes
    let span = bytes.span.bytes
    candidates.sort { left, right in
      if left.order != right.order { return left.order < right.order }
      let (leftKey, rightKey) = (
        span.extracting(left.start..<left.start + left.count),
        span.extracting(right.start..<right.start + right.count)
      )
      let order = compareKeys(
        leftKey.extracting(KeyLayout.identifierOffset...), rightKey.extracting(KeyLayout.identifierOffset...))
      return order == 0 ? compareKeys(leftKey, rightKey) < 0 : order < 0
    }
  }

  /// Removes all that `isKept` says no to.
  mutating func keep(where isKept: (StorageKey) -> Bool) {
    let span = bytes
    candidates.removeAll { candidate in
      !isKept(StorageKey(span.span.bytes.extracting(candidate.start..<candidate.start + candidate.count)))
    }
  }

  /// A set of them all.
  var keys: Set<StorageKey> {
    var keys = Set<StorageKey>(minimumCapacity: count)
    forEach { key, _ in keys.insert(StorageKey(key)) }
    return keys
  }

  private func forEach(_ visit: (RawSpan, Bool) -> Void) {
    let span = bytes.span.bytes
    for candidate in candidates {
      visit(span.extracting(candidate.start..<candidate.start + candidate.count), candidate.isMatch)
    }
  }

  /// Lends the key of each in turn, those that stand twice once, until `visit` says stop.
  func forEachOnce(_ visit: (_ key: RawSpan, _ isMatch: Bool) throws -> ScanStep) rethrows {
    let span = bytes.span.bytes
    var last: Candidate?
    for candidate in candidates {
      let key = span.extracting(candidate.start..<candidate.start + candidate.count)
      if let last, last.order == candidate.order,
        compareKeys(span.extracting(last.start..<last.start + last.count), key) == 0
      {
        continue
      }
      last = candidate
      if try visit(key, candidate.isMatch) == .stop { return }
    }
  }
}
