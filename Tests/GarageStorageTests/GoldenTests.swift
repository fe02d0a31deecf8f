import Foundation
import GarageDriver
import GarageMemory
import Testing

@testable import GarageStorage

/// A store written by format version 1 is read for good: no byte of it changes.
///
/// A new row is recorded with `GARAGE_RECORD_GOLDEN=missing swift test --filter GoldenTests`.
@Suite(.serialized) struct GoldenTests {
  static let values: [GoldenValue] = goldenBodies + goldenContainers + goldenIdentifiers + goldenGraphs

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

  /// Every tag of a body, every kind of identifier and every flag that format 1 writes occurs in the files.
  @Test func theFilesHaveEveryTag() throws {
    var firstBytes: Set<UInt8> = []
    var kinds: Set<UInt8> = []
    var flags: UInt8 = 0
    for value in GoldenTests.values {
      for (key, record) in try #require(try GoldenFiles.read(value.name)).entries where key[0] == 0x10 {
        kinds.insert(key[9])
        flags |= record[1]
        firstBytes.formUnion(record[12...])
      }
    }
    #expect(kinds == [0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70])
    #expect(flags & 0x78 == 0x78)
    // Coarse, as a byte may be another's content; the names of the rows tell what each is for.
    #expect(firstBytes.isSuperset(of: 0x00...0x1C))
  }
}
