import Foundation
import GarageCoding
import GarageDriver
import GarageLMDB
import GarageMemory
import GarageSQLite
import GarageStorage
import Testing

/// The numbers of the section on limits in `Docs/Objects.md` are those of the code.
@Suite struct LimitsPageTests {
  /// The row of a table that begins with a name.
  private func row(_ name: String) throws -> Substring {
    let file = testsFolder.deletingLastPathComponent().appending(path: "Docs/Objects.md")
    let page = try String(contentsOf: file, encoding: .utf8)
    let limits = try #require(page.components(separatedBy: "## Limits\n").last)
    return try #require(limits.split(separator: "\n").first { $0.hasPrefix("| \(name) ") })
  }

  /// As the page writes it: thousands apart.
  private func text(_ number: Int) -> String {
    let digits = Array(String(number))
    return digits.indices.reduce(into: "") { text, index in
      if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(" ") }
      text.append(digits[index])
    }
  }

  @Test func ofTheDrivers() throws {
    let sqlite = try SQLiteStorage(at: Place(.sqlite).storePath).info.maximumValueByteCount
    // A library may be built for less.
    if sqlite >= 999_998_976 { #expect(try row("SQLite").contains("| \(text(sqlite)), less")) }
    #expect(try row("memory").contains("| \(text(MemoryStorage.maximumValueByteCount)) ("))
    let lmdb = try row("LMDB")
    #expect(lmdb.contains("| \(text(LMDBStorage.maximumValueByteCount)) ("))
    #expect(lmdb.contains("| \(LMDBStorage.Options().maximumReaderCount) in all processes"))
    #expect(LMDBStorage.Options.defaultMapByteCount == (Int.bitWidth > 32 ? 256 << 30 : 512 << 20))
    #expect(StorageInfo.guaranteedValueByteCount == 512 << 20)
  }

  @Test func ofTheGarage() throws {
    #expect(try row("nesting").contains("| \(RecordFormat.maximumDepth) levels"))
    #expect(try row("identifiers,").contains("beyond \(Identifier.maximumKeyByteCount - 1) bytes"))
    #expect(try row("`read` inside").contains("| \(StorageLifetime.maximumReadDepth) |"))
  }

  private struct ManyIndexes: Codable, Identifiable, Indexed {
    static var indexes: [Index<ManyIndexes>] {
      (0..<65).map { Index("index \($0)", \.number) }
    }
    var id = 0
    var number = 0
  }

  @Test func ofIndexes() throws {
    #expect(try row("indexes of").contains("| 64, "))
    let garage = try Garage(MemoryStorage())
    let error = #expect(throws: GarageError.self) { try garage.park(ManyIndexes()) }
    guard case .invalidIndex(_, _, let reason) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(reason.contains("64"))
  }
}
