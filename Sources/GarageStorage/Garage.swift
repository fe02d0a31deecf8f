package import GarageCoding
public import GarageDriver
internal import Synchronization

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A place where `Codable` objects are parked, each under its own identity. They come back as they were, with everything they
/// refer to.
///
/// ```swift
/// let garage = try Garage(SQLiteStorage(at: url))
/// try garage.park(sam)
/// let sam = try garage.retrieve(Person.self, identifier: "Sam")
/// ```
///
/// A garage works on any storage: a file, a folder, memory, or a driver of your own (`Docs/WritingADriver.md`). It can be used
/// from any thread or task. Its calls block until they are done. A change is on disk when its call returns, unless
/// ``isAutosaveEnabled`` is false.
///
/// To read the code, go on with `Verbs/Garage+Park.swift` and `Verbs/Garage+Retrieve.swift`, and then with
/// `Transactions/Garage+Access.swift`, through which every verb gets its transaction.
public final class Garage: Sendable {
  /// The domain of ``GarageError`` as an `NSError`.
  public static let errorDomain = "GarageStorage"

  /// Distinguishes it from every other garage of this process, including those that no longer exist.
  let number = Garage.lastNumber.add(1, ordering: .relaxed).newValue
  private static let lastNumber = Atomic<UInt64>(0)
  /// The storage, and the changes that are not saved to it yet.
  let store: SavingStore
  /// Turns objects into records.
  let encoder: GraphEncoder
  /// The keys under which objects are kept.
  let objectKeys: ObjectKeys
  /// The types the garage was told about.
  let types: RegisteredTypes
  /// Whether one of these types has rules for other objects when its objects are deleted.
  let hasDeleteRules: Bool
  /// The texts of type tags and shapes in the store.
  let texts = StoreTexts()
  /// The indexes of the store, and those that types declare.
  let indexing: Indexing
  /// The types of which objects of the store were looked at.
  let surveyedTypes = SurveyedTypes()
  /// The source of records for the decoder, while no call uses it.
  let idleSource = Reusable<TransactionSource>()
  /// The `userInfo` of every coder.
  let userInfo: [CodingUserInfoKey: any Sendable]
  /// How dates are coded unless a closure sets another strategy.
  let dates: (encoding: DateEncodingStrategy, decoding: DateDecodingStrategy)
  /// The number of running closures, on all tasks, that set a date strategy.
  let dateScopeCount = Atomic<Int>(0)
  /// The number of running closures, on all tasks, whose changes stay unsaved.
  let unsavedScopeCount = Atomic<Int>(0)
  let autosave = Atomic<Bool>(true)
  let severalCores = Atomic<Bool>(true)
  /// Lets tasks that change the same key take turns.
  let keyTurns = KeyTurns()
  let propertyErrors = Mutex<(@Sendable (any Error) -> Void)?>(nil)
  private let isClosed = Atomic<Bool>(false)
  /// Counts the running calls, so that ``close()`` can wait for them. Nil if `close()` closes the driver, because drivers count
  /// their own.
  let calls: StorageLifetime?

  /// Opens the garage in a storage. If the storage is empty, makes a garage there.
  ///
  /// - Parameters:
  ///   - driver: where to keep the objects, for instance `SQLiteStorage(at: url)`.
  ///   - types: classes of objects that calls do not name themselves: subclasses.
  ///   - userInfo: the `userInfo` of the coder in your `encode(to:)` and `init(from:)`.
  ///   - dateEncodingStrategy: how dates are encoded; by default exactly. See ``withDateEncodingStrategy(_:_:)``.
  ///   - dateDecodingStrategy: how dates are decoded that were not encoded exactly.
  ///   - hidesIdentifiers: whether the storage's keys hold a keyed hash in place of each identifier. A sealed storage leaves
  ///     identifiers readable otherwise. It requires a sealed storage, and is settled when the garage is made: a garage that
  ///     hides identifiers does so however it is opened. See ``hidesIdentifiers``.
  ///   - referrers: whether the store is to have an index of references, by which the objects that refer to another are found
  ///     fast. Once it exists, every garage that opens the store keeps it up. `Docs/Relations.md` says what it costs.
  /// - Throws: ``GarageError/notAGarage(driver:)`` for a store that holds something else,
  ///   ``GarageError/newerFormat(version:driver:)``, ``GarageError/damagedMetadata(driver:)``,
  ///   ``GarageError/sealed(driver:)`` for a sealed store without its key,
  ///   ``GarageError/noGarage(driver:)`` for an empty store that is opened for reading only,
  ///   ``GarageError/identifiersNotHidden(driver:reason:)`` if identifiers are to be hidden and cannot be,
  ///   ``GarageError/invalidTypeTag(type:reason:)`` for `types` whose tags are in conflict,
  ///   ``GarageError/invalidIndex(type:index:reason:)`` for a readable index of references in a sealed storage, and
  ///   ``GarageError/storage(_:)``. After any error the store is as it was.
  public convenience init(
    _ driver: any StorageDriver, types: [any Codable.Type] = [],
    userInfo: [CodingUserInfoKey: any Sendable] = [:],
    dateEncodingStrategy: JSONEncoder.DateEncodingStrategy = .deferredToDate,
    dateDecodingStrategy: JSONDecoder.DateDecodingStrategy = .deferredToDate,
    hidesIdentifiers: Bool = false, referrers: ReferrerOption = .asStored
  ) throws {
    try self.init(
      driver, types: types, userInfo: userInfo, fixedTime: nil,
      dates: (dateEncodingStrategy, dateDecodingStrategy), hiding: hidesIdentifiers ? .required : .asStored,
      referrers: referrers)
  }

  /// - Parameter fixedTime: the time that is written into everything, in milliseconds since 1970-01-01 UTC, for bytes that are
  ///   to be compared. Nil asks the clock.
  package init(
    _ driver: any StorageDriver, types: [any Codable.Type], userInfo: [CodingUserInfoKey: any Sendable],
    fixedTime: UInt64?,
    dates: (encoding: DateEncodingStrategy, decoding: DateDecodingStrategy) = (
      .deferredToDate, .deferredToDate
    ), hiding: IdentifierHiding = .asStored, referrers: ReferrerOption = .asStored
  ) throws {
    try referrers.check(driver)
    let ownDriver = driver.info.isDurable ? driver : (driver as? any SeparableStorage)?.separated()
    calls = ownDriver == nil ? StorageLifetime(driver: driver.info.name) : nil
    self.userInfo = userInfo
    self.dates = dates
    self.types = try translatingErrors { try RegisteredTypes(types) }
    objectKeys = try translatingErrors {
      try ObjectKeys(opening: ownDriver ?? driver, hiding, fixedTime: fixedTime)
    }
    hasDeleteRules = types.contains { $0 is any DeleteRules.Type }
    indexing = Indexing(objectKeys, texts, driver: driver.info.name)
    indexing.declare(referrers)
    store = SavingStore(ownDriver ?? driver, indexing, garage: number)
    encoder = GraphEncoder(
      keyPrefix: KeyLayout.recordPrefix, userInfo: userInfo, fixedTime: fixedTime,
      writesWholeIdentifiers: objectKeys.hidesIdentifiers)
  }

  /// Whether the storage's keys hold keyed hashes in place of identifiers, so that nobody can read identifiers there.
  ///
  /// Everything else works in the same way, except that objects come in an order without meaning, though always in the same
  /// one. `Docs/Encryption.md` says what stays readable nevertheless.
  public var hidesIdentifiers: Bool { objectKeys.hidesIdentifiers }

  /// Ends the use of the store. Later calls throw ``GarageError/closed``; closing again does nothing.
  ///
  /// Waits for the calls of other threads, and closes the storage that the garage was opened with. There is one exception: a
  /// storage whose content would be lost (`StorageInfo.isDurable` is false: `MemoryStorage`) is left open. The garage then only
  /// detaches from it. Other garages on it go on, and it can be opened again.
  ///
  /// Unsaved changes are dropped; call ``save()`` first.
  ///
  /// - Throws: ``GarageError/storage(_:)`` inside a transaction of this garage, and if the engine fails.
  public func close() throws {
    try translatingErrors {
      if let calls { try calls.close {} } else { try store.driver.close() }
      isClosed.store(true, ordering: .releasing)
      store.news.end(garage: number, closing: calls == nil ? store.driver : nil)
    }
  }

  /// - Throws: ``GarageError/closed``.
  func checkOpen() throws {
    if isClosed.load(ordering: .acquiring) { throw GarageError.closed }
  }
}
