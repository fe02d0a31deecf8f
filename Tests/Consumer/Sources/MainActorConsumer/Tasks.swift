import Foundation
import GarageStorage

// The verbs for tasks, with types that all belong to the main actor.

func tasks(_ garage: Garage) async throws {
  let (sam, nick) = (Person("Sam"), Person("Nick"))
  sam.brother = nick
  try await garage.park(sam)
  try await garage.parkAll([Person("Ann"), Person("Ben")])
  let found = try await garage.retrieve(Person.self, identifier: "Sam")
  try expect(found?.brother?.id == "Nick", "an object comes with what it refers to")
  try expect(try await garage.retrieveAll(Person.self).count == 4, "all are there")
  try expect(try await garage.count(Person.self) == 4, "all are counted")
  try expect(try await garage.contains(Person.self, identifier: "Ann"), "Ann is there")
  var names: [String] = []
  try await garage.forEach(Person.self) { names.append($0.id) }
  for try await person in garage.objects(Person.self) { names.append(person.id) }
  try expect(names.count == 8, "one after another")
  try expect(
    try await garage.query(Person.self).where(\.age == 0).sorted(by: \.id).first()?.id == "Ann", "a query")
  try expect(
    try await garage.retrieve(Reference(Person.self, identifier: "Ben"))?.id == "Ben", "a reference")
  try await garage.set(.theme, value: .dark)
  try expect(try await garage.get(.theme) == .dark, "a key is set")
  try expect(
    try await garage.update(.launches) { count in
      count += 1; return count
    } > 0, "a key is changed")
  try await garage.remove(.theme)
  let errand = Errand(id: UUID(), title: "milk")
  try await garage.park(errand)
  try await garage.setSyncStatus(.synced, for: errand)
  try expect(try await garage.syncStatus(for: errand) == .synced, "a status is set")
  try expect(try await garage.retrieveAll(Errand.self, withStatus: .synced).count == 1, "found by status")
  try await garage.withAutosaveDisabled { try await garage.park(Person("Zoe")) }
  try await garage.save()
  try await garage.delete(found ?? sam)
  try await garage.delete(Person.self, identifier: "Ann")
  try await garage.deleteAll(Errand.self)
  for person in [sam, found] { person?.brother = nil }
}

func indexes(_ garage: Garage) async throws {
  try await garage.parkAll([Ticket(id: 1, seat: "A1"), Ticket(id: 2, seat: "A2")])
  var isRefused = false
  do { try await garage.park(Ticket(id: 3, seat: "A1")) } catch GarageError.notUnique { isRefused = true }
  try expect(isRefused, "a seat has one ticket")
  try expect(
    try await garage.query(Ticket.self).where(\.seat == "A2").first()?.id == 2, "found by its seat")
  try expect(try await garage.indexes(of: Ticket.self).map(\.state) == [.ready], "by an index")
}

func ranks(_ garage: Garage) async throws {
  try await garage.parkAll((1...4).map { Soldier(id: $0, rank: Rank(number: $0 % 3)) })
  let query = garage.query(Soldier.self)
  try expect(try await query.max(\.rank)?.number == 2, "the greatest, compared here")
  try expect(try await query.min(\.rank)?.number == 0, "the least, compared here")
  try await garage.deleteAll(Soldier.self)
}

func news(_ garage: Garage) async throws {
  try await garage.deleteAll(Person.self)
  let live = LiveQuery(garage.query(Person.self), in: garage)
  var people = garage.values(of: garage.query(Person.self)).makeAsyncIterator()
  try expect(try await people.next()?.isEmpty == true, "nobody is there")
  var changes = garage.changes().makeAsyncIterator()
  try await garage.park(Person("Sam"))
  try expect(await changes.next()?.concern(Person.self) == true, "somebody came")
  try expect(try await people.next()?.map(\.id) == ["Sam"], "Sam came")
  for _ in 0..<500 where live.results.isEmpty { try await Task.sleep(for: .milliseconds(10)) }
  try expect(live.results.map(\.id) == ["Sam"], "a view would show Sam")
}
