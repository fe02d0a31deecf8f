import GarageDriver
import GaragePostgres
import GarageSealing
import GarageStorage
import InsecureSealer
import PostgresStacks
import Synchronization
import Testing

/// How often a garage waits for the server, as the driver counts it.
@Suite(.serialized) struct TripTests {
  struct Note: Codable, Identifiable, Equatable {
    var id: Int
    var text: String
  }

  private struct Scrap: Codable, Hashable { var text: String }

  final class Node: Codable, Identifiable {
    var id: Int
    var children: [Node]

    init(id: Int, children: [Node]) {
      self.id = id
      self.children = children
    }
  }

  private struct Chore: Codable, Identifiable, Syncable, Equatable {
    var id: Int
    var syncStatus = SyncStatus.notSynced
  }

  private struct Book: Codable, Identifiable, Indexed, Equatable {
    static var indexes: [Index<Book>] { [Index(\.place)] }
    var id: Int
    var place: Int
    var text = ""
  }

  private struct FormerTown: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "trips.town.former" }
    var id: Int
  }
  private struct Town: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "trips.town" }
    static var formerTypeTags: [String] { ["trips.town.former"] }
    var id: Int
  }

  private enum Keys: Namespace {
    static let id = "trips"
    static let number = Key<Keys, Int>(id: "number", defaultValue: 0)
  }

  enum Stack: CaseIterable { case plain, sealed }

  /// A garage whose trips are counted.
  private struct Counted {
    let storage: PostgreSQLStorage
    let garage: Garage

    init(
      _ stack: Stack = .plain, _ name: String = Server.newName(),
      _ writers: PostgreSQLStorage.Options.Writers = .several
    ) throws {
      storage = try Server.open(name, writers)
      switch stack {
      case .plain: garage = try Garage(storage)
      case .sealed:
        garage = try Garage(
          SealedStorage(storage, sealer: InsecureTestSealer(key: 1)), hidesIdentifiers: true)
      }
    }

    func expect(
      _ count: Int, _ location: SourceLocation = #_sourceLocation, _ body: (Garage) throws -> Void
    ) throws {
      let before = storage.roundTripCount
      try body(garage)
      let found = storage.roundTripCount - before
      #expect(found == count, "\(found) trips", sourceLocation: location)
    }
  }

  private static func isSo(_ condition: Bool, _ location: SourceLocation = #_sourceLocation) {
    #expect(condition, sourceLocation: location)
  }

  @Test(arguments: Stack.allCases) func lonelyVerbsTakeOneTrip(_ stack: Stack) throws {
    let counted = try Counted(stack)
    // Which indexes there are is asked for along with the texts of the type; then no more.
    try counted.expect(2) { try $0.park(Note(id: 0, text: "of a new type")) }
    try counted.expect(2) { try $0.park(Scrap(text: "of another one")) }
    try counted.expect(1) { try $0.park(Note(id: 1, text: "one")) }
    try counted.expect(1) { try $0.park(Note(id: 1, text: "again")) }
    try counted.expect(1) { try $0.parkAll((2..<1000).map { Note(id: $0, text: "") }) }
    try counted.expect(1) { TripTests.isSo(try $0.retrieve(Note.self, identifier: 1)?.text == "again") }
    try counted.expect(1) { TripTests.isSo(try $0.retrieve(Note.self, identifier: -1) == nil) }
    try counted.expect(1) { TripTests.isSo(try $0.contains(Note.self, identifier: 1)) }
    // Pages of 64, of 256, and the rest.
    try counted.expect(3) { TripTests.isSo(try $0.retrieveAll(Note.self).count == 1000) }
    // Pages of 256 keys, and the rest.
    try counted.expect(2) { TripTests.isSo(try $0.count(Note.self) == 1000) }
    try counted.expect(2) { try $0.delete(Note.self, identifier: 1) }
    try counted.expect(1) { try $0.deleteAll(Note.self) }
    try counted.expect(1) { TripTests.isSo(try $0.count(Note.self) == 0) }
    try counted.expect(1) { try $0.set(Keys.number, value: 2) }
    try counted.expect(1) { TripTests.isSo(try $0.get(Keys.number) == 2) }
    try counted.expect(2) { try $0.update(Keys.number) { $0 += 1 } }
    try counted.expect(1) { TripTests.isSo(try $0.get(Keys.number) == 3) }
    try counted.expect(1) { try $0.deleteAllObjects() }
    TripTests.isSo(try counted.garage.verify().findings.isEmpty)
  }

  /// Whoever writes: reading is the same.
  @Test(arguments: Stack.allCases, PostgreSQLStorage.Options.Writers.allCases)
  func readsTakeOneTrip(_ stack: Stack, _ writers: PostgreSQLStorage.Options.Writers) throws {
    let counted = try Counted(stack, Server.newName(), writers)
    let garage = counted.garage
    try garage.parkAll((0..<10).map { Note(id: $0, text: "") })
    try garage.parkAll((0..<10).map { Chore(id: $0) })
    try garage.set(Keys.number, value: 2)
    try counted.expect(1) { TripTests.isSo(try $0.retrieve(Note.self, identifier: 1)?.id == 1) }
    try counted.expect(1) { TripTests.isSo(try $0.contains(Note.self, identifier: 1)) }
    try counted.expect(1) { TripTests.isSo(try $0.get(Keys.number) == 2) }
    try counted.expect(1) { TripTests.isSo(try $0.syncStatus(for: Chore(id: 7)) == .notSynced) }
    try counted.expect(1) { TripTests.isSo(try $0.count(Note.self) == 10) }
    try counted.expect(1) { TripTests.isSo(try $0.retrieveAll(Note.self).count == 10) }
  }

  /// A level at a time, however many objects stand on it.
  @Test(arguments: Stack.allCases) func graphsTakeATripForEachLevel(_ stack: Stack) throws {
    let counted = try Counted(stack)
    var next = 0
    func tree(_ depth: Int) -> Node {
      next += 1
      let id = next
      return Node(id: id, children: depth == 0 ? [] : (0..<3).map { _ in tree(depth - 1) })
    }
    func count(_ node: Node?) -> Int { node.map { $0.children.reduce(1) { $0 + count($1) } } ?? 0 }
    let root = tree(5)
    try counted.garage.park(Node(id: 0, children: []))
    try counted.expect(1) { try $0.park(root) }
    try counted.expect(6) { TripTests.isSo(count(try $0.retrieve(Node.self, identifier: 1)) == next) }
  }

  final class Linked: Codable, Identifiable {
    let id: Int
    var others: [Node]

    init(id: Int, others: [Node]) {
      self.id = id
      self.others = others
    }
  }

  /// What was fetched behind one object is not fetched again behind the next.
  @Test func sharedTargetsAreFetchedOnce() throws {
    let counted = try Counted()
    let shared = (0..<2000).map { Node(id: $0, children: []) }
    for node in shared.prefix(1000) { node.children = [shared[node.id + 1000]] }
    let linked = (0..<3000).map { Linked(id: $0, others: [shared[$0 % 1000], shared[$0 * 7 % 1000]]) }
    try counted.garage.parkAll(linked)
    let before = counted.storage.roundTripCount
    let found = try counted.garage.retrieveAll(Linked.self)
    let trips = counted.storage.roundTripCount - before
    #expect(
      found.count == 3000 && found.allSatisfy { $0.others.map(\.id) == [$0.id % 1000, $0.id * 7 % 1000] })
    #expect(found[0].others[0] === found[1000].others[0])
    #expect(found[0].others[0].children.first?.id == 1000)
    // Four pages, and for each of the first blocks what it refers to, and what that does.
    #expect(trips <= 12, "\(trips) trips")
  }

  @Test(arguments: Stack.allCases) func statusesTakeOneQuestionForAll(_ stack: Stack) throws {
    let counted = try Counted(stack)
    let chores = (0..<1000).map { Chore(id: $0) }
    try counted.expect(3) { try $0.parkAll(chores) }
    try counted.expect(2) { try $0.parkAll(chores) }
    try counted.expect(2) { try $0.park(Chore(id: 7, syncStatus: .syncing)) }
    try counted.expect(2) { try $0.setSyncStatus(.synced, for: chores) }
    try counted.expect(1) { TripTests.isSo(try $0.syncStatus(for: chores[7]) == .synced) }
    let count = try counted.garage.retrieveAll(Chore.self, withStatus: .synced).count
    TripTests.isSo(count == 1000)
    #expect(throws: GarageError.self) {
      try counted.garage.setSyncStatus(.notSynced, for: chores + [Chore(id: -1)])
    }
    TripTests.isSo(try counted.garage.syncStatus(for: chores[0]) == .synced)
    try counted.expect(2) { try $0.delete(Chore.self, identifier: 7) }
    try counted.expect(1) { try $0.deleteAll(Chore.self) }
    TripTests.isSo(try counted.garage.verify().findings.isEmpty)
  }

  /// Records that are replaced lose their old entries: they are asked for together, also where they are large.
  @Test(arguments: [0, 20_000]) func indexedObjectsAreReplacedInFewTrips(_ textByteCount: Int) throws {
    let counted = try Counted()
    let text = String(repeating: "x", count: textByteCount)
    let count = textByteCount > 0 ? 30 : 3000
    func books(_ shift: Int) -> [Book] {
      (0..<count).map { Book(id: $0, place: ($0 + shift) % 10, text: text) }
    }
    try counted.garage.parkAll(books(0))
    let before = counted.storage.roundTripCount
    try counted.garage.parkAll(books(1))
    try counted.garage.parkAll(books(2).reversed())
    let trips = counted.storage.roundTripCount - before
    #expect(trips <= (textByteCount > 0 ? 2 * (count + 4) : 20), "\(trips) trips")
    let found = try counted.garage.query(Book.self).where(\.place == 3).retrieveAll()
    #expect(found == books(2).filter { $0.place == 3 })
    #expect(try counted.garage.verify().findings.isEmpty)
    #expect(try counted.garage.verifyIndexes().isSound)
  }

  /// What has other names is looked for under all of them, in one question.
  @Test func formerNamesTakeOneQuestion() throws {
    let counted = try Counted()
    try counted.garage.parkAll((0..<500).map { FormerTown(id: $0) })
    try counted.garage.park(Town(id: 0))
    try counted.expect(2) { try $0.parkAll((0..<1000).map { Town(id: $0) }) }
    #expect(try counted.garage.count(Town.self) == 1000)
    #expect(try counted.garage.count(FormerTown.self) == 0)
  }

  class Animal: Codable, Identifiable {
    var id: Int
    init(_ id: Int) { self.id = id }
  }
  final class Dog: Animal {}

  /// Which class a record is of only the record tells: they are asked for together.
  @Test func subclassesAreCountedInFewTrips() throws {
    let counted = try Counted()
    try counted.garage.parkAll((0..<2500).map { $0 % 3 == 0 ? Dog($0) : Animal($0) })
    let before = counted.storage.roundTripCount
    #expect(try counted.garage.count(Dog.self) == 834)
    #expect(try counted.garage.count(Animal.self) == 2500)
    #expect(counted.storage.roundTripCount - before <= 14)
    try counted.garage.deleteAll(Dog.self)
    #expect(counted.storage.roundTripCount - before <= 30)
    #expect(try counted.garage.count(Animal.self) == 1666)
  }

  /// What a query finds, changes or deletes is asked for together, with an index and without.
  @Test func queriesTakeFewTrips() throws {
    let counted = try Counted()
    let garage = counted.garage
    try garage.parkAll((0..<1000).map { Note(id: $0, text: "old") })
    try garage.parkAll((0..<1000).map { Book(id: $0, place: 1) })
    func expectFew(_ location: SourceLocation = #_sourceLocation, _ body: () throws -> Int) throws {
      let before = counted.storage.roundTripCount
      #expect(try body() == 1000, sourceLocation: location)
      let trips = counted.storage.roundTripCount - before
      #expect(trips <= 25, "\(trips) trips", sourceLocation: location)
    }
    let books = garage.query(Book.self).where(\.place == 1)
    try expectFew { try books.retrieveAll().count }
    try expectFew { try books.where(\.text == "").count() }
    try expectFew { try books.where(\.text == "").sorted(by: \.id).page(size: 1000).objects.count }
    try expectFew { try garage.query(Note.self).where(\.text == "old").updateAll { $0.text = "new" } }
    try expectFew { try garage.query(Book.self).where(\.place == 1).updateAll { $0.place = 2 } }
    try expectFew { try garage.query(Note.self).where(\.text == "new").deleteAll() }
    try expectFew { try garage.query(Book.self).where(\.place == 2).deleteAll() }
    #expect(try garage.count(Note.self) + garage.count(Book.self) == 0)
    #expect(try garage.verifyIndexes().isSound)
  }

  private final class Shelf: Codable, Identifiable, Indexed {
    static var indexes: [Index<Shelf>] { [Index(\.place)] }
    let id: Int
    let place: Int
    let others: [Node]

    init(id: Int, others: [Node]) {
      self.id = id
      place = 1
      self.others = others
    }
  }

  /// What the first objects that a query finds refer to is not fetched again with those behind them.
  @Test func sharedTargetsOfAQueryAreFetchedOnce() throws {
    let counted = try Counted()
    let (garage, count) = (counted.garage, 5000)
    let shared = (0..<10).map { Node(id: $0, children: [Node(id: $0 + 100, children: [])]) }
    try garage.parkAll((0..<count).map { Shelf(id: $0, others: [shared[$0 % 10], shared[$0 * 7 % 10]]) })
    try garage.parkAll((0..<count).map { Book(id: $0, place: 1) })
    func trips(_ body: () throws -> Void) throws -> Int {
      // What the first query finds out about the type is known to the second one.
      try body()
      let before = counted.storage.roundTripCount
      try body()
      return counted.storage.roundTripCount - before
    }
    func checkShelves(_ found: [Shelf]) {
      #expect(found.map(\.id) == Array(0..<count))
      #expect(found.allSatisfy { $0.others.map(\.id) == [$0.id % 10, $0.id * 7 % 10] })
      #expect(found.allSatisfy { $0.others[0] === found[$0.id % 10].others[0] })
      #expect(found.last?.others[0].children.first?.id == (count - 1) % 10 + 100)
    }
    let (shelves, books) = (
      garage.query(Shelf.self).where(\.place == 1), garage.query(Book.self).where(\.place == 1)
    )
    let alone = try trips { TripTests.isSo(try books.retrieveAll().count == count) }
    let unsorted = try trips { checkShelves(try shelves.retrieveAll()) }
    #expect(unsorted <= alone + 5, "\(unsorted) trips, and \(alone) where nothing is referred to")
    let aloneSorted = try trips {
      TripTests.isSo(try books.sorted(by: \.place).limit(count).retrieveAll().count == count)
    }
    let sorted = try trips { checkShelves(try shelves.sorted(by: \.place).limit(count).retrieveAll()) }
    #expect(sorted <= aloneSorted + 5, "\(sorted) trips, and \(aloneSorted) where nothing is referred to")
  }

  /// Large records are visited some at a time, in order, and as many as are wanted.
  @Test func largeObjectsAreFoundInOrder() throws {
    let garage = try Counted().garage
    let text = String(repeating: "x", count: 300_000)
    let books = (0..<40).map { Book(id: $0, place: 1, text: "\($0)" + text) }
    try garage.parkAll(books)
    let query = garage.query(Book.self).where(\.place == 1)
    #expect(try query.retrieveAll() == books)
    #expect(try query.limit(17).retrieveAll() == Array(books.prefix(17)))
    let sorted = query.sorted(by: \.text, .descending)
    #expect(try sorted.retrieveAll() == books.sorted { $0.text > $1.text })
    #expect(try sorted.limit(33).retrieveAll().count == 33)
    #expect(try query.page(size: 30).objects == Array(books.prefix(30)))
  }

  @Test func tasksTakeOneTripToo() async throws {
    let counted = try Counted()
    try await counted.garage.park(Note(id: 0, text: ""))
    var before = counted.storage.roundTripCount
    try await counted.garage.park(Note(id: 1, text: "one"))
    #expect(counted.storage.roundTripCount - before == 1)
    before = counted.storage.roundTripCount
    try await counted.garage.set(Keys.number, value: 2)
    #expect(counted.storage.roundTripCount - before == 1)
  }
}
