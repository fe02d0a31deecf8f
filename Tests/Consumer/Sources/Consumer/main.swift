import Foundation
import GarageSQLite
import GarageStorage

final class Person: Codable, Identifiable {
  var id: String
  @Linked var brother: Person?

  init(id: String) { self.id = id }
}

/// What an app may say of a type that is not its own, here of one whose values the library checks when it reads them.
extension URLComponents: @retroactive Identifiable {
  /// The text of the URL.
  public var id: String { string ?? "" }
}

struct Bookmark: Codable, Identifiable {
  var id: Int
  var place: URLComponents
}

let file = FileManager.default.temporaryDirectory.appendingPathComponent("consumer-\(UUID().uuidString)")
let garage = try Garage(SQLiteStorage(at: file))

let sam = Person(id: "Sam")
sam.brother = Person(id: "Nick")
try garage.park(sam)

let found = try garage.retrieve(Person.self, identifier: "Sam")
print("\(found?.id ?? "Nobody") has a brother, \(found?.brother?.id ?? "nobody").")

// It has records of its own then, and two that refer to one share it.
let place = URLComponents(string: "https://example.com:80/a?b=c")!
try garage.parkAll([Bookmark(id: 1, place: place), Bookmark(id: 2, place: place)])
guard try garage.count(URLComponents.self) == 1,
  try garage.retrieve(URLComponents.self, identifier: place.id) == place,
  try garage.retrieveAll(Bookmark.self).map(\.place) == [place, place]
else { fatalError("a type to which the app gave an identity has no records") }

try garage.close()
try FileManager.default.removeItem(at: file)
