#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
public import GarageCoding

/// An object as it is stored, read without its Swift type.
public struct StoredObject: Sendable, Hashable {
  /// The name of its type in the store. An object of a subclass has the subclass's name.
  public var type: String
  /// Its identifier among the objects of its type.
  public var identifier: Identifier
  /// When it was encoded, to the millisecond.
  public var modificationDate: Date
  /// Its sync status; nil if its type has none.
  public var syncStatus: SyncStatus?
  /// The version that its type had when it was parked; 0 if it had none.
  public var typeVersion: Int
  /// How many bytes its key and its record have.
  public var byteCount: Int
  /// Its content.
  public var value: RecordValue
}

/// The value of a typed key as it is stored, read without its Swift type.
public struct StoredKeyValue: Sendable, Hashable {
  /// The key's `stringValue`. If that has more than 463 bytes, it is the part that the store has, with `…` behind it.
  public var name: String
  /// How many bytes key and value have.
  public var byteCount: Int
  /// The value.
  public var value: RecordValue
}
