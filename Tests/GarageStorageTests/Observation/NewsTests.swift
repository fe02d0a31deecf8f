import Foundation
import GarageDriver
import GarageMemory
import GarageStorage
import Synchronization
import Testing

private struct FormerNews: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "news of before" }
  var id: Int
}
private struct PresentNews: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "news of today" }
  static var formerTypeTags: [String] { ["news of before"] }
  var id: Int
}

/// Who listens hears what changed.
@Suite struct NewsTests {
  /// Takes from a sequence until an element satisfies a condition.
  private func wait<S: AsyncSequence>(
    for sequence: S, _ seconds: Int = 60, until isEnough: @escaping (S.Element) -> Bool
  ) async throws -> Bool {
    for try await element in sequence where isEnough(element) { return true }
    return false
  }

  @Test(arguments: Backend.allCases) func changesNameWhatWasParkedAndDeleted(_ backend: Backend) async throws
  {
    let garage = try Place(backend).garage()
    try await garage.parkAll([Counter(id: 1), Counter(id: 2)])
    var changes = garage.changes().makeAsyncIterator()
    try await garage.park(Counter(id: 3))
    var news = try #require(await changes.next())
    #expect(news.concern(Counter.self) && !news.concern(Person.self))
    #expect(news.parked(Counter.self) == [try garage.identifier(for: Counter(id: 3))])
    #expect(news.deleted(Counter.self) == [])
    #expect(news.sources == [.thisGarage])
    // What is missed is merged.
    try await garage.delete(Counter.self, identifier: 3)
    try await garage.park(Person("Sam"))
    try await garage.set(.launchCount, value: 1)
    try await garage.write { try $0.park(Counter(id: 4)) }
    news = try #require(await changes.next())
    #expect(news.deleted(Counter.self) == [try garage.identifier(for: Counter(id: 3))])
    #expect(news.parked(Counter.self) == [try garage.identifier(for: Counter(id: 4))])
    #expect(news.concern(Person.self) && news.concern(.launchCount))
    #expect(!news.mayBeAnything)
    // Many are not listed.
    try await garage.parkAll((0..<6000).map { Counter(id: $0) })
    news = try #require(await changes.next())
    #expect(news.parked(Counter.self) == nil && news.concern(Counter.self) && !news.concern(Person.self))
    try await garage.deleteAll(Counter.self)
    news = try #require(await changes.next())
    #expect(news.concern(Counter.self) && !news.concern(Person.self))
    // What is rolled back is no news.
    struct Stop: Error {}
    await #expect(throws: Stop.self) {
      try await garage.write { writer in
        try writer.park(Person("Nick"))
        throw Stop()
      }
    }
    try await garage.set(.launchCount, value: 2)
    news = try #require(await changes.next())
    #expect(!news.concern(Person.self) && news.concern(.launchCount))
    try await garage.close()
    #expect(await changes.next() == nil)
  }

  /// An object that is parked under the present name of its type leaves the former one, and is not deleted.
  @Test(arguments: Backend.allCases) func whatMovesToItsPresentNameIsParked(_ backend: Backend) async throws {
    let garage = try Place(backend).garage()
    try await garage.parkAll((1...4).map { FormerNews(id: $0) })
    func identifiers(_ ids: Int...) throws -> Set<Identifier> {
      Set(try ids.map { try garage.identifier(for: PresentNews(id: $0)) })
    }
    var changes = garage.changes().makeAsyncIterator()
    try await garage.park(PresentNews(id: 1))
    try await garage.delete(PresentNews.self, identifier: 2)
    var news = try #require(await changes.next())
    #expect(try news.parked(PresentNews.self) == identifiers(1))
    #expect(try news.deleted(PresentNews.self) == identifiers(2))
    // Several commits are merged.
    try await garage.park(PresentNews(id: 3))
    try await garage.delete(PresentNews.self, identifier: 3)
    try await garage.delete(PresentNews.self, identifier: 4)
    try await garage.park(PresentNews(id: 4))
    news = try #require(await changes.next())
    #expect(try news.parked(PresentNews.self) == identifiers(4))
    #expect(try news.deleted(PresentNews.self) == identifiers(3))
  }

  /// Keys do not tell of which class of a hierarchy an object is: of a subclass too little is said rather than too much.
  @Test(arguments: Backend.allCases) func objectsOfSubclassesAreNotNamed(_ backend: Backend) async throws {
    let garage = try Place(backend).garage([Dog.self, Cat.self])
    let tom: Set = [try garage.identifier(for: Cat("Tom"))]
    var changes = garage.changes().makeAsyncIterator()
    try await garage.park(Cat("Tom"))
    var news = try #require(await changes.next())
    #expect(news.parked(Dog.self) == nil && news.concern(Dog.self))
    #expect(news.parked(Animal.self) == tom && news.deleted(Animal.self) == [])
    try await garage.delete(Cat.self, identifier: "Tom")
    news = try #require(await changes.next())
    #expect(news.deleted(Dog.self) == nil && news.concern(Dog.self))
    #expect(news.deleted(Animal.self) == tom && news.parked(Animal.self) == [])
    // Where nothing of the hierarchy changed it is known.
    try await garage.park(Counter(id: 1))
    news = try #require(await changes.next())
    #expect(news.parked(Dog.self) == [] && news.deleted(Dog.self) == [] && !news.concern(Dog.self))
  }

  @Test(arguments: Backend.allCases) func valuesBeginWithWhatIsThere(_ backend: Backend) async throws {
    let garage = try Place(backend).garage()
    try await garage.parkAll([Counter(id: 1, value: 10), Counter(id: 2, value: 20)])
    var found = garage.values(of: garage.query(Counter.self).where(\.value > 10)).makeAsyncIterator()
    #expect(try await found.next()?.map(\.id) == [2])
    // Other types, and what leaves the result as it is, are no news.
    try await garage.park(Person("Sam"))
    try await garage.park(Counter(id: 3, value: 5))
    try await garage.park(Counter(id: 4, value: 40))
    #expect(try await found.next()?.map(\.id) == [2, 4])
    try await garage.delete(Counter.self, identifier: 2)
    #expect(try await found.next()?.map(\.id) == [4])

    var object = garage.values(of: Counter.self, identifier: 4).makeAsyncIterator()
    #expect(try await object.next() == .some(Counter(id: 4, value: 40)))
    try await garage.park(Counter(id: 1, value: 11))
    try await garage.delete(Counter.self, identifier: 4)
    #expect(try await object.next() == .some(nil))
    try await garage.park(Counter(id: 4, value: 41))
    #expect(try await object.next() == .some(Counter(id: 4, value: 41)))

    var key = garage.values(of: .launchCount).makeAsyncIterator()
    #expect(try await key.next() == 0)
    try await garage.set(.launchCount, value: 7)
    #expect(try await key.next() == 7)
    try await garage.remove(.launchCount)
    #expect(try await key.next() == 0)
  }

  /// Nothing is listed of a type that nobody listens to; who begins to before the commit hears of it all the same.
  @Test(arguments: Backend.engines) func whoBeginsWhileSomebodyWritesHearsOfIt(_ backend: Backend)
    async throws
  {
    let garage = try Place(backend).garage()
    var other = garage.values(of: Person.self, identifier: "Sam").makeAsyncIterator()
    _ = try await other.next()
    let (hasParked, mayCommit) = (AsyncStream.makeStream(of: Void.self), DispatchSemaphore(value: 0))
    let writing = Task.detached {
      try await garage.write { writer in
        try writer.parkAll([Counter(id: 1), Counter(id: 2, value: 2)])
        try writer.park(Counter(id: 1, value: 1))
        hasParked.continuation.finish()
        mayCommit.wait()
      }
    }
    for await _ in hasParked.stream {}
    var object = garage.values(of: Counter.self, identifier: 1).makeAsyncIterator()
    #expect(try await object.next() == .some(nil))
    var all = garage.values(of: garage.query(Counter.self)).makeAsyncIterator()
    #expect(try await all.next()?.isEmpty == true)
    var changes = garage.changes().makeAsyncIterator()
    mayCommit.signal()
    try await writing.value
    #expect(try await object.next() == .some(Counter(id: 1, value: 1)))
    #expect(try await all.next()?.map(\.id) == [1, 2])
    let news = try #require(await changes.next())
    // Not all that it heard of is listed.
    #expect(news.concern(Counter.self) && news.parked(Counter.self) == nil && !news.concern(Person.self))
  }

  /// What an object refers to concerns it.
  @Test(arguments: Backend.engines) func reachedObjectsConcern(_ backend: Backend) async throws {
    let garage = try Place(backend).garage()
    let sam = Person("Sam")
    sam.brother = Person("Nick", age: 1)
    try await garage.park(sam)
    var values = garage.values(of: Person.self, identifier: "Sam").makeAsyncIterator()
    #expect(try await values.next()??.brother?.age == 1)
    try await garage.park(Person("Nick", age: 2))
    #expect(try await values.next()??.brother?.age == 2)
  }

  @Test(arguments: Backend.engines) func unsavedChangesAreNewsForTheirGarage(_ backend: Backend) async throws
  {
    let storage = try Place(backend).open()
    let (garage, other) = (try Garage(storage), try Garage(storage))
    var here = garage.values(of: Counter.self, identifier: 1).makeAsyncIterator()
    var there = other.values(of: Counter.self, identifier: 1).makeAsyncIterator()
    #expect(try await here.next() == .some(nil))
    #expect(try await there.next() == .some(nil))
    try await garage.withAutosaveDisabled { try await garage.park(Counter(id: 1, value: 1)) }
    #expect(try await here.next()??.value == 1)
    await garage.discardUnsavedChanges()
    #expect(try await here.next() == .some(nil))
    try await garage.withAutosaveDisabled { try await garage.park(Counter(id: 1, value: 2)) }
    #expect(try await here.next()??.value == 2)
    try await garage.save()
    #expect(try await there.next()??.value == 2)
  }

  @Test(arguments: [Backend.sqlite, .lmdb, .sealedSQLite]) func otherStoragesAreHeard(_ backend: Backend)
    async throws
  {
    let place = try Place(backend)
    let (garage, other) = (try place.garage(), try place.garage())
    var values = garage.values(of: Counter.self, identifier: 1).makeAsyncIterator()
    #expect(try await values.next() == .some(nil))
    try await other.park(Counter(id: 1, value: 5))
    #expect(try await values.next()??.value == 5)
  }

  /// A commit of another storage on the same store is told of once, with what it changed, and not again as a stranger's.
  @Test(arguments: [Backend.sqlite, .lmdb, .sealedSQLite]) func otherStoragesAreHeardOnce(
    _ backend: Backend
  ) async throws {
    let place = try Place(backend)
    let (garage, other) = (try place.garage(), try place.garage())
    let reader = try Garage(place.open(readOnly: true))
    for (number, listening) in [garage, reader].enumerated() {
      var changes = listening.changes().makeAsyncIterator()
      for round in 1...3 {
        let counter = Counter(id: number * 10 + round)
        let identifier = try other.identifier(for: counter)
        try await other.park(counter)
        let news = try #require(await changes.next())
        #expect(news.sources == [.thisProcess] && news.parked(Counter.self) == [identifier])
        // Long enough for a look whether others committed, which would be in the next news.
        try await Task.sleep(for: .milliseconds(150))
      }
    }
  }

  @Test(arguments: [Backend.sqlite, .lmdb, .sealedSQLite]) func otherProcessesAreHeard(_ backend: Backend)
    async throws
  {
    let place = try Place(backend)
    let garage = try place.garage()
    var changes = garage.changes().makeAsyncIterator()
    let child = try Child("fill", backend.rawValue, place.storePath.path, "10")
    let news = try #require(await changes.next())
    #expect(news.sources == [.anotherProcess] && news.mayBeAnything)
    try child.wait()
  }

  /// A garage that only reads hears of each change of other processes, and not of the first alone.
  @Test(arguments: [Backend.sqlite, .lmdb]) func whoOnlyReadsHearsOtherProcesses(
    _ backend: Backend
  ) async throws {
    let place = try Place(backend)
    let key = Key<GlobalNamespace, Int>(id: "count", defaultValue: 0)
    try await place.garage().set(key, value: 0)
    let garage = try Garage(place.open(readOnly: true))
    var values = garage.values(of: key).makeAsyncIterator()
    var value = try await values.next()
    for round in 1...3 {
      let child = try Child("count-key", backend.rawValue, place.storePath.path, "5")
      _ = try child.firstLine()
      try child.send("go")
      while let last = value, last < round * 5 { value = try await values.next() }
      #expect(value == round * 5)
      try child.wait()
    }
  }

  /// Sixteen threads write, and watchers of every speed end with what the store holds.
  @Test(arguments: Backend.engines) func theLastStateAlwaysArrives(_ backend: Backend) async throws {
    let garage = try Place(backend).garage()
    let seed = UInt64.random(in: 0...UInt64.max)
    let watchers = (0..<4).map { watcher in
      Task { () -> Bool in
        for try await counters in garage.values(of: garage.query(Counter.self)) {
          if watcher > 0 { try await Task.sleep(for: .milliseconds(watcher * 5)) }
          if counters.count == 33, counters.allSatisfy({ $0.id == -1 || $0.value == 19 }) { return true }
        }
        return false
      }
    }
    try await onThreads(16) { thread in
      var generator = SeededGenerator(seed: seed &+ UInt64(thread))
      for round in 0..<20 {
        try garage.parkAll([Counter(id: thread * 2, value: round), Counter(id: thread * 2 + 1, value: round)])
        if Int.random(in: 0..<4, using: &generator) == 0 { usleep(500) }
      }
    }
    try await garage.park(Counter(id: -1))
    for watcher in watchers { #expect(try await watcher.value, "seed \(seed)") }
  }

  @Test(arguments: Backend.engines) func cancellingEnds(_ backend: Backend) async throws {
    let garage = try Place(backend).garage()
    let changes = Task { for await _ in garage.changes() {} }
    let values = Task { for try await _ in garage.values(of: .launchCount) {} }
    try await Task.sleep(for: .milliseconds(20))
    changes.cancel()
    values.cancel()
    await changes.value
    try await values.value
  }

  /// Nobody asks for marks when nobody listens.
  @Test func pollingStopsWithTheLastListener() async throws {
    let place = try Place(.sqlite)
    let signal = CountingSignal(try place.open())
    let garage = try Garage(signal)
    try await garage.park(Counter(id: 1))
    #expect(signal.count.load(ordering: .relaxed) == 0)
    do {
      var changes = garage.changes().makeAsyncIterator()
      try await garage.park(Counter(id: 2))
      #expect(await changes.next()?.sources == [.thisGarage])
      #expect(try await comesTrue { signal.count.load(ordering: .relaxed) >= 2 })
    }
    var count = -1
    let stops = try await comesTrue(every: .milliseconds(500)) {
      defer { count = signal.count.load(ordering: .relaxed) }
      return signal.count.load(ordering: .relaxed) == count
    }
    #expect(stops)
  }
}

/// Counts how often it is asked.
private final class CountingSignal: ChangeSignaling {
  private let base: any StorageDriver
  let count = Atomic<Int>(0)
  var info: StorageInfo { base.info }

  init(_ base: any StorageDriver) { self.base = base }

  func read<R>(_ body: (any ReadTransaction) throws -> R) throws -> R { try base.read(body) }
  func write<R>(_ body: (any WriteTransaction) throws -> TransactionOutcome<R>) throws -> R {
    try base.write(body)
  }
  func close() throws { try base.close() }
  func foreignChangeMark() throws -> UInt64? {
    count.add(1, ordering: .relaxed)
    return try (base as? any ChangeSignaling)?.foreignChangeMark()
  }
  var changeOrigin: ObjectIdentifier? { ObjectIdentifier(self) }
}
