import Foundation
import GarageSQLite
import GarageStorage

struct Failure: Error, CustomStringConvertible {
  let description: String
}

func expect(_ condition: Bool, _ what: String, line: Int = #line) throws {
  if !condition { throw Failure(description: "line \(line): \(what)") }
}

/// Chosen among drivers with `import GarageStorage` alone.
func open(_ driver: any StorageDriver) throws -> Garage {
  try Garage(driver, types: [Animal.self, Dog.self, Errand.self])
}

func objects(_ garage: Garage) throws {
  let (sam, nick, ann) = (Person("Sam"), Person("Nick"), Person("Ann"))
  sam.mother = Reference(to: ann)
  sam.friends = [Reference(Person.self, identifier: "Nick"), Reference(to: sam)]
  sam.address = Address(street: "Main", city: "Hill Valley")
  sam.brother = nick
  nick.brother = sam
  sam.children = [Person("Eve")]
  sam.cousins = ["oldest": Person("Tom")]
  try garage.park(sam)
  try garage.parkAll([ann])
  try garage.park(Address(street: "Elm", city: "Springwood"))
  try garage.park(any: Note(id: 1, text: "text", currency: Currency(code: "USD")))
  let found = try garage.retrieve(Person.self, identifier: "Sam")
  try expect(found?.brother?.brother === found, "a cycle closes")
  try expect(found?.cousins["oldest"]?.id == "Tom", "a dictionary is linked")
  try expect(found?.mother?.id == "Ann", "a reference has the id")
  try expect(
    try found?.mother.flatMap { try garage.retrieve($0) }?.id == "Ann", "a reference leads to its target")
  try expect(found?.friends.last == Reference(Person.self, identifier: "Sam"), "references are equal")
  try expect(try garage.retrieveAll(Person.self).count == 5, "all are there")
  try expect(try garage.count(Address.self) == 1, "values are counted")
  let elm = Address(street: "Elm", city: "Springwood")
  let identifier = try garage.identifier(for: elm)
  try expect(try garage.retrieve(Address.self, identifier: identifier) == elm, "values are found")
  try expect(try garage.contains(Person.self, identifier: "Nick"), "Nick is there")
  try expect(
    try garage.retrieve(Note.self, identifier: 1)?.currency.code == "USD", "interned values are there")
  var names: [String] = []
  try garage.forEach(Person.self) { names.append($0.id) }
  try expect(names == ["Ann", "Eve", "Nick", "Sam", "Tom"], "in order")
  try expect(try garage.migrateAll(Note.self).failed.isEmpty, "nothing fails to migrate")
  try garage.delete(nick)
  try garage.delete(Person.self, identifier: "Eve")
  try garage.deleteAll(Address.self)
  try expect(try garage.count(Person.self) == 3, "two are gone")
  for person in [sam, found] { person?.brother?.brother = nil }
}

func classes(_ garage: Garage) throws {
  let dog = Dog(2)
  dog.keeper = Reference(Person.self, identifier: "Sam")
  try garage.parkAll([Animal(1), dog])
  try expect(try garage.retrieveAll(Animal.self).map { $0 is Dog } == [false, true], "dogs are dogs")
  let boat = Boat()
  boat.name = "Nellie"
  boat.captain = boat
  boat.weights = ["anchor": 12.5]
  try garage.park(boat)
  let found = try garage.retrieve(Boat.self, identifier: "Nellie")
  try expect(found?.captain === found && found?.weights["anchor"] == 12.5, "mapped objects come back")
  for boat in [boat, found] { boat?.captain = nil }
}

func statuses(_ garage: Garage) throws {
  let errand = Errand(id: UUID(), title: "milk")
  try garage.park(errand)
  try garage.setSyncStatus(.notSynced, for: errand)
  try expect(try garage.syncStatus(for: errand) == .notSynced, "the status is set")
  let waiting: [Errand] = try garage.retrieveAll(withStatus: .notSynced)
  try expect(waiting.map(\.id) == [errand.id], "it is found by its status")
  try expect(try garage.retrieveAll(withStatus: .notSynced).count == 1, "among all types")
}

func transactions(_ garage: Garage) throws {
  let count = try garage.write { writer in
    try writer.park(Errand(id: UUID(), title: "bread"))
    return try writer.count(Errand.self)
  }
  try expect(count == 2, "a write sees its own")
  try expect(try garage.read { try $0.retrieveAll(Errand.self).count } == 2, "a read sees what was written")
  try garage.withAutosaveDisabled { try garage.park(Errand(id: UUID(), title: "eggs")) }
  try expect(garage.hasUnsavedChanges, "it is not saved")
  try garage.save()
  try garage.withDateEncodingStrategy(.iso8601) { try garage.park(Errand(id: UUID(), title: "flour")) }
  try expect(try garage.count(Errand.self) == 4, "four errands")
}

func keys(_ garage: Garage) throws {
  try expect(try garage.get(.theme) == .light, "the default")
  try garage.set(.theme, value: .dark)
  try garage.update(.launches) { $0 += 1 }
  let editor = Editor(garage)
  try expect(editor.theme == .dark, "the property is the key")
  editor.theme = .light
  try expect(try garage.get(.theme) == .light && garage.get(.launches) == 1, "and sets it")
  let people = Key<Settings, [Person]>(id: "people", defaultValue: [])
  try garage.set(people, value: [Person("Kim")])
  try expect(try garage.get(people).map(\.id) == ["Kim"], "objects stand under keys")
  try garage.remove(.launches)
  try garage.clear(Settings.self)
  try expect(try garage.storedKeys().isEmpty, "no keys are left")
}

let file = FileManager.default.temporaryDirectory.appendingPathComponent("consumer-\(UUID().uuidString)")
let garage = try open(SQLiteStorage(at: file))
try objects(garage)
try classes(garage)
try statuses(garage)
try transactions(garage)
try keys(garage)
try await garage.deleteAllObjects()
try await tasks(garage)
try await indexes(garage)
try await rules(garage)
try await ranks(garage)
try await news(garage)
try await garage.deleteAllObjects()
try expect(try await garage.count(Person.self) == 0, "nothing is left")
try await garage.close()
try FileManager.default.removeItem(at: file)
print("The main actor's objects come back.")
