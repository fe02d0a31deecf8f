import Foundation
import GarageStorage

/// A struct whose status is among the coding keys.
struct Errand: Codable, Identifiable, Syncable, Equatable {
  var id: Int
  var title = ""
  var syncStatus = SyncStatus.undetermined
}

/// A struct whose status is not.
struct Parcel: Codable, Identifiable, Syncable, Equatable {
  var id: String
  var weight = 1
  var syncStatus = SyncStatus.undetermined
  enum CodingKeys: String, CodingKey { case id, weight }
}

/// A class whose status is not among the coding keys.
final class Courier: Codable, Identifiable, Syncable {
  var id: String
  var parcels: [Parcel] = []
  @Linked var friend: Courier?
  var syncStatus = SyncStatus.undetermined
  init(_ id: String, _ status: SyncStatus = .undetermined) {
    self.id = id
    syncStatus = status
  }
  enum CodingKeys: String, CodingKey { case id, parcels, friend }
}

class Beast: Codable, Identifiable, Syncable {
  var id: String
  var syncStatus = SyncStatus.undetermined
  init(_ id: String, _ status: SyncStatus) {
    self.id = id
    syncStatus = status
  }
}
class Wolf: Beast {}
final class Bear: Beast {}

/// Only the subclass has a status.
class Plant: Codable, Identifiable {
  var id: String
  init(_ id: String) { self.id = id }
}
final class Tree: Plant, Syncable {
  var syncStatus = SyncStatus.undetermined
  override init(_ id: String) { super.init(id) }
  required init(from decoder: any Decoder) throws { try super.init(from: decoder) }
}

/// Identified by its content, status among the coding keys.
struct Remark: Codable, Hashable, Syncable {
  var text: String
  var syncStatus = SyncStatus.undetermined
}

/// The same under another key.
struct RenamedRemark: Codable, Hashable, Syncable {
  var text: String
  var syncStatus = SyncStatus.undetermined
  enum CodingKeys: String, CodingKey { case text, syncStatus = "status" }
}

/// The same, of a class.
final class ObjectRemark: Codable, Hashable, Syncable {
  var text: String
  var syncStatus = SyncStatus.undetermined
  init(_ text: String) { self.text = text }
  static func == (a: ObjectRemark, b: ObjectRemark) -> Bool { a.text == b.text }
  func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

/// Stored inline because it is not identifiable; the status is not among the coding keys.
struct Stamp: Codable, Syncable, Equatable {
  var value: Int
  var syncStatus = SyncStatus.undetermined
  enum CodingKeys: String, CodingKey { case value }
}

/// Stored inline although it is identifiable.
struct InlineLabel: Codable, Identifiable, Inlined, Syncable, Equatable {
  var id: Int
  var syncStatus = SyncStatus.undetermined
  enum CodingKeys: String, CodingKey { case id }
}

/// Something around a value, coded as that value.
struct Wrapping<Value: Codable & Equatable>: Codable, Equatable {
  var value: Value
  init(_ value: Value) { self.value = value }
  init(from decoder: any Decoder) throws { value = try decoder.singleValueContainer().decode(Value.self) }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(value)
  }
}

/// Holds values with a status in every position.
struct Envelope: Codable, Identifiable, Equatable {
  enum Content: Codable, Equatable { case stamp(Stamp), none }
  var id = 1
  var stamp: Stamp
  var optional: Stamp?
  var list: [Stamp]
  var optionals: [Stamp?]
  var table: [String: Stamp]
  var numbers: [Int: Stamp]
  var content: Content
  var wrapping: Wrapping<Stamp>
  var label: InlineLabel
}

// What was parked as one type and is read as another of the same tag.
struct PlainNote: Codable, Identifiable, TypeTagged, Equatable {
  static var typeTag: String { "sync note" }
  var id: Int
  var text = ""
}
struct SyncedNote: Codable, Identifiable, TypeTagged, Syncable, Equatable {
  static var typeTag: String { "sync note" }
  var id: Int
  var text = ""
  var syncStatus = SyncStatus.notSynced
  enum CodingKeys: String, CodingKey { case id, text }
}
struct MovedNote: Codable, Identifiable, TypeTagged, Syncable, Equatable {
  static var typeTag: String { "moved sync note" }
  static var formerTypeTags: [String] { ["sync note"] }
  var id: Int
  var text = ""
  var syncStatus = SyncStatus.notSynced
  enum CodingKeys: String, CodingKey { case id, text }
}

struct FolderOfStamp: Codable, Identifiable, TypeTagged, Equatable {
  static var typeTag: String { "sync folder" }
  var id = 1
  var item: Stamp
  var items: [Stamp]
}
/// As ``Stamp``, without a status.
struct BareStamp: Codable, Equatable { var value: Int }
struct FolderOfBareStamp: Codable, Identifiable, TypeTagged, Equatable {
  static var typeTag: String { "sync folder" }
  var id = 1
  var item: BareStamp
  var items: [BareStamp]
}
