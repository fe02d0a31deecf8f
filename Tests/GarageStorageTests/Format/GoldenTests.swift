import Foundation
import GarageDriver
import GarageMemory
import Testing

@testable import GarageCoding
@testable import GarageStorage

/// A store written by format version 1 is read for good: no byte of it changes.
///
/// A new row is recorded with `GARAGE_RECORD_GOLDEN=missing swift test --filter GoldenTests`.
@Suite(.serialized) struct GoldenTests {
  static let values: [GoldenValue] =
    goldenBodies + goldenContainers + goldenIdentifiers + goldenGraphs + goldenStatuses + goldenForms
    + goldenKeys + goldenHiding + goldenIndexes + goldenReferrers

  @Test func thereAreEnoughAndNoNameTwice() {
    #expect(GoldenTests.values.count >= 40)
    #expect(Set(GoldenTests.values.map(\.name)).count == GoldenTests.values.count)
  }

  /// What is parked has the recorded bytes, keys and values, on every driver.
  @Test(arguments: Backend.engines)
  func parkingWritesTheRecordedBytes(_ backend: Backend) throws {
    for value in GoldenTests.values {
      let driver = try Place(backend).open()
      let garage = try value.garage(driver)
      try value.park(garage)
      let entries = try GoldenEntries(of: driver)
      try GoldenFiles.record(value, entries)
      let recorded = try GoldenFiles.read(value.name)
      #expect(
        recorded?.text == entries.text,
        "\(value.name) differs from \(GoldenFiles.url(value.name).path): the format must not change")
      try garage.close()
    }
  }

  /// The recorded bytes, put by the driver alone, are the values.
  @Test(arguments: Backend.engines)
  func theRecordedBytesAreTheValues(_ backend: Backend) throws {
    for value in GoldenTests.values {
      let driver = try Place(backend).open()
      try #require(try GoldenFiles.read(value.name), "\(value.name) is not recorded").put(into: driver)
      let garage = try value.garage(driver)
      do { try value.check(garage) } catch { Issue.record("\(value.name): \(error)") }
      try garage.close()
    }
  }

  /// What was recorded is never taken away.
  @Test func everyFileHasItsRow() throws {
    let names = Set(GoldenTests.values.map { GoldenFiles.url($0.name).lastPathComponent })
    for file in try FileManager.default.contentsOfDirectory(atPath: GoldenFiles.folder.path) {
      #expect(names.contains(file), "no row of the table is recorded in \(file)")
    }
  }

  /// Every tag of a body, every kind of identifier, every flag and every key space that is written occurs in the
  /// files.
  @Test func theFilesHaveEveryTag() throws {
    var firstBytes: Set<UInt8> = []
    var kinds: Set<UInt8> = []
    var flags: UInt8 = 0
    var valueFlags: UInt8 = 0
    var spaces: Set<UInt8> = []
    var metadata: Set<[UInt8]> = []
    var statuses: Set<UInt8> = []
    for value in GoldenTests.values {
      for (key, record) in try #require(try GoldenFiles.read(value.name)).entries {
        spaces.insert(key[0])
        switch key[0] {
        case 0x00: metadata.insert(Array(key.dropFirst()))
        case 0x10:
          if value.hidingKey == nil { kinds.insert(key[9]) }
          flags |= GoldenTests.flags(of: record)
          firstBytes.formUnion(record[RecordHead.byteCount...])
        case 0x21: statuses.insert(key[1])
        case 0x30: valueFlags |= GoldenTests.flags(of: record)
        default: break
        }
      }
    }
    #expect(spaces == Set(KeyLayout.Space.allCases.map(\.rawValue)))
    #expect(metadata == [Array("garage".utf8), Array("hiding".utf8), Array("indexes".utf8)])
    #expect(kinds == [0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70])
    #expect(flags == 0xFF && valueFlags == 0x68)
    #expect(statuses == [0, 1, 2, 3])
    // Coarse, as a byte may be another's content; the names of the rows tell what each is for.
    #expect(firstBytes.isSuperset(of: 0x00...0x1E))
    #expect(try marks(in: "sync statuses of inline values") == [0x1D])
    #expect(try marks(in: "versions of inline values") == [0x1E])
    #expect(try marks(in: "version and sync status of an inline value") == [0x1D, 0x1E])
  }

  private static func flags(of record: [UInt8]) -> UInt8 {
    record.withUnsafeBytes { RecordHead.uncheckedFlags($0)?.rawValue ?? 0 }
  }

  /// The tags before the elements of the array that a row's value is.
  private func marks(in name: String) throws -> Set<UInt8> {
    let driver = try Place(.memory).open()
    try #require(try GoldenFiles.read(name)).put(into: driver)
    let entry = try #require(try Driver.contents(driver, .prefix([0x10])).first)
    let content = try RecordContent(
      tag: KeyLayout.tag(inRecordKey: entry.key.bytes.span.bytes),
      keyIdentifier: entry.key.bytes.span.bytes.extracting(9...), record: entry.value.span.bytes,
      typeName: name,
      shapeText: { digest in
        try driver.read { try $0.value(for: KeyLayout.text(TextName(kind: .shape, digest: digest))) }
      })
    var marks: Set<UInt8> = []
    func note(_ value: RecordValue) {
      switch value {
      case .withSyncStatus(_, let inner):
        marks.insert(0x1D)
        note(inner)
      case .versioned(_, let inner):
        marks.insert(0x1E)
        note(inner)
      default: break
      }
    }
    for element in content.value["value"]?.arrayValue ?? [] { note(element) }
    return marks
  }
}
