import Foundation
import GarageDriver
import GarageStorage
import Synchronization
import Testing

/// Who hears of a commit, and who is left alone.
@Suite struct ListenerTests {
  private struct Book: Codable, Identifiable, Indexed, Equatable {
    static var indexes: [Index<Book>] { [Index(\.place, .hashed), Index(\.code, .unique, .hashed)] }
    var id: Int
    var place = 0
    var code = 0
  }

  private static func key(_ number: Int) -> Key<GlobalNamespace, Int> {
    Key(id: "number \(number)", defaultValue: 0)
  }

  /// A commit does not make anybody read whom it does not concern, also where an index leads to what was read.
  @Test(arguments: Backend.engines) func othersDoNotReadAgain(_ backend: Backend) async throws {
    let storage = ReadCounter(try Place(backend).open())
    let garage = try Garage(storage)
    try await garage.parkAll((0..<20).map { Book(id: $0, place: $0 % 4, code: $0) })
    try await garage.parkAll((0..<20).map { Counter(id: $0) })
    var shelf = garage.values(of: garage.query(Book.self).where(\.place == 1)).makeAsyncIterator()
    var coded = garage.values(of: garage.query(Book.self).where(\.code == 7)).makeAsyncIterator()
    var one = garage.values(of: Counter.self, identifier: 3).makeAsyncIterator()
    var number = garage.values(of: ListenerTests.key(1)).makeAsyncIterator()
    #expect(try await shelf.next()?.count == 5)
    #expect(try await coded.next()?.count == 1)
    #expect(try await one.next()??.value == 0)
    #expect(try await number.next() == 0)
    let before = storage.count.load(ordering: .relaxed)
    // Nobody asks for any of these.
    try await garage.park(Person("Sam"))
    try await garage.park(Counter(id: 4, value: 1))
    try await garage.set(ListenerTests.key(2), value: 5)
    try await garage.delete(Counter.self, identifier: 5)
    // And then one thing of each.
    try await garage.write { writer in
      try writer.park(Book(id: 1, place: 2, code: 1))
      try writer.park(Book(id: 99, place: 3, code: 7000))
      try writer.delete(Book.self, identifier: 7)
      try writer.park(Counter(id: 3, value: 2))
      try writer.set(ListenerTests.key(1), value: 6)
    }
    #expect(try await shelf.next()?.map(\.id) == [5, 9, 13, 17])
    #expect(try await coded.next()?.isEmpty == true)
    #expect(try await one.next()??.value == 2)
    #expect(try await number.next() == 6)
    #expect(storage.count.load(ordering: .relaxed) - before == 4)
  }

  /// Of a park alone nothing is noted where nobody listens to its type; who begins to before the commit hears of it.
  @Test(arguments: Backend.engines) func whoBeginsWhileAParkCommitsHearsOfIt(_ backend: Backend) async throws
  {
    let storage = SlowStorage(try Place(backend).open())
    let garage = try Garage(storage)
    var other = garage.values(of: Person.self, identifier: "Sam").makeAsyncIterator()
    _ = try await other.next()
    try await garage.park(Counter(id: 1))
    let (isThere, mayCommit) = (AsyncStream.makeStream(of: Void.self), DispatchSemaphore(value: 0))
    storage.willCommit.withLock {
      $0 = {
        isThere.continuation.finish()
        mayCommit.wait()
      }
    }
    let hasParked = AsyncStream.makeStream(of: Void.self)
    // On a thread that may wait.
    Thread.detachNewThread {
      do { try garage.park(Counter(id: 1, value: 1)) } catch { Issue.record("\(error)") }
      hasParked.continuation.finish()
    }
    for await _ in isThere.stream {}
    var object = garage.values(of: Counter.self, identifier: 1).makeAsyncIterator()
    #expect(try await object.next() == .some(Counter(id: 1)))
    var changes = garage.changes().makeAsyncIterator()
    mayCommit.signal()
    for await _ in hasParked.stream {}
    #expect(try await object.next() == .some(Counter(id: 1, value: 1)))
    let news = try #require(await changes.next())
    #expect(news.concern(Counter.self) && news.parked(Counter.self) == nil && !news.concern(Person.self))
    // From here on somebody does listen.
    try await garage.park(Counter(id: 2))
    #expect(await changes.next()?.parked(Counter.self) == [try garage.identifier(for: Counter(id: 2))])
  }

  /// What was unsaved and goes with a park that nobody wants to hear of is news all the same.
  @Test(arguments: Backend.engines) func whatIsSavedByTheWayIsHeard(_ backend: Backend) async throws {
    let storage = try Place(backend).open()
    let (garage, other) = (try Garage(storage), try Garage(storage))
    var object = other.values(of: Counter.self, identifier: 1).makeAsyncIterator()
    #expect(try await object.next() == .some(nil))
    try await garage.withAutosaveDisabled { try await garage.park(Counter(id: 1, value: 1)) }
    try await garage.park(Person("Sam"))
    #expect(try await object.next() == .some(Counter(id: 1, value: 1)))
  }

  private struct Shelf: Codable, Identifiable {
    var id: String
    var books: [Book]
  }

  /// What is put in one go is listed type by type, whatever the length of its identifiers.
  @Test(arguments: Backend.allCases) func manyAreNamed(_ backend: Backend) async throws {
    let garage = try Place(backend).garage()
    var changes = garage.changes().makeAsyncIterator()
    let shelves = (1...70).map { length in
      Shelf(
        id: String(repeating: "s", count: length),
        books: length % 3 == 0
          ? [] : [Book(id: length * 2, code: length * 2), Book(id: length * 2 + 1, code: -length)])
    }
    try await garage.parkAll(shelves)
    let news = try #require(await changes.next())
    #expect(try news.parked(Shelf.self) == Set(shelves.map { try garage.identifier(for: $0) }))
    #expect(
      try news.parked(Book.self) == Set(shelves.flatMap(\.books).map { try garage.identifier(for: $0) }))
    #expect(news.deleted(Shelf.self) == [] && !news.concern(Counter.self))
    // As many as are listed, and one more.
    for count in [4096, 4097] {
      try await garage.parkAll((0..<count).map { Counter(id: $0, value: count) })
      let news = try #require(await changes.next())
      #expect(news.concern(Counter.self) && news.parked(Shelf.self) == [])
      #expect(news.parked(Counter.self)?.count == (count == 4096 ? 4096 : nil))
    }
  }

  /// Of what is put together, and before and after that one by one, each identifier is said, also where they begin alike.
  @Test(arguments: Backend.engines) func whatBeginsAlikeIsNamed(_ backend: Backend) async throws {
    let garage = try Place(backend).garage()
    let seed = UInt64.random(in: 0...UInt64.max)
    var generator = SeededGenerator(seed: seed)
    var changes = garage.changes().makeAsyncIterator()
    for round in 0..<20 {
      var ids: Set<String> = []
      var last = ""
      for _ in 0..<Int.random(in: 1...1_200, using: &generator) {
        last = String(last.prefix(Int.random(in: 0...40, using: &generator)))
        for _ in 0..<Int.random(in: 0...12, using: &generator) {
          last.append(["a", "b", "é", "我", "\u{1F600}"].randomElement(using: &generator)!)
        }
        ids.insert(last)
      }
      let shelves = ids.map { Shelf(id: $0, books: []) }
      let (together, alone) = (shelves.dropFirst(3), shelves.prefix(3))
      let numbers = (0..<100).map { _ in Int.random(in: -1_000...1_000, using: &generator) }
      try await garage.write { writer in
        for shelf in alone { try writer.park(shelf) }
        try writer.parkAll(together)
        try writer.parkAll(numbers.map { Counter(id: $0) })
        for shelf in alone { try writer.delete(shelf) }
      }
      let news = try #require(await changes.next())
      let named = "seed \(seed), round \(round)"
      #expect(try news.parked(Shelf.self) == Set(together.map { try garage.identifier(for: $0) }), "\(named)")
      #expect(try news.deleted(Shelf.self) == Set(alone.map { try garage.identifier(for: $0) }), "\(named)")
      #expect(
        try news.parked(Counter.self) == Set(numbers.map { try garage.identifier(for: Counter(id: $0)) }),
        "\(named)")
    }
  }

  /// Of large commits that follow one another quickly nothing is missed, though not each of them wakes who listens.
  @Test(arguments: Backend.engines) func manyLargeCommitsAreHeard(_ backend: Backend) async throws {
    let garage = try Place(backend).garage()
    for round in 0..<8 {
      var changes = garage.changes().makeAsyncIterator()
      let parking = Task.detached {
        for batch in 0..<13 {
          try await garage.parkAll((0..<300).map { Counter(id: batch * 300 + $0, value: round) })
        }
      }
      var heard: Set<Identifier> = []
      while heard.count < 13 * 300 {
        let news = try #require(await changes.next())
        heard.formUnion(try #require(news.parked(Counter.self)))
      }
      try await parking.value
      #expect(try heard == Set((0..<13 * 300).map { try garage.identifier(for: Counter(id: $0)) }))
    }
  }

  /// Threads that change the same objects tell of it in any order; what is said is what became of them in the end.
  @Test(arguments: Backend.engines) func whatBecameOfThemLastIsSaid(_ backend: Backend) async throws {
    let garage = try Place(backend).garage()
    let seed = UInt64.random(in: 0...UInt64.max)
    for round in 0..<(runsLongTests ? 400 : 12) {
      var changes = garage.changes().makeAsyncIterator()
      try await onThreads(8) { thread in
        var generator = SeededGenerator(seed: seed &+ UInt64(round * 8 + thread))
        for _ in 0..<12 {
          let id = Int.random(in: 0..<3, using: &generator)
          if Bool.random(using: &generator) {
            try garage.park(Counter(id: id, value: round))
          } else {
            do { try garage.delete(Counter.self, identifier: id) } catch GarageError.failedToRetrieveObject {}
          }
        }
        try garage.park(Counter(id: 100 + thread))
      }
      let news = try #require(await changes.next())
      let parked = try #require(news.parked(Counter.self))
      let deleted = try #require(news.deleted(Counter.self))
      for id in 0..<3 {
        let isThere = try await garage.contains(Counter.self, identifier: id)
        let identifier = try garage.identifier(for: Counter(id: id))
        #expect((isThere ? deleted : parked).contains(identifier) == false, "seed \(seed), round \(round)")
      }
    }
  }

  /// Everybody ends with what the store holds, whatever he asked for, while others come and go.
  @Test(arguments: Backend.engines) func everyKindOfListenerEndsWithTheLastState(_ backend: Backend)
    async throws
  {
    let garage = try Place(backend).garage()
    let seed = UInt64.random(in: 0...UInt64.max)
    let states = (0..<24).map { Watched(number: $0) }
    let tasks = states.map { state in Task { try await state.follow(garage) } }
    let passing = Task {
      // Those who come and go make the others hear no less.
      var round = 0
      while !Task.isCancelled {
        for try await _ in garage.values(of: Counter.self, identifier: round % 5) { break }
        round += 1
        try await Task.sleep(for: .microseconds(200))
      }
    }
    defer { for task in tasks + [passing] { task.cancel() } }
    try await onThreads(4) { thread in
      var generator = SeededGenerator(seed: seed &+ UInt64(thread))
      for round in 0..<(runsLongTests ? 2_000 : 25) {
        let id = Int.random(in: 0..<6, using: &generator)
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: try garage.deleteAll(Counter.self)
        case 1: try garage.clear()
        case 2: try garage.set(ListenerTests.key(id), value: round)
        case 3: try garage.parkAll((0..<6).map { Counter(id: $0, value: round) })
        case 4...5: try garage.park(Counter(id: id, value: round))
        default: try garage.park(Book(id: id, place: round % 3, code: id))
        }
      }
    }
    passing.cancel()
    for state in states {
      let expected = try await state.read(garage)
      // It is told, sooner or later: how long that takes says more of the machine.
      for _ in 0..<6_000 where state.last != expected { try await Task.sleep(for: .milliseconds(10)) }
      #expect(state.last == expected, "seed \(seed), listener \(state.number)")
    }
    for task in tasks { task.cancel() }
    for task in tasks { try await task.value }
  }

  /// One of many who listen.
  private final class Watched: Sendable {
    let number: Int
    private let seen = Mutex<[[Int]]>([])

    init(number: Int) { self.number = number }

    var last: [Int]? { seen.withLock { $0.last } }

    func follow(_ garage: Garage) async throws {
      switch number % 4 {
      case 0: for try await found in garage.values(of: query(garage)) { keep(ListenerTests.numbers(found)) }
      case 1:
        for try await found in garage.values(of: books(garage)) { keep(ListenerTests.numbers(found)) }
      case 2:
        for try await found in garage.values(of: Counter.self, identifier: number % 6) {
          keep(ListenerTests.numbers(found.map { [$0] } ?? []))
        }
      default:
        for try await value in garage.values(of: ListenerTests.key(number % 6)) { keep([value]) }
      }
    }

    func read(_ garage: Garage) async throws -> [Int] {
      switch number % 4 {
      case 0: return ListenerTests.numbers(try await query(garage).retrieveAll())
      case 1: return ListenerTests.numbers(try await books(garage).retrieveAll())
      case 2:
        let found = try await garage.retrieve(Counter.self, identifier: number % 6)
        return ListenerTests.numbers(found.map { [$0] } ?? [])
      default: return [try await garage.get(ListenerTests.key(number % 6))]
      }
    }

    private func query(_ garage: Garage) -> Query<Counter> {
      garage.query(Counter.self).where(\.value > number)
    }

    private func books(_ garage: Garage) -> Query<Book> {
      garage.query(Book.self).where(\.place == number % 3)
    }

    private func keep(_ numbers: [Int]) { seen.withLock { $0 = [numbers] } }
  }

  private static func numbers(_ counters: [Counter]) -> [Int] { counters.flatMap { [$0.id, $0.value] } }
  private static func numbers(_ books: [Book]) -> [Int] { books.flatMap { [$0.id, $0.place] } }
}

/// Counts the transactions that read.
private final class ReadCounter: StorageDriver {
  private let base: any StorageDriver
  let count = Atomic<Int>(0)
  var info: StorageInfo { base.info }

  init(_ base: any StorageDriver) { self.base = base }

  func read<R>(_ body: (any ReadTransaction) throws -> R) throws -> R {
    count.add(1, ordering: .relaxed)
    return try base.read(body)
  }
  func write<R>(_ body: (any WriteTransaction) throws -> TransactionOutcome<R>) throws -> R {
    try base.write(body)
  }
  func close() throws { try base.close() }
}
