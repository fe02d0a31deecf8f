internal import Synchronization

/// Records of one type that were copied from a scan, and the objects that were decoded from them.
///
/// Unchecked: while it is being decoded only one thread uses it, and its maker uses it again only when ``isDone`` is true.
final class RecordBatch<T>: @unchecked Sendable {
  // Accesses never overlap. Checking that would take a part of the time that copying a record takes.
  @exclusivity(unchecked) private var bytes: [UInt8] = []
  @exclusivity(unchecked) private var ends: [(key: Int, record: Int)] = []
  /// Nil if the records could not be decoded without the transaction.
  private var result: Result<MovedObjects<T>, any Error>?
  private let isDecoded = Atomic<Bool>(false)

  /// How many bytes are decoded in one go, which takes some hundred microseconds.
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

  /// Notes the result for the maker. Nil leaves the decoding to the maker.
  func end(_ result: Result<MovedObjects<T>, any Error>?) {
    self.result = result
    if result != nil { (bytes, ends) = ([], []) }
    isDecoded.store(true, ordering: .releasing)
  }

  var isDone: Bool { isDecoded.load(ordering: .acquiring) }

  /// The result, once it is done.
  func takeResult() -> Result<MovedObjects<T>, any Error>? {
    defer { result = nil }
    return result
  }
}
