public import Foundation
public import GarageCoding
public import GarageDriver

/// An error that a garage throws by itself. It says what failed, on what, and what to do next.
///
/// The garage also throws, unchanged, Swift's `EncodingError` and `DecodingError`, and the errors of your own `encode(to:)`,
/// `init(from:)` and closures. A missing object is no error but `nil`, except where a verb cannot do its work without it.
/// Damage is always an error.
///
/// New cases may come with new versions: write `@unknown default` in a switch.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum GarageError: Error, Hashable, Sendable {
  // MARK: The request

  /// There is no object of this type (first) with this identifier (second).
  case failedToRetrieveObject(String, String)
  /// A value of this type cannot be parked by itself: it is neither `Identifiable` nor `Hashable`, or it is nil or a
  /// ``Reference``.
  case missingConformance(String)
  /// The `id` of this type is of a kind that cannot name a record.
  case unsupportedIDConformance(String)
  /// The identifier that was given for objects of this type stands for no value of the type of their `id`: for instance `"x"`
  /// for an integer.
  case unsuitableIdentifier(type: String, identifier: String, idType: String)
  /// An object that is identified by its content was to be changed: it would become another object.
  case identifiedByContent(type: String, identifier: String)
  /// Objects of an old name were to become objects of this type, which already has one with this identifier.
  case identifierConflict(type: String, identifier: String, oldName: String)
  /// A record of this type holds no data. Stores of the old GarageStorage have some such records.
  case storageDataIsNil(String)
  /// The mapping of this class is wrong: for instance, its identifying attribute is not mapped.
  case invalidMapping(type: String, reason: String)
  /// The identifying attribute of an object of this mapped class is nil or empty.
  case emptyIdentifyingAttribute(type: String, attribute: String)
  /// An object was to be parked that could never be retrieved under its `id`: for instance because the `id` differs each time
  /// it is read. Nothing was parked.
  case unretrievableObject(type: String, identifier: String, reason: String)
  /// The sync status of an object of this mapped class was asked for or set, but the class is not `Syncable`.
  case notSyncable(String)
  /// The type has a type tag that it cannot have.
  case invalidTypeTag(type: String, reason: String)

  /// A query for objects of this type asks for something that it cannot do.
  case invalidQuery(type: String, reason: String)
  /// Another object of the type (`existing` is its identifier) already has this value of a unique index. Nothing was changed.
  case notUnique(index: String, value: String, existing: String)
  /// The index cannot be made as the type declares it, or there is no index of this name.
  case invalidIndex(type: String, index: String, reason: String)
  /// The object was to be deleted although others refer to it (`by` names the first of them), which its type or the call
  /// forbids. Nothing was changed.
  case stillReferredTo(type: String, identifier: String, by: String)
  /// The sum of a property of objects of this type is more than the property's type can hold.
  case sumOutOfRange(type: String, property: String)

  // MARK: Objects that cannot be built

  /// Plain properties refer to each other in a circle; the path names every object on it.
  case cycle(path: String)
  /// The object was parked as a subclass that this garage was not told about.
  case unregisteredClass(tag: String, type: String, identifier: String)
  /// The object's `id`, as decoded, is not the identifier that its record is kept under.
  case identityMismatch(type: String, recordIdentifier: String, decodedIdentifier: String)
  /// Values nest deeper than the coders, or the stack of the calling thread, allow.
  case nestingTooDeep(depth: Int)

  // MARK: Damage and versions

  /// The bytes of a record are damaged.
  case corruptRecord(type: String, identifier: String, reason: String)
  /// A record was written by a newer version of the library.
  case newerRecordFormat(type: String, identifier: String, version: Int)
  /// The bytes under a typed key are damaged.
  case corruptValue(key: String, reason: String)
  /// The value stored under a typed key does not decode as a value of the key's type.
  case unreadableValue(key: String, type: String, reason: String)
  /// An entry that was to be migrated could not be converted for the key.
  case failedToMigrate(entry: String, key: String, reason: String)
  /// An object was parked in a version of its type (``Evolving``) that is newer than the type's in this program.
  /// If it stands inside another object, the identifier names that object and the property.
  case newerTypeVersion(type: String, identifier: String?, version: Int, known: Int)
  /// The text of a type tag or shape, which is kept under this digest, is damaged.
  case damagedText(digest: String)
  /// Two different names have one digest.
  case digestCollision(String)
  /// The metadata of the garage are damaged.
  case damagedMetadata(driver: String)

  // MARK: Opening and closing

  /// The store is not empty, and is not a garage.
  case notAGarage(driver: String)
  /// The garage was written by a newer version of the library.
  case newerFormat(version: Int, driver: String)
  /// The store is empty and opened for reading only, so that no garage can be made of it.
  case noGarage(driver: String)
  /// The store is sealed (encrypted), and was opened without `SealedStorage`.
  case sealed(driver: String)
  /// Identifiers cannot be hidden: the storage is not sealed, or the garage was made without hiding them.
  case identifiersNotHidden(driver: String, reason: String)
  /// The storage that a garage was to be copied to is not empty.
  case destinationNotEmpty(driver: String)
  /// A file that was to be imported is no export of a garage, or is damaged. Nothing was changed.
  case damagedExport(line: Int, reason: String)
  /// The garage was closed.
  case closed

  // MARK: Transactions

  /// A write was begun inside a write on the same thread.
  case nestedWrite
  /// A reader or writer was used after its closure returned.
  case transactionEnded
  /// The unsaved changes that a write built upon were discarded while it was running.
  case unsavedChangesDiscarded
  /// An `init(from:)` tried to change the store through the writer that runs it. That call changed nothing.
  case changeWhileDecoding
  /// The store below failed.
  case storage(StorageError)
}

extension GarageError: CustomStringConvertible {
  /// What failed, on what, and what to do next.
  public var description: String {
    switch self {
    case .failedToRetrieveObject(let type, let identifier):
      "Failed to retrieve object of type: \(type) with identifier: \(identifier)"
    case .missingConformance(let type):
      """
      \(type) cannot be parked by itself, because it is neither Identifiable nor Hashable, or because nil and a Reference \
      are no objects. Conform it to Codable and one of the two, or park an object that holds it.
      """
    case .notSyncable(let type):
      """
      \(type) has no sync status, because it is not Syncable. Nothing was changed. Conform it to Syncable, and park \
      its objects again.
      """
    case .unsupportedIDConformance(let type):
      """
      The id of \(type) can name no record. Give it an id that is an integer, String, UUID, Date, a \
      RawRepresentable of these, LosslessStringConvertible, or Codable and Hashable; or conform it to Inlined.
      """
    case .unsuitableIdentifier(let type, let identifier, let idType):
      """
      No \(type) can have the identifier "\(identifier)", which stands for none of type \(idType), the type of its id. \
      Pass one of that type.
      """
    case .identifiedByContent(let type, let identifier):
      """
      The \(type) "\(identifier)" is identified by what it holds, and changed it would be another object. Nothing was \
      changed. Delete it, and park what is to be there instead.
      """
    case .identifierConflict(let type, let identifier, let oldName):
      """
      There are objects with the identifier "\(identifier)" both under the name "\(oldName)" and as \(type). Nothing \
      was changed. Delete one of them, or park it under another identifier.
      """
    case .storageDataIsNil(let type):
      "A record of \(type) holds no data. Park the object again, or delete it."
    case .invalidMapping(let type, let reason):
      "The objectMapping of \(type) is wrong: \(reason)."
    case .emptyIdentifyingAttribute(let type, let attribute):
      """
      The identifying attribute "\(attribute)" of an object of \(type) is empty, so that nothing names its \
      record. Give it a value before you park the object.
      """
    case .unretrievableObject(let type, let identifier, let reason):
      "\(type) \"\(identifier)\" was not parked, because it could never be retrieved: \(reason)."
    case .invalidTypeTag(_, let reason):
      reason
    case .invalidQuery(let type, let reason):
      "The query for objects of type \(type) \(reason)"
    case .notUnique(let index, let value, let existing):
      """
      The index "\(index)" is unique, and the object "\(existing)" already has \(value). Nothing was changed. Give \
      one of the two another value, or park both in one call where they swap.
      """
    case .invalidIndex(let type, let index, let reason):
      "The index \"\(index)\" of \(type) cannot be used: \(reason)"
    case .stillReferredTo(let type, let identifier, let by):
      """
      The object of type \(type) with identifier \(identifier) is not deleted, because it is still referred to by \(by). \
      Nothing was changed. Delete or change these first, or delete it with another rule for those who refer to it \
      (referrers:).
      """
    case .sumOutOfRange(let type, let property):
      """
      The sum of \(property) of objects of type \(type) is more than the property's type holds. Add the values up in a \
      larger type: values(\(property)) gives them.
      """
    case .cycle(let path):
      """
      Plain properties refer to each other in a circle: \(path). Declare the property that closes the circle \
      as @Linked, or make it a Reference.
      """
    case .unregisteredClass(let tag, let type, let identifier):
      """
      \(type) "\(identifier)" was parked as "\(tag)", a class this garage was not told about. \
      Name that class in types: when you open the garage.
      """
    case .identityMismatch(let type, let recordIdentifier, let decodedIdentifier):
      """
      The record of \(type) "\(recordIdentifier)" decodes to an object whose id is "\(decodedIdentifier)". \
      A property that is declared "let id = …", or left out of the CodingKeys, is never decoded: declare it "var id", \
      and name it there.
      """
    case .nestingTooDeep(let depth):
      """
      Values nest \(depth) deep, which is more than the coders or the stack of this thread allow. Give types \
      in the middle an identity of their own (Identifiable), so that they become records, or use a thread \
      with a larger stack.
      """
    default: descriptionOfStore
    }
  }

  private var descriptionOfStore: String {
    switch self {
    case .corruptRecord(let type, let identifier, let reason):
      """
      The record of \(type) "\(identifier)" is damaged: \(reason). It was left as it is: restore it from a \
      backup, or park or delete the object.
      """
    case .newerRecordFormat(let type, let identifier, let version):
      """
      The record of \(type) "\(identifier)" has format \(version), which is newer than this version of \
      Garage reads. Update the library.
      """
    case .corruptValue(let key, let reason):
      """
      The value of the key "\(key)" is damaged: \(reason). It was left as it is: restore it from a backup, or set \
      or remove it.
      """
    case .unreadableValue(let key, let type, let reason):
      """
      The value of the key "\(key)" is no \(type): \(reason)\(reason.hasSuffix(".") ? "" : ".") It was left as it is: read \
      it with a key of its own type, or set or remove it.
      """
    case .failedToMigrate(let entry, let key, let reason):
      """
      The entry "\(entry)" could not be migrated to the key "\(key)": \(reason). Nothing was migrated or removed. \
      Convert it in the migration's closure.
      """
    case .newerTypeVersion(let type, let identifier, let version, let known):
      """
      \(type)\(identifier.map { " \"\($0)\"" } ?? "") was parked in version \(version) of its type, and this \
      program knows versions up to \(known). Nothing was changed. Update the program.
      """
    case .damagedText(let digest):
      """
      The name that the store keeps under \(digest) is damaged. Park an object of the same type, which \
      writes it anew, or restore the store from a backup.
      """
    case .digestCollision(let what):
      "Two different names have the same digest: \(what). Rename one of them."
    case .damagedMetadata(let driver):
      "The metadata of this garage (\(driver)) are damaged. Restore the store from a backup."
    case .notAGarage(let driver):
      """
      The store (\(driver)) is not empty, and what it holds is no garage. Nothing was changed. Open the \
      garage at another place.
      """
    case .newerFormat(let version, let driver):
      """
      The garage (\(driver)) has format \(version), and this version of the library knows formats up to \
      \(StoreMetadata.formatVersion). Nothing was changed. Update the library.
      """
    case .noGarage(let driver):
      """
      There is no garage in this store (\(driver)) yet, and none can be made, because it was opened for \
      reading only. Open it for writing first.
      """
    case .sealed(let driver):
      """
      The garage (\(driver)) is sealed, and was opened as a plain one. Nothing was changed. Open it with \
      SealedStorage and the key that it was sealed with.
      """
    case .identifiersNotHidden(let driver, let reason):
      "The garage (\(driver)) does not hide identifiers: \(reason)"
    case .destinationNotEmpty(let driver):
      """
      The storage to copy to (\(driver)) holds something already, and not a part of this garage, or another call has copied \
      to it meanwhile. Nothing of that was changed. Copy to an empty one.
      """
    case .damagedExport(let line, let reason):
      """
      The file cannot be taken in: in line \(line) \(reason). Nothing was changed. Export the garage again, or restore the \
      file from a backup.
      """
    case .closed:
      "The garage was closed. Open it again to use it."
    case .nestedWrite:
      """
      This thread is already inside a write on this store, and a second one would wait for itself. Use the \
      writer that the closure was given, or let that write end first.
      """
    case .transactionEnded:
      """
      The reader or writer was used after its closure had ended. Do the work inside the closure, or open \
      another transaction.
      """
    case .unsavedChangesDiscarded:
      """
      The unsaved changes were discarded inside a write that built upon them, and so that write was rolled \
      back. Discard them before or after the write.
      """
    case .changeWhileDecoding:
      """
      An init(from:) was to change the store through the writer whose reading verb runs it. That call did nothing. \
      Let the verb return, and change the store then.
      """
    case .storage(let error): error.description
    default: "GarageError \(errorCode)"
    }
  }
}

extension GarageError: LocalizedError {
  /// The same as ``description``.
  public var errorDescription: String? { description }
}

// Whoever shows `localizedDescription` would otherwise show nothing but the name of the type and a number.

extension StorageError: LocalizedError {
  /// The same as `description`.
  public var errorDescription: String? { description }
}

extension UnreadableObject: LocalizedError {
  /// The same as `description`.
  public var errorDescription: String? { description }
}

extension GraphCodingError: LocalizedError {
  /// The same as `description`.
  public var errorDescription: String? { description }
}

extension GarageError: CustomNSError {
  /// `GarageStorage`.
  public static var errorDomain: String { Garage.errorDomain }

  /// A number for each case, which never changes.
  public var errorCode: Int {
    switch self {
    case .failedToRetrieveObject: 1
    case .missingConformance: 2
    case .unsupportedIDConformance: 3
    case .storageDataIsNil: 4
    case .invalidTypeTag: 5
    case .invalidMapping: 6
    case .emptyIdentifyingAttribute: 7
    case .identifierConflict: 8
    case .unretrievableObject: 9
    case .cycle: 10
    case .unregisteredClass: 11
    case .identityMismatch: 12
    case .unsuitableIdentifier: 14
    case .nestingTooDeep: 13
    case .notSyncable: 15
    case .invalidQuery: 16
    case .sumOutOfRange: 17
    case .notUnique: 18
    case .invalidIndex: 19
    case .stillReferredTo: 29
    case .corruptRecord: 20
    case .newerRecordFormat: 21
    case .damagedText: 22
    case .digestCollision: 23
    case .damagedMetadata: 24
    case .corruptValue: 25
    case .unreadableValue: 26
    case .failedToMigrate: 27
    case .newerTypeVersion: 28
    case .notAGarage: 30
    case .newerFormat: 31
    case .noGarage: 32
    case .closed: 33
    case .sealed: 34
    case .identifiersNotHidden: 35
    case .destinationNotEmpty: 36
    case .damagedExport: 37
    case .identifiedByContent: 38
    case .nestedWrite: 40
    case .transactionEnded: 41
    case .unsavedChangesDiscarded: 42
    case .changeWhileDecoding: 43
    case .storage: 50
    }
  }

  /// The text for users of the error as an `NSError`.
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: description] }
}

extension GarageError {
  /// Whether the same call may succeed when it is made again, without anything else being changed.
  public var isRetryable: Bool {
    if case .storage(let error) = self { error.isRetryable } else { false }
  }
}
