import Foundation
import GarageStorage

final class Person: Codable, Identifiable {
  var id: String
  var age: Int
  var address: Address?
  @Linked var brother: Person?
  @Linked var siblings: [Person]

  init(_ id: String, age: Int = 0, address: Address? = nil) {
    self.id = id
    self.age = age
    self.address = address
  }
}

/// Identified by its content.
struct Address: Codable, Hashable {
  var street: String
  var city: String
}

/// Identified by a number, and a value.
struct Counter: Codable, Identifiable, Equatable {
  var id: Int
  var value = 0
}

/// Both `Identifiable` and `Hashable`.
struct Item: Codable, Identifiable, Hashable {
  var id: UUID
  var name: String
}

class Animal: Codable, Identifiable {
  var id: String
  init(_ id: String) { self.id = id }
}

class Dog: Animal {
  var tricks: [String] = []
  override init(_ id: String) { super.init(id) }
  required init(from decoder: any Decoder) throws {
    tricks = try decoder.container(keyedBy: Keys.self).decode([String].self, forKey: .tricks)
    try super.init(from: decoder)
  }
  override func encode(to encoder: any Encoder) throws {
    try super.encode(to: encoder)
    var container = encoder.container(keyedBy: Keys.self)
    try container.encode(tricks, forKey: .tricks)
  }
  private enum Keys: String, CodingKey { case tricks }
}

final class Puppy: Dog {}
final class Cat: Animal {}

/// Neither `Identifiable` nor `Hashable`.
struct Shapeless: Codable { var x = 1 }

/// Its own `id`.
enum Theme: String, Codable, Identifiable { case light, dark; var id: Self { self } }

/// Throws while it is encoded or decoded, when told to.
struct Moody: Codable, Identifiable {
  struct Mood: Error, Equatable { var text = "not today" }

  var id: Int
  var refusesToEncode = false
  var refusesToDecode = false

  init(_ id: Int, refusesToEncode: Bool = false, refusesToDecode: Bool = false) {
    self.id = id
    self.refusesToEncode = refusesToEncode
    self.refusesToDecode = refusesToDecode
  }

  func encode(to encoder: any Encoder) throws {
    if refusesToEncode { throw Mood() }
    var container = encoder.container(keyedBy: Keys.self)
    try container.encode(id, forKey: .id)
    try container.encode(refusesToDecode, forKey: .refusesToDecode)
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Keys.self)
    id = try container.decode(Int.self, forKey: .id)
    if try container.decode(Bool.self, forKey: .refusesToDecode) { throw Mood() }
  }

  private enum Keys: String, CodingKey { case id, refusesToDecode }
}

/// Holds others in one graph.
struct Crowd: Codable, Identifiable {
  var id: String
  var members: [Counter]
  var moody: Moody?
}

/// Runs a closure of the test's while it is encoded and decoded.
struct Meddler: Codable, Identifiable {
  final class Actions: @unchecked Sendable {
    var onEncode: () throws -> Void = {}
    var onDecode: () throws -> Void = {}
  }
  static let key = CodingUserInfoKey(rawValue: "actions")!

  var id: Int
  init(_ id: Int) { self.id = id }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Keys.self)
    try container.encode(id, forKey: .id)
    try (encoder.userInfo[Meddler.key] as? Actions)?.onEncode()
  }

  init(from decoder: any Decoder) throws {
    id = try decoder.container(keyedBy: Keys.self).decode(Int.self, forKey: .id)
    try (decoder.userInfo[Meddler.key] as? Actions)?.onDecode()
  }

  private enum Keys: String, CodingKey { case id }
}
