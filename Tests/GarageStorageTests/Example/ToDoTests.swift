import Foundation
import GarageStorage
import Testing

/// A web service in memory, whose connection fails on demand.
private actor FakeWebService: WebService {
  struct Unreachable: Error {}
  private(set) var bodies: [UUID: Data] = [:]
  private var log: [Data] = []
  private var putsUntilFailure = Int.max
  private var duringPut: @Sendable () throws -> Void = {}

  func put(_ body: Data, id: UUID) throws {
    if putsUntilFailure == 0 { throw Unreachable() }
    putsUntilFailure -= 1
    bodies[id] = body
    try duringPut()
  }

  func changes(since version: Int) -> (bodies: [Data], version: Int) { (Array(log[version...]), log.count) }

  func fail(after puts: Int) { putsUntilFailure = puts }
  func during(_ body: @escaping @Sendable () throws -> Void) { duringPut = body }
  func othersPut(_ item: some Encodable) throws { log.append(try JSONEncoder().encode(item)) }
  func received<Item: Decodable>(_ type: Item.Type, _ id: UUID) throws -> Item? {
    try bodies[id].map { try JSONDecoder().decode(type, from: $0) }
  }
}

/// The example does what its comments say, through three releases of its model.
@Suite struct ToDoTests {
  typealias ToDo = FirstRelease.ToDo
  typealias Person = FirstRelease.Person
  typealias Tag = FirstRelease.Tag

  private let ann = Person(id: "ann@example.org", name: "Ann")
  private let home = Tag(name: "home", color: "green")
  private let urgent = Tag(name: "urgent", color: "red")

  /// Three things to do: two of Ann's, one after the other, and one of nobody's.
  private func chores() -> [ToDo] {
    let paint = ToDo(
      title: "Buy paint", due: Date(timeIntervalSinceReferenceDate: 0.1), assignee: ann, tags: [home])
    let walls = ToDo(
      title: "Paint the walls", assignee: ann, tags: [home, urgent], after: Reference(to: paint))
    return [paint, walls, ToDo(title: "Sleep", isDone: true)]
  }

  @Test(arguments: Backend.allCases)
  func whatIsParkedSurvivesARelaunch(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let chores = chores()
    try garage.parkAll(chores)

    garage = try place.reopened(garage)
    let found = try garage.retrieveAll(ToDo.self)
    #expect(Set(found.map(\.title)) == Set(chores.map(\.title)))
    for chore in chores { #expect(try garage.retrieve(ToDo.self, identifier: chore.id) == chore) }
    // Who and what are shared is stored once, and changed in one place.
    #expect(try garage.count(Person.self) == 1 && garage.count(Tag.self) == 2)
    try garage.park(Person(id: ann.id, name: "Ann Smith"))
    let paint = try #require(try garage.retrieve(ToDo.self, identifier: chores[0].id))
    #expect(paint.assignee?.name == "Ann Smith")
    let walls = try #require(try garage.retrieve(ToDo.self, identifier: chores[1].id))
    #expect(try garage.retrieve(try #require(walls.after)) == paint)
  }

  @Test(arguments: Backend.allCases)
  func whatTheUserChangesReachesTheService(_ backend: Backend) async throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let service = FakeWebService()
    let chores = chores()
    try await garage.parkAll(chores)

    // The connection breaks after the first. The others wait, also over a relaunch.
    await service.fail(after: 1)
    await #expect(throws: FakeWebService.Unreachable.self) {
      try await Synchronizer<ToDo>(garage: garage, service: service).send()
    }
    garage = try place.reopened(garage)
    #expect(try await garage.retrieveAll(ToDo.self, withStatus: .notSynced).count == 2)
    #expect(try await garage.retrieveAll(ToDo.self, withStatus: .synced).count == 1)

    // While they are sent, the user changes one and deletes another one.
    let (edited, deleted) = (chores[1], chores[2])
    await service.fail(after: .max)
    await service.during { [garage] in
      guard try garage.contains(ToDo.self, identifier: deleted.id) else { return }
      var copy = edited
      copy.isDone = true
      try garage.park(copy)
      try garage.delete(deleted)
    }
    let synchronizer = Synchronizer<ToDo>(garage: garage, service: service)
    try await synchronizer.send()
    #expect(try await garage.retrieveAll(ToDo.self, withStatus: .syncing).isEmpty)
    #expect(try await garage.retrieveAll(ToDo.self, withStatus: .notSynced).map(\.id) == [edited.id])
    try await synchronizer.send()
    #expect(try await garage.retrieveAll(ToDo.self, withStatus: .synced).count == 2)
    #expect(try await service.received(ToDo.self, edited.id)?.isDone == true)
    #expect(try await service.received(ToDo.self, chores[0].id)?.assignee == ann)
  }

  @Test(arguments: Backend.allCases)
  func whatWasOnItsWayIsSentAgain(_ backend: Backend) async throws {
    let place = try Place(backend)
    let garage = try place.garage()
    let service = FakeWebService()
    let chores = chores()
    try await garage.parkAll(chores)
    // As it is when the app ends in the middle.
    try await garage.setSyncStatus(.syncing, for: chores)

    let relaunched = Synchronizer<ToDo>(garage: try place.reopened(garage), service: service)
    try relaunched.recover()
    try await relaunched.send()
    #expect(await service.bodies.count == 3)
    #expect(try await relaunched.garage.retrieveAll(ToDo.self, withStatus: .synced).count == 3)
  }

  @Test(arguments: Backend.allCases)
  func whatOthersChangeComesHere(_ backend: Backend) async throws {
    let place = try Place(backend)
    let garage = try place.garage()
    let service = FakeWebService()
    let chores = chores()
    try await garage.parkAll(chores)
    try await garage.setSyncStatus(.synced, for: chores[0])

    for chore in chores.prefix(2) {
      var copy = chore
      copy.title += "!"
      try await service.othersPut(copy)
    }
    try await service.othersPut(ToDo(title: "Theirs"))
    try await Synchronizer<ToDo>(garage: garage, service: service).fetch()

    let reopened = try place.reopened(garage)
    let titles = Set(try await reopened.retrieveAll(ToDo.self).map(\.title))
    // The second one waits to be sent.
    #expect(titles == ["Buy paint!", "Paint the walls", "Sleep", "Theirs"])
    #expect(try await reopened.retrieveAll(ToDo.self, withStatus: .synced).count == 2)
    #expect(try await reopened.get(.fetchedVersion) == 3)
  }

  @Test(arguments: Backend.allCases)
  func theModelChangesTwice(_ backend: Backend) async throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let chores = chores()
    try await garage.parkAll(chores)
    try await garage.setSyncStatus(.synced, for: chores.dropFirst())

    // The second release reads what the first one left, changes some of it, and adds its own.
    garage = try place.reopened(garage)
    var paint = try await #require(try garage.retrieve(SecondRelease.ToDo.self, identifier: chores[0].id))
    #expect(paint.priority == 2 && paint.assignee?.fullName == "Ann" && paint.tags == [home])
    paint.priority = 1
    try await garage.parkAll([paint, SecondRelease.ToDo(title: "Call Bob", isDone: true)])

    // The third one reads both.
    garage = try place.reopened(garage)
    let tasks = try await garage.retrieveAll(ThirdRelease.Task.self)
    func task(_ title: String, _ tasks: [ThirdRelease.Task]) throws -> ThirdRelease.Task {
      try #require(tasks.first { $0.title == title })
    }
    #expect(tasks.count == 4)
    #expect(try task("Buy paint", tasks).priority == 1 && task("Sleep", tasks).priority == 2)
    #expect(try task("Sleep", tasks).progress == .done && task("Call Bob", tasks).progress == .done)
    let walls = try task("Paint the walls", tasks)
    #expect(walls.progress == .open && walls.tags == [home, urgent] && walls.assignee?.fullName == "Ann")
    #expect(try await garage.retrieve(try #require(walls.after))?.title == "Buy paint")
    // Statuses came along: what waited still waits.
    let waiting = try await garage.retrieveAll(ThirdRelease.Task.self, withStatus: .notSynced)
    #expect(Set(waiting.map(\.title)) == ["Buy paint", "Call Bob"])

    // Rewritten for good, nothing is lost, and it can be sent.
    let report = try await garage.migrateAll(ThirdRelease.Task.self)
    #expect(report.failed.isEmpty)
    garage = try place.reopened(garage)
    #expect(try await garage.retrieveAll(ThirdRelease.Task.self) == tasks)
    let service = FakeWebService()
    try await Synchronizer<ThirdRelease.Task>(garage: garage, service: service).send()
    #expect(await service.bodies.count == 2)
    #expect(try await garage.retrieveAll(ThirdRelease.Task.self, withStatus: .synced).count == 4)
  }
}
