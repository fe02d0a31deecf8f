package import GarageCoding
public import GarageDriver
internal import Synchronization

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A place where `Codable` objects are parked, each under its own identity, and come back as they were,
/// with everything they refer to.
///
/// ```swift
/// let garage = try Garage(SQLiteStorage(at: url))
/// try garage.park(sam)
/// let sam = try garage.retrieve(Person.self, identifier: "Sam")
/// ```
///
/// A garage works on any storage: a file, a folder, memory, or something of your own
/// (`Docs/WritingADriver.md`). It can be used from any thread or task. Its calls block until they are done;
/// a change is on disk when its call returns, unless ``isAutosaveEnabled`` is false.
///
/// Read on in `Verbs/Garage+Park.swift` and `Verbs/Garage+Retrieve.swift`, and then in
/// `Transactions/Garage+Access.swift`, through which every verb gets its transaction.
public final class Garage: Sendable {
  /// The domain of ``GarageError`` as an `NSError`.
  public static let errorDomain = "GarageStorage"

  /// Tells it from every other garage of this process, also one that is gone.
  let number = Garage.lastNumber.add(1, ordering: .relaxed).newValue
  private static let lastNumber = Atomic<UInt64>(0)
  /// The storage, and the changes that are not saved to it yet.
  let store: SavingStore
  /// Turns objects into records.
  let encoder: GraphEncoder
  /// The keys that objects are kept under.
  let objectKeys: ObjectKeys
  /// The types the garage was told about.
  let types: RegisteredTypes
  /// Whether one of these says what becomes of others when its objects are deleted.
  let hasDeleteRules: Bool
  /// The texts of type tags and shapes in the store.
  let texts = StoreTexts()
  /// The indexes of the store, and those that types declare.
  let indexing: Indexing
  /// What hands records to the decoder, between two calls.
  let idleSource = Reusable<TransactionSource>()
  /// What coders find in `userInfo`.
  let userInfo: [CodingUserInfoKey: any Sendable]
  /// How dates are coded where no closure says otherwise.
  let dates: (encoding: DateEncodingStrategy, decoding: DateDecodingStrategy)
  /// How many closures with a strategy of their own are running, on whatever task.
  let dateScopeCount = Atomic<Int>(0)
  /// How many closures are running, on whatever task, whose changes stay unsaved.
  let unsavedScopeCount = Atomic<Int>(0)
  let autosave = Atomic<Bool>(true)
  let severalCores = Atomic<Bool>(true)
  /// Tasks that change one key, in turn.
  let keyTurns = KeyTurns()
  let propertyErrors = Mutex<(@Sendable (any Error) -> Void)?>(nil)
  private let isClosed = Atomic<Bool>(false)
  /// Counts the calls that are running, so that ``close()`` can wait for them. Nil where that closes the driver:
  /// drivers count their own.
  let calls: StorageLifetime?

  /// Opens the garage in a storage; makes one where the storage is empty.
  ///
  /// - Parameters:
  ///   - driver: where to keep the objects, for instance `SQLiteStorage(at: url)`.
  ///   - types: classes that objects may have beyond those that calls name: subclasses.
  ///   - userInfo: what your `encode(to:)` and `init(from:)` find in the `userInfo` of their coder.
  ///   - dateEncodingStrategy: how dates are encoded; by default exactly. See
  ///     ``withDateEncodingStrategy(_:_:)``.
  ///   - dateDecodingStrategy: how dates are decoded that were not encoded exactly.
  ///   - hidesIdentifiers: whether a keyed hash stands in the keys of the storage in place of identifiers, which
  ///     a sealed storage leaves readable. It takes one, and is settled when the garage is made; a garage that
  ///     hides them does so however it is opened. See ``hidesIdentifiers``.
  ///   - referrers: whether the store is to have an index of references, by which those who refer to an object are found
  ///     fast. Once it is there, every garage that opens the store keeps it up. `Docs/Relations.md` says what it costs.
  /// - Throws: ``GarageError/notAGarage(driver:)`` for a store that holds something else,
  ///   ``GarageError/newerFormat(version:driver:)``, ``GarageError/damagedMetadata(driver:)``,
  ///   ``GarageError/sealed(driver:)`` for a sealed one without its key,
  ///   ``GarageError/noGarage(driver:)`` for an empty one that is opened for reading only,
  ///   ``GarageError/identifiersNotHidden(driver:reason:)`` where they were to be and cannot,
  ///   ``GarageError/invalidTypeTag(type:reason:)`` for `types` whose tags are in conflict,
  ///   ``GarageError/invalidIndex(type:index:reason:)`` for a readable index of references in a sealed storage, and
  ///   ``GarageError/storage(_:)``. Whatever is thrown, the store is as it was.
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

  /// - Parameter fixedTime: the time that everything written bears, in milliseconds since 1970-01-01 UTC, for
  ///   bytes that are compared; nil asks the clock.
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

  /// Whether keyed hashes stand in the storage's keys in place of identifiers, so that nobody reads these there.
  ///
  /// Everything works as it does otherwise, except that objects come in no order that says anything, though always
  /// in the same. `Docs/Encryption.md` says what stays readable all the same.
  public var hidesIdentifiers: Bool { objectKeys.hidesIdentifiers }

  /// Ends the use of the store. Later calls throw ``GarageError/closed``; closing again does nothing.
  ///
  /// Waits for the calls of other threads, and closes the storage that the garage was opened with. A storage
  /// that does not outlive its value (`StorageInfo.isDurable` is false: `MemoryStorage`) is left open instead:
  /// its content would be lost, so the garage only detaches from it, and it can be opened again. Other garages on it
  /// go on.
  ///
  /// Unsaved changes are dropped; ``save()`` first.
  ///
  /// - Throws: ``GarageError/storage(_:)`` inside a transaction of this garage, and where the engine fails.
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
