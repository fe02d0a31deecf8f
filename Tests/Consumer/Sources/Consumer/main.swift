import Foundation
import GarageSQLite
import GarageStorage

final class Person: Codable, Identifiable {
  var id: String
  @Linked var brother: Person?

  init(id: String) { self.id = id }
}

let file = FileManager.default.temporaryDirectory.appendingPathComponent("consumer-\(UUID().uuidString)")
let garage = try Garage(SQLiteStorage(at: file))

let sam = Person(id: "Sam")
sam.brother = Person(id: "Nick")
try garage.park(sam)

let found = try garage.retrieve(Person.self, identifier: "Sam")
print("\(found?.id ?? "Nobody") has a brother, \(found?.brother?.id ?? "nobody").")

try garage.close()
try FileManager.default.removeItem(at: file)
