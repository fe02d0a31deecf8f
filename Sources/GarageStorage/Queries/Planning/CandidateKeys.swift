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
  ///
  /// - Parameter areOfOneTag: whether all are of the same type.
  mutating func sort(areOfOneTag: Bool) {
    if areOfOneTag, candidates.count >= 32, sortByDigits() { return }
    let bytes = bytes
    let span = bytes.span.bytes
    candidates.sort { CandidateKeys.compare($0, in: span, $1, in: span) < 0 }
  }

  /// Sorts them digit by digit, the last one first, where identifiers are short and alike but for a few bytes, as numbers are
  /// and names that end in one: that takes no comparison.
  ///
  /// - Returns: false, and does nothing, where comparing takes less.
  private mutating func sortByDigits() -> Bool {
    let first = candidates[0]
    var different: (UInt64, UInt64) = (0, 0)
    var mostBytes = 0
    var differInLength = false
    for candidate in candidates {
      different.0 |= candidate.order.0 ^ first.order.0
      different.1 |= candidate.order.1 ^ first.order.1
      mostBytes = Swift.max(mostBytes, candidate.count)
      differInLength = differInLength || candidate.count != first.count
    }
    // Longer identifiers do not fit into the two numbers.
    guard mostBytes <= KeyLayout.identifierOffset + 16 else { return false }
    let shifts = (
      stride(from: UInt64(0), to: 64, by: 8).filter { different.0 >> $0 & 0xFF != 0 },
      stride(from: UInt64(0), to: 64, by: 8).filter { different.1 >> $0 & 0xFF != 0 }
    )
    guard shifts.0.count + shifts.1.count <= 6 else { return false }
    // Zeros stand for what is behind the end: of those that are equal otherwise the shorter one comes first.
    if differInLength { sort { $0.count & 0xFF } }
    for shift in shifts.1 { sort { Int($0.order.1 >> shift & 0xFF) } }
    for shift in shifts.0 { sort { Int($0.order.0 >> shift & 0xFF) } }
    return true
  }

  /// Sorts them by one digit, those that have the same one staying in their order.
  @inline(__always)
  private mutating func sort(by digit: (Candidate) -> Int) {
    var places = [Int](repeating: 0, count: 257)
    for candidate in candidates { places[digit(candidate) + 1] += 1 }
    for value in 1..<256 { places[value] += places[value - 1] }
    candidates = [Candidate](unsafeUninitializedCapacity: candidates.count) { sorted, count in
      for candidate in candidates {
        let digit = digit(candidate)
        sorted.initializeElement(at: places[digit], to: candidate)
        places[digit] += 1
      }
      count = candidates.count
    }
  }

  /// Removes all that are not among others. Both are sorted.
  mutating func formIntersection(_ other: CandidateKeys) {
    let (bytes, otherBytes) = (bytes, other.bytes)
    let (span, otherSpan) = (bytes.span.bytes, otherBytes.span.bytes)
    var kept: [Candidate] = []
    var place = 0
    for candidate in candidates {
      var order = 1
      while place < other.candidates.count {
        order = CandidateKeys.compare(candidate, in: span, other.candidates[place], in: otherSpan)
        if order <= 0 { break }
        place += 1
      }
      if place == other.candidates.count { break }
      if order == 0 { kept.append(candidate) }
    }
    candidates = kept
  }

  /// The order of two, which may be of different lists: as they are sorted.
  private static func compare(
    _ left: Candidate, in leftBytes: RawSpan, _ right: Candidate, in rightBytes: RawSpan
  ) -> Int {
    if left.order != right.order { return left.order < right.order ? -1 : 1 }
    let leftKey = leftBytes.extracting(left.start..<left.start + left.count)
    let rightKey = rightBytes.extracting(right.start..<right.start + right.count)
    let order = compareKeys(
      leftKey.extracting(KeyLayout.identifierOffset...), rightKey.extracting(KeyLayout.identifierOffset...))
    return order == 0 ? compareKeys(leftKey, rightKey) : order
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
