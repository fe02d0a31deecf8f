internal import Synchronization

/// Records of one type, copied from a scan, and the objects that were decoded from them.
///
/// Unchecked: whoever decodes it has it alone, and its maker looks when ``isDone`` says so.
final class RecordBatch<T>: @unchecked Sendable {
  // No access overlaps another: to look whether that is so takes a part of the time of copying a record.
  @exclusivity(unchecked) private var bytes: [UInt8] = []
  @exclusivity(unchecked) private var ends: [(key: Int, record: Int)] = []
  /// Nil where it could not be decoded without the transaction.
  private var result: Result<MovedObjects<T>, any Error>?
  private let isDecoded = Atomic<Bool>(false)

  /// How many bytes are decoded in one go: some hundred microseconds' work.
  private static var byteCount: Int { 64 << 10 }

  var isFull: Bool { bytes.count >= RecordBatch.byteCount }
  var isEmpty: Bool { ends.isEmpty }
  var count: Int { ends.count }

  /// Copies a record.
  func append(_ key: RawSpan, _ record: RawSpan) {
    if ends.isEmpty { bytes.reserveCapacity(RecordBatch.byteCount + key.byteCount + record.byteCount) }
    key.withUnsafeBytes { bytes.append(contentsOf: $0) }
    let endOfKey = bytes.count
    record.withUnsafeBytes { bytes.append(contentsOf: $0) }
    ends.append((endOfKey, bytes.count))
  }

  /// Visits the records in their order.
  func forEach(_ body: (_ key: RawSpan, _ record: RawSpan) throws -> Void) rethrows {
    let (bytes, ends) = (bytes, ends)
    let all = bytes.span.bytes
    var start = 0
    for (endOfKey, end) in ends {
      try body(all.extracting(start..<endOfKey), all.extracting(endOfKey..<end))
      start = end
    }
  }

  /// Notes what came of it, for its maker. Nil leaves it to the maker.
  func end(_ result: Result<MovedObjects<T>, any Error>?) {
    self.result = result
    if result != nil { (bytes, ends) = ([], []) }
    isDecoded.store(true, ordering: .releasing)
  }

  var isDone: Bool { isDecoded.load(ordering: .acquiring) }

  /// What came of it, once it is done.
  func takeResult() -> Result<MovedObjects<T>, any Error>? {
    defer { result = nil }
    return result
  }
}
