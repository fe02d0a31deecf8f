import Foundation
import GarageStorage

/// One of ten thousand.
struct Note: Codable, Identifiable {
  var id: Int
  var title: String
  var isDone: Bool
  var weight: Double
  var due: Date
  var remark: String?
  var list: Reference<NoteList>
  var tags: [String]
}

struct NoteList: Codable, Identifiable {
  var id: String
  var name: String
  var place: Place

  struct Place: Codable {
    var city: String
    var rooms: [Int]
  }
}

/// Each has the next one as a friend, the last one the first.
final class Friend: Codable, Identifiable {
  let id: String
  var age: Int
  @Linked var friend: Friend?

  init(_ id: String, age: Int) {
    self.id = id
    self.age = age
    friend = nil
  }
}

/// What tries to be more than data, by its type's name, its identifier, its keys and its values.
struct Intruder: Codable, Identifiable, TypeTagged {
  static let script = "<script>window.intruded = 1</script>"
  static let image = "\"'><img src=x onerror=\"window.intruded=2\">"
  static var typeTag: String { "Tests.\(image)" }

  var id: String
  var text: String
  var address = URL(string: "javascript:window.intruded=3")!
  var fields: [String: String]
}

/// A value that is identified by what it holds.
struct Color: Codable, Hashable {
  var red: Int
  var name: String
}

/// Has its identifier.
class Animal: Codable, Identifiable {
  let id: Int

  init(id: Int) { self.id = id }
}

/// Is found by what its superclass has.
final class Dog: Animal {
  let name: String

  private enum CodingKeys: String, CodingKey { case name }

  init(id: Int, name: String) {
    self.name = name
    super.init(id: id)
  }

  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    name = try container.decode(String.self, forKey: .name)
    try super.init(from: container.superDecoder())
  }

  override func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .name)
    try super.encode(to: container.superEncoder())
  }
}

/// Numbers that are none of eight bytes, or not exactly.
struct Measure: Codable, Identifiable {
  var id: Int
  var large: Int
  var small: Float
  var wide: Int128
}

enum Settings: Namespace { static let id = "settings" }

extension KeyType where Self == Key<Settings, String> {
  static var theme: Self { Key(id: "theme", defaultValue: "light") }
  static var intruder: Self { Key(id: "<svg onload=\"window.intruded=4\">", defaultValue: "") }
}
