internal import GarageCoding
internal import GarageDriver

/// Hands a decoder the records that one transaction sees.
final class TransactionSource: RecordSource, ShapeTexts {
  /// Nil while the source is not in use.
  @exclusivity(unchecked) private var current: (any ReadTransaction)?
  private var transaction: any ReadTransaction { current.unsafelyUnwrapped }
  private let texts: StoreTexts
  private let keys: ObjectKeys
  /// The bytes of all records handed out, as a measure of what decoding them may hold.
  @exclusivity(unchecked) var recordByteCount = 0
  /// Whether a sealed record that does not open is reported as an error of that record alone. As an error of the storage it
  /// would forbid a writer's commit.
  var toleratesSeals = false
  /// Records that need no round trip any more.
  private var prefetched: PrefetchedRecords
  /// Whether the decoder has forgotten objects since records were last fetched ahead.
  private var hasForgotten = false

  init(_ transaction: (any ReadTransaction)? = nil, of garage: Garage) {
    current = transaction
    texts = garage.texts
    keys = garage.objectKeys
    prefetched = PrefetchedRecords(keys)
  }

  /// Makes a source that is not in use one for a transaction.
  func begin(_ transaction: any ReadTransaction) {
    current = transaction
    recordByteCount = 0
    toleratesSeals = false
    hasForgotten = false
  }

  /// Releases the transaction.
  func end() { current = nil }

  /// Whether it holds records that were fetched ahead.
  var hasPrefetched: Bool { !prefetched.isEmpty }

  func withRecord<R>(tag: UInt64, keyIdentifier: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    try keys.withStorageKey(tag: tag, keyIdentifier) { key in
      if let known = prefetched.isEmpty ? nil : prefetched.record(StorageKey(key)) {
        guard let record = known else { return try body(nil) }
        return try body(record.span.bytes)
      }
      if toleratesSeals {
        return try transaction.withReplaceableValue(for: key, isSealed: keys.isSealed) { record in
          recordByteCount &+= record?.byteCount ?? 0
          if let record, record.byteCount == 0, keys.isSealed {
            throw GarageError(sealDoesNotOpen: keys.identifierText(of: key, nil), type: "object")
          }
          return try body(record)
        }
      }
      return try transaction.withValue(for: key) { record in
        recordByteCount &+= record?.byteCount ?? 0
        return try body(record)
      }
    }
  }

  /// Fetches all that can be reached from records at hand, in few round trips, in place of what was fetched before.
  ///
  /// - Parameter isHeld: whether the decoder holds all that was fetched with earlier records, so that it need not be fetched
  ///   again.
  func prefetch(behind records: [(key: StorageKey, record: [UInt8])], exceptKnown isHeld: Bool = false) throws
  {
    prefetched.removeAll(keepingNames: isHeld && !hasForgotten)
    hasForgotten = false
    try prefetched.fetch(behind: records, in: transaction)
  }

  /// Notes that the decoder has forgotten what it held, so that the records may have to be fetched again.
  func noteForgotten() { hasForgotten = true }

  func shapeText(_ digest: UInt64) throws -> [UInt8]? {
    try texts.text(TextName(kind: .shape, digest: digest), in: transaction)
  }

  func tagName(_ digest: UInt64) throws -> String? {
    try texts.text(TextName(kind: .tag, digest: digest), in: transaction)
      .map { String(decoding: $0, as: UTF8.self) }
  }

  /// Counts a record that a scan, and not this source, handed out.
  func countRecord(_ byteCount: Int) { recordByteCount &+= byteCount }

  // MARK: - Reading ahead

  /// Whether records can be read before they are asked for. They cannot where values between them would have to be opened, or
  /// where keys stand in another order than identifiers.
  var readsAhead: Bool { !keys.isSealed && !keys.hidesIdentifiers }

  /// Lends those of the wanted records that scans find at little cost, that is, where most of the records between the first and
  /// the last one are wanted, too; until `found` returns false.
  func readAhead(_ wanted: WantedRecords, _ found: (Int, RawSpan) -> Bool) throws {
    var next = 0
    var scanCount = 0
    var foundCount = 0
    while next < wanted.count {
      // Each scan costs as much as to look for a few records.
      if scanCount >= 8, foundCount < 3 * scanCount { return }
      scanCount += 1
      let start = wanted.withIdentifier(next) { KeyLayout.record(tag: wanted.tag, [UInt8](copying: $0)) }
      var passedCount = 0
      var isEnd = true
      try transaction.scan(
        StorageKeyRange(from: start.bytes, to: KeyLayout.records(tag: wanted.tag).upperBound), .forward
      ) { key, record in
        let identifier = key.extracting(KeyLayout.identifierStart(of: key)...)
        while wanted.compare(next, with: identifier) < 0 {
          next += 1
          if next == wanted.count { return .stop }
        }
        if wanted.compare(next, with: identifier) == 0 {
          if !found(next, record) { return .stop }
          foundCount += 1
          passedCount = 0
          next += 1
        } else {
          passedCount += 1
        }
        if next < wanted.count, passedCount < 4 { return .continue }
        isEnd = false
        return .stop
      }
      if isEnd { return }
    }
  }
}
