import GarageCoding
import GarageDriver
import Testing

@testable import GarageStorage

/// The entries of some records on their way into a store, seen from inside.
@Suite struct IndexBatchTests {
  struct Page: Codable, Identifiable {
    var id: Int
    var url: String
  }

  /// What was noted of a record that turns out to be damaged is forgotten as a whole.
  @Test func damagedRecordsLeaveNothing() throws {
    let garage = try Place(.memory).garage()
    try garage.make([Index(\Page.url, .unique, .readable)])
    try garage.park(Page(id: 1, url: "https://" + String(repeating: "x", count: 300)))
    try garage.withReadAccess { access in
      let transaction = access.transaction
      let catalog = try #require(try garage.indexing.catalog(in: transaction))
      let batch = IndexBatch(catalog, garage.indexing.keys, garage.indexing.texts)
      let records = KeyLayout.records(tag: try RecordTypeFacts.of(Page.self).tag)
      try transaction.scan(records, .forward) { key, record in
        try batch.fill(key, record, Array(batch.parts.indices), in: transaction)
        let (wholeValues, count) = (batch.wholeValues, batch.bytes.count)
        #expect(wholeValues.count == 1)
        let isReadable = try batch.withFields(key, record) { fields in
          for part in batch.parts where !part.isOfMany {
            part.added.append(try part.entry(key, fields, &batch.bytes, &batch.wholeValues))
          }
          throw GraphCodingError.nestingTooDeep(depth: 0)
        }
        let byteCount = batch.bytes.count
        #expect(!isReadable)
        #expect(batch.wholeValues == wholeValues)
        #expect(byteCount == count)
        return .continue
      }
    }
  }
}
