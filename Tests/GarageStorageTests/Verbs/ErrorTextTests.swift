import Foundation
import GarageCoding
import GarageDriver
import GarageStorage
import Testing

/// Errors say what failed, on what, and what to do next, and can be told apart by programs.
@Suite struct ErrorTextTests {
  private static let storageError = StorageError(
    .storageFull, during: .put, driver: "SQLite", message: "The disk is full. Make room.")

  private static let all: [GarageError] = [
    .failedToRetrieveObject("Person", "Sam"), .missingConformance("T"), .unsupportedIDConformance("T"),
    .storageDataIsNil("T"), .invalidTypeTag(type: "T", reason: "Its tag is empty."),
    .invalidMapping(type: "T", reason: "it is wrong"),
    .emptyIdentifyingAttribute(type: "T", attribute: "name"),
    .cycle(path: "a → b → a"),
    .unregisteredClass(tag: "M.Cat", type: "Animal", identifier: "b"),
    .identityMismatch(type: "T", recordIdentifier: "a", decodedIdentifier: "b"), .nestingTooDeep(depth: 512),
    .corruptRecord(type: "T", identifier: "a", reason: "it is cut"),
    .newerRecordFormat(type: "T", identifier: "a", version: 9), .damagedText(digest: "00ff"),
    .digestCollision("a and b"), .damagedMetadata(driver: "LMDB"), .notAGarage(driver: "LMDB"),
    .newerFormat(version: 9, driver: "LMDB"), .noGarage(driver: "LMDB"), .closed,
    .identifiersNotHidden(driver: "LMDB", reason: "The storage is not sealed. Seal it."), .nestedWrite,
    .transactionEnded,
    .unsavedChangesDiscarded, .storage(storageError),
    .identifierConflict(type: "T", identifier: "a", oldName: "Old"), .sealed(driver: "LMDB"),
    .notSyncable("T"), .changeWhileDecoding,
    .unretrievableObject(type: "T", identifier: "a", reason: "its id changes"),
    .unsuitableIdentifier(type: "T", identifier: "x", idType: "Int"),
    .corruptValue(key: "settings:theme", reason: "it is cut"),
    .unreadableValue(key: "settings:theme", type: "Theme", reason: "It is text."),
    .failedToMigrate(entry: "Old", key: "settings:theme", reason: "it is text"),
    .newerTypeVersion(type: "T", identifier: "a", version: 3, known: 2),
    .invalidQuery(type: "T", reason: "is wrong. Ask another one."),
    .sumOutOfRange(type: "T", property: "age"),
    .notUnique(index: "email", value: "\"a\"", existing: "7"),
    .stillReferredTo(type: "T", identifier: "a", by: "Order \"7\""),
    .invalidIndex(type: "T", index: "age", reason: "it is stored nowhere. Name its coding key."),
  ]

  @Test func theTextOfAMissingObjectIsFixed() {
    let error = GarageError.failedToRetrieveObject("Person", "Sam")
    #expect(error.description == "Failed to retrieve object of type: Person with identifier: Sam")
    #expect(error.localizedDescription == error.description)
    #expect("\(error)" == error.description)
  }

  @Test func errorsAreNSErrorsOfOneDomain() {
    #expect(Garage.errorDomain == "GarageStorage")
    for error in ErrorTextTests.all {
      let bridged = error as NSError
      #expect(bridged.domain == "GarageStorage")
      #expect(bridged.code == error.errorCode)
      #expect(bridged.localizedDescription == error.description)
    }
    // Every case, by the numbers that never change.
    #expect(
      Set(ErrorTextTests.all.map(\.errorCode))
        == Set(Array(1...35) + Array(40...43) + [50]))
  }

  /// Alerts show this text, also that of errors which come as they are: of opening a storage, of a reference, of an object that
  /// cannot be read.
  @Test func otherErrorsSayTheSameInAlerts() {
    let errors: [any Error] = [
      ErrorTextTests.storageError, GraphCodingError.missingConformance(type: "T"),
      UnreadableObject(type: "T", identifier: "a", path: "b.c", error: nil),
    ]
    for error in errors { #expect(error.localizedDescription == "\(error)") }
  }

  /// The reason comes from a decoder, whose texts end with a full stop or not.
  @Test func sentencesEndOnce() {
    for reason in ["There is no such case", "There is no such case."] {
      let error = GarageError.unreadableValue(key: "theme", type: "Theme", reason: reason)
      #expect(error.description.contains("There is no such case. It was left as it is"))
    }
  }

  @Test func errorsCompareByWhatTheySay() {
    #expect(Set(ErrorTextTests.all).count == ErrorTextTests.all.count)
    #expect(GarageError.failedToRetrieveObject("A", "b") != .failedToRetrieveObject("A", "c"))
  }

  @Test func everyTextIsAWholeSentenceAndNamesWhatItIsAbout() {
    for error in ErrorTextTests.all {
      #expect(error.description.count > 10)
      #expect(!error.description.contains("GarageError"), "\(error.errorCode) has no text of its own")
      #expect(!error.description.contains("\n"))
    }
    #expect(GarageError.storage(ErrorTextTests.storageError).description.contains("Make room."))
    #expect(
      GarageError.corruptRecord(type: "T", identifier: "xyz", reason: "it is cut").description.contains("xyz")
    )
  }

  @Test func onlyStorageErrorsCanBeRetried() {
    #expect(ErrorTextTests.all.filter(\.isRetryable).isEmpty)
    var error = ErrorTextTests.storageError
    error.isRetryable = true
    #expect(GarageError.storage(error).isRetryable)
  }
}
