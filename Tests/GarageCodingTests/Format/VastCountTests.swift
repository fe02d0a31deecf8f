import Foundation
import Testing

@testable import GarageCoding

/// Lengths and counts beyond what is there, under a checksum that fits: errors before anything is allocated.
///
/// In a process of its own that may have 512 MiB more than it has: a count that is believed ends it.
@Suite struct VastCountTests {
  private struct Lists: Codable, Identifiable {
    var id = 1
    var ints: [Int]?, texts: [String]?, points: [Point]?, text: String?, data: Data?
    var table: [String: Int]?, odd: [Point: Int]?, set: Set<Int>?
    var links: Linked<[Node]>?
    static let keys = ["ints", "texts", "points", "text", "data", "table", "odd", "set", "links"]
  }

  private static let vast: [UInt8] = [0xFF, 0xFF, 0xFF, 0x7F]
  private static let vastVarint: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]
  private static let overlongVarint: [UInt8] = Array(repeating: 0xFF, count: 11) + [1]

  /// Values that say they are larger than they are.
  private static let values: [[UInt8]] = [
    [BodyTag.arrayLarge, 1, 0, 0, 0] + vast + [0x41], [BodyTag.arrayLarge] + vast + vast + [0x41],
    [BodyTag.arraySmall, 1, 255, 0x41], [BodyTag.arraySmall, 255, 1, 0x41],
    [BodyTag.packedLarge, 6, 0, 0, 0, 1, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 0],
    [BodyTag.packedLarge] + vast + [6, 0, 0, 0], [BodyTag.packedSmall, 9, 1] + vastVarint,
    [BodyTag.packedSmall, 12, 1] + overlongVarint, [BodyTag.packedSmall, 2, 1, 2, 0xFF],
    [BodyTag.packedSmall, 0, 99], [BodyTag.packedSmall, 3, 5, 0, 0, 0],
    [BodyTag.string32] + vast + [0x61], [BodyTag.data32] + vast + [0x61],
    [BodyTag.mapLarge] + vast + vast, [BodyTag.mapLarge, 4, 0, 0, 0, 0, 0, 0, 0] + vast,
    [BodyTag.mapSmall, 10, 0] + vastVarint + [0x61],
  ]

  @Test func inBodies() async throws {
    await #expect(processExitsWith: .success) {
      try limitMemory(toFurtherByteCount: 512 << 20)
      let (source, graph, key) = try VastCountTests.store()
      for value in VastCountTests.values {
        for name in Lists.keys {
          let entry = [UInt8(name.utf8.count)] + Array(name.utf8) + value
          let body = [BodyTag.mapSmall, UInt8(entry.count + 4), 0, 2, 0x69, 0x64, 0x41] + entry
          source.records[key] = record([], body, key: key)
          #expect(throws: (any Error).self, "\(name) \(value)") {
            try decode(Lists.self, graph.roots[0], from: source)
          }
        }
      }
    }
  }

  @Test func inTables() async throws {
    await #expect(processExitsWith: .success) {
      try limitMemory(toFurtherByteCount: 512 << 20)
      let (source, graph, key) = try VastCountTests.store()
      let eight = [UInt8](repeating: 7, count: 8)
      for count in [[0x7F], VastCountTests.vast, VastCountTests.vastVarint, VastCountTests.overlongVarint] {
        let tables: [(flags: RecordFlags, bytes: [UInt8])] = [
          (.shapes, count), (.shapes, count + eight),
          (.references, count), (.references, count + eight),
          (.references, [1] + eight + count),
          (.references, [1] + eight + count + [0, 1, 1]),
          (.references, [1] + eight + [1, 0] + count + [0x20]),
          (.references, [1] + eight + [1, 63] + count + [1, 0x20]),
          (.wholeIdentifier, count),
          (.wholeIdentifier, count + eight),
        ]
        for table in tables {
          source.records[key] = record(table.flags, table.bytes + [BodyTag.mapSmall, 0, 0], key: key)
          #expect(throws: GraphCodingError.self, "\(table)") {
            try decode(Lists.self, graph.roots[0], from: source)
          }
        }
      }
    }
  }

  /// A store with one record, and that record's key.
  private static func store() throws -> (DictionarySource, EncodedGraph, key: [UInt8]) {
    let graph = try GraphEncoder().encode([Lists()])
    let source = DictionarySource()
    source.add(graph)
    return (source, graph, graph.recordsByKey[0].key)
  }
}
