import Foundation
import GarageDriver
import GarageSQLite
import Testing

@Suite("SQLite: integrity")
struct IntegrityTests {
  private static let pageByteCount = 4096

  /// What stands last in the schema decides what SQLite's own check looks for.
  enum Schema: CaseIterable { case oneTable, withLargeValues, withViewLast, withOtherView }

  /// Every page that is the root of a table, with a leaf in its place: what it led to is gone, and nothing that is left is
  /// wrong in itself.
  @Test("A root whose pages nothing leads to any more is noticed", arguments: Schema.allCases)
  func lostPages(_ schema: Schema) throws {
    let folder = try TemporaryFolder()
    let file = folder.file()
    do {
      let storage = try SQLiteStorage(at: file)
      for number in 0..<300 { try storage.put(bytes(500, number), "key \(1000 + number)") }
      if schema != .oneTable {
        for number in 0..<30 { try storage.put(bytes(3000, number), "large \(1000 + number)") }
      }
      try storage.close()
    }
    do {
      let raw = try RawDatabase(file)
      switch schema {
      case .oneTable, .withLargeValues: break
      case .withViewLast:
        // As the first version with large values made it.
        let view = try #require(try raw.run("SELECT sql FROM sqlite_schema WHERE name = 'entries'"))
        try raw.run("DROP VIEW entries")
        try raw.run(view)
      case .withOtherView: try raw.run("CREATE VIEW sizes AS SELECT length(value) AS size FROM entries")
      }
      try raw.run("PRAGMA wal_checkpoint(TRUNCATE)")
    }
    #expect(try SQLiteStorage(at: file).integrityComplaints() == [])
    let whole = Array(try Data(contentsOf: file))
    func kind(_ page: Int) -> UInt8 { whole[page * Self.pageByteCount + (page == 0 ? 100 : 0)] }
    // Kinds of pages: "B-tree Pages" in https://sqlite.org/fileformat2.html.
    let pairs: [(inner: UInt8, leaf: UInt8)] = [(0x02, 0x0A), (0x05, 0x0D)]
    var count = 0
    for (inner, leaf) in pairs {
      let pages = 1..<(whole.count / Self.pageByteCount)
      guard let root = pages.first(where: { kind($0) == inner }),
        let other = pages.first(where: { kind($0) == leaf })
      else { continue }
      func range(_ page: Int) -> Range<Int> {
        (page * Self.pageByteCount)..<((page + 1) * Self.pageByteCount)
      }
      var damaged = whole
      damaged.replaceSubrange(range(root), with: whole[range(other)])
      damaged.replaceSubrange(range(other), with: whole[range(root)])
      try Data(damaged).write(to: file)
      let storage = try SQLiteStorage(at: file)
      #expect(try !storage.integrityComplaints().isEmpty, "page \(root) in place of \(other)")
      try storage.close()
      count += 1
    }
    #expect(count == (schema == .oneTable ? 1 : 2))
  }
}
