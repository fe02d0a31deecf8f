public import Foundation
public import GarageStorage

/// An object that was parked, with its attributes in the old store.
public struct ImportedGarageStorageObject {
  /// The object.
  public let object: any Codable
  /// Its identifier in the garage.
  public let identifier: Identifier
  /// The type as the old store named it.
  public let typeName: String
  /// The identifier as it stood in the old store.
  public let formerIdentifier: String?
  /// When it was first parked.
  public let creationDate: Date?
  /// When it was last parked. The record in the garage has this time, too.
  public let modificationDate: Date?
  /// The raw value of its sync status: 0 undetermined, 1 not synced, 2 syncing, 3 synced.
  public let syncStatus: Int?
}
