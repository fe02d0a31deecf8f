internal import GarageCoding
internal import GarageDriver

/// Hands a decoder the records that one transaction sees.
final class TransactionSource: RecordSource {
  private let transaction: any ReadTransaction
  private let texts: StoredTexts
  private let keys: ObjectKeys
  /// The bytes of all records handed out, as a measure of what decoding them may hold.
  var recordByteCount = 0
  /// Records that need no round trip any more.
  private var prefetched: PrefetchedRecords

  init(_ transaction: any ReadTransaction, texts: StoredTexts, keys: ObjectKeys) {
    self.transaction = transaction
    self.texts = texts
    self.keys = keys
    prefetched = PrefetchedRecords(keys)
  }

  func withRecord<R>(tag: UInt64, keyIdentifier: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    try keys.withRecordKey(tag: tag, keyIdentifier) { key in
      if let known = prefetched.isEmpty ? nil : prefetched.record(StorageKey(key)) {
        guard let record = known else { return try body(nil) }
        return try body(record.span.bytes)
      }
      return try transaction.withValue(for: key) { record in
        recordByteCount &+= record?.byteCount ?? 0
        return try body(record)
      }
    }
  }

  /// Fetches a record and all that can be reached from it, in few round trips.
  func prefetch(_ key: StorageKey) throws { try prefetched.fetch(key, in: transaction) }

  /// Fetches all that can be reached from records at hand, in few round trips, in place of what was fetched before.
  func prefetch(behind records: [(key: StorageKey, record: [UInt8])]) throws {
    prefetched.removeAll()
    try prefetched.fetch(behind: records, in: transaction)
  }

  func shapeText(_ digest: UInt64) throws -> [UInt8]? {
    try texts.text(TextName(kind: .shape, digest: digest), in: transaction)
  }

  func tagName(_ digest: UInt64) throws -> String? {
    try texts.text(TextName(kind: .tag, digest: digest), in: transaction)
      .map { String(decoding: $0, as: UTF8.self) }
  }

  /// Counts a record that a scan, and not this source, handed out.
  func countRecord(_ byteCount: Int) { recordByteCount &+= byteCount }
}
