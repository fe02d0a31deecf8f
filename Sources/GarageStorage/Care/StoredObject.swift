#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
public import GarageCoding

/// An object as its store has it, read without its Swift type.
public struct StoredObject: Sendable, Hashable {
  /// The name of its type in the store: of a subclass its own.
  public var type: String
  /// What identifies it among those of its type.
  public var identifier: Identifier
  /// When it was encoded, to the millisecond.
  public var modificationDate: Date
  /// Its sync status, where its type has one.
  public var syncStatus: SyncStatus?
  /// The version that its type had when it was parked; 0 where it had none.
  public var typeVersion: Int
  /// How many bytes its key and its record have.
  public var byteCount: Int
  /// What it holds.
  public var value: RecordValue
}

/// The value of a typed key as its store has it, read without its Swift type.
public struct StoredKeyValue: Sendable, Hashable {
  /// The key's `stringValue`; of one of more than 463 bytes what stands of it in the store, with `…` behind it.
  public var name: String
  /// How many bytes key and value have.
  public var byteCount: Int
  /// What it holds.
  public var value: RecordValue
}
