import Foundation
import GarageSQLite
import GarageStorage
import Testing

/// What is parked does not depend on what else is damaged.
@Suite struct DamagedNeighbourTests {
  private struct Page: Codable, Identifiable, Indexed, Equatable, Sendable {
    static var indexes: [Index<Page>] { [Index(\.chapter)] }
    var id: Int
    var chapter: Int
    var text: String
  }

  @Test func othersArePutAroundALargeValueThatIsMissing() throws {
    let folder = try TemporaryFolder()
    let large = String(repeating: "x", count: 10_000)
    do {
      let garage = try Garage(SQLiteStorage(at: folder.file()))
      try garage.parkAll((0..<100).map { Page(id: $0, chapter: $0, text: $0 == 50 ? large : "short") })
      try garage.close()
    }
    try RawDatabase(folder.file()).run("DELETE FROM large")
    let garage = try Garage(SQLiteStorage(at: folder.file()))
    let others = (0..<100).filter { $0 != 50 }.map { Page(id: $0, chapter: 200 + $0, text: "new") }
    try garage.parkAll(others)
    #expect(try garage.query(Page.self).where(\.chapter >= 200).retrieveAll() == others)
    #expect(try garage.query(Page.self).where(\.chapter < 50).count() == 0)
  }
}
