public import Foundation
internal import GarageCoding
public import GarageStorage

/// Imports the objects that GarageStorage (for Swift or Objective-C) has parked into a garage. It needs no Core Data and runs
/// on any platform.
///
/// ```swift
/// var importer = GarageStorageImporter(storeAt: url, types: [Person.self, Boat.self], names: ["MCItem": Item.self])
/// let report = try importer.importObjects(into: garage)
/// ```
/// Every object is decoded as the app's type of its name. It is parked under its identity, with the time of its last change
/// and, if its type is `Syncable`, its status. References are followed as the store has them: as text in `Codable` objects, and
/// with their type in mapped ones. Objects that cannot be decoded are reported, and the rest are imported. Everything is
/// imported in one write: an error leaves the garage as it was.
///
/// The store is first copied to a temporary folder, with its write-ahead log. The original is never opened. Close
/// GarageStorage's own garage before the import. All objects are in memory until the import is done.
///
/// Objects that the garage already has under the same identities are replaced.
public struct GarageStorageImporter {
  private let url: URL
  private let types: [any Codable.Type]
  private let names: [String: any Codable.Type]

  /// The app's own strategy for dates in `Codable` objects, if it had one. Nil: the strategy of GarageStorage
  /// (`yyyy-MM-dd'T'HH:mm:ssZZZZZ`).
  public var dateDecodingStrategy: JSONDecoder.DateDecodingStrategy?

  /// Decrypts as the app's encryption delegate did; nil if the app had none.
  public var decrypt: ((String) throws -> Data)?

  /// Called with each object after it was parked, inside the write of the import. Use it for attributes that records do not
  /// have, such as the date of creation. An error that it throws ends the import, and leaves the garage as it was.
  public var didImport: ((ImportedGarageStorageObject) throws -> Void)?

  /// An importer of one store.
  ///
  /// - Parameters:
  ///   - url: GarageStorage's SQLite file.
  ///   - types: the types of the parked objects, found by their unqualified names.
  ///   - names: types that the store has under other names, by these names: Objective-C classes, renamed types, and several
  ///     types with the same unqualified name.
  ///   - decrypt: decrypts as the app's encryption delegate did.
  public init(
    storeAt url: URL, types: [any Codable.Type], names: [String: any Codable.Type] = [:],
    decrypt: ((String) throws -> Data)? = nil
  ) {
    self.url = url
    self.types = types
    self.names = names
    self.decrypt = decrypt
  }

  /// Imports all objects.
  ///
  /// - Throws: ``GarageStorageImportError`` for a store that cannot be read at all; `GarageError` for types that cannot be
  ///   parked, and for failures of the garage; and the errors of ``didImport``.
  public func importObjects(into garage: Garage) throws -> GarageStorageImportReport {
    let found = try find(for: garage)
    return try garage.write { try importAll(found, $0) }
  }

  /// Imports all objects on a thread of the library's. The code of their types runs there (`init(from:)`, `encode(to:)`,
  /// `objectMapping`, `indexes`), and ``decrypt`` and ``didImport`` are called there, too. If a type belongs to an actor, call the
  /// verb that is not async, from a function of that actor that is not async either.
  ///
  /// - Throws: as ``importObjects(into:)``, and `CancellationError` if the task was cancelled before the write began.
  nonisolated(nonsending)
    public func importObjects(into garage: Garage) async throws -> GarageStorageImportReport
  {
    let found = try await garage.preparing { try find(for: garage) }
    return try await garage.changing(retrying: 0) { try importAll(found, $0) }
  }

  // MARK: - What there is

  /// The objects to be parked, and what decodes them.
  private struct Found {
    let source: LegacySource
    let session: GraphDecodingSession
    /// A report that lists the objects that cannot be parked.
    let report: GarageStorageImportReport
  }

  private func find(for garage: Garage) throws -> Found {
    let types = try LegacyTypes(types, names: names)
    let file = try CoreDataFile(copying: url)
    var report = GarageStorageImportReport()
    let objects = try findObjects(in: file, types, &report)
    let source = LegacySource(objects, file: file, payload: LegacyPayload(types: types, decrypt: decrypt))
    let session = garage.makeImportSession(
      source: source, types: try RegisteredTypes(types.all), foreign: LegacyDates(dateDecodingStrategy))
    session.listenToFailures { source.lose($0, metWith: $1) }
    return Found(source: source, session: session, report: report)
  }

  private func importAll(_ found: Found, _ writer: GarageWriter) throws -> GarageStorageImportReport {
    // A new copy, because the write may be repeated.
    var report = found.report
    for place in found.source.objects.indices {
      try importObject(place, found.source, found.session, writer, &report)
    }
    report.failures.sort { $0.row < $1.row }
    return report
  }

  private func findObjects(
    in file: CoreDataFile, _ types: LegacyTypes, _ report: inout GarageStorageImportReport
  ) throws -> [LegacyObject] {
    var objects: [LegacyObject] = []
    var places: [[UInt8]: Int] = [:]
    var failures: [GarageStorageImportReport.Failure] = []
    let lost = try file.scan { row in
      guard let name = row.typeName else { return failures.append(row.failure("it has no type")) }
      guard let type = types.type(named: name) else {
        return failures.append(row.failure(types.reasonForNone(named: name)))
      }
      guard let identity = identity(of: row, type, place: objects.count) else {
        return failures.append(row.failure("it has no identifier"))
      }
      let object = LegacyObject(row: row, type: type, identity: identity)
      let key = RecordKey.bytes(of: identity)
      guard let place = places[key] else {
        places[key] = objects.count
        return objects.append(object)
      }
      // GarageStorage does not ensure that each identifier is used once.
      let isNewer = row.modified >= objects[place].row.modified
      failures.append(
        (isNewer ? objects[place].row : row).failure("there is a newer object of the same identifier"))
      if isNewer { objects[place] = object }
    }
    report.failures = failures
    for (key, reason) in lost {
      report.failures.append(.init(row: key, typeName: "", identifier: "", reason: reason))
    }
    return objects
  }

  /// The identity of an object. The hash values of objects that are identified by their content mean nothing any more: such
  /// objects get a digest when they are parked.
  private func identity(of row: LegacyRow, _ type: LegacyTypes.Known, place: Int) -> RecordIdentity? {
    guard let tag = try? TypeDescription.of(type.type).identityTag.digest else { return nil }
    guard type.isIdentified else { return LegacySource.unnamed(place, tag: tag) }
    return row.identifier.flatMap { try? TypeDescription.identity(of: type.type, id: $0) }
  }

  // MARK: - One object

  private func importObject(
    _ place: Int, _ source: LegacySource, _ session: GraphDecodingSession, _ writer: GarageWriter,
    _ report: inout GarageStorageImportReport
  ) throws {
    let legacy = source.objects[place]
    func fail(_ reason: String) { report.failures.append(legacy.row.failure(reason)) }
    if let reason = source.reasonOfLoss(place) { return fail(reason) }
    let object: any Codable
    do { object = try decode(legacy.type.type, place, source, session) } catch {
      source.lose(place, error)
      return fail(source.reasonOfLoss(place) ?? describedAsGarageError(error))
    }
    let graph: EncodedGraph
    do {
      let time = legacy.row.modificationDate.map(milliseconds)
      graph = try writer.garage.encode(alone: object, time: time) { !source.has($0) }
    } catch {
      return fail(describedAsGarageError(error))
    }
    guard let identity = graph.roots.first else { return }
    try writer.put(graph)
    report.importedCounts[legacy.type.name, default: 0] += 1
    if legacy.type.isIdentified, identity.identifier != legacy.identity.identifier {
      report.notices.append(
        legacy.row.failure("it was parked under its own identifier, \"\(identity.identifier)\""))
    }
    if let status = legacy.row.syncStatus, status != 0, legacy.syncStatus == nil {
      let reason = legacy.type.isSyncable ? "there is no such status" : "\(legacy.type.name) is not Syncable"
      report.notices.append(legacy.row.failure("its sync status (\(status)) was dropped, because \(reason)"))
    }
    for (name, reason) in source.strangers(in: place) where report.strangers.insert(name).inserted {
      report.notices.append(
        legacy.row.failure(
          "an anonymous \(name) in it, as any in others, was read as its property's class, because \(reason)")
      )
    }
    try didImport?(
      ImportedGarageStorageObject(
        object: object, identifier: identity.identifier, typeName: legacy.row.typeName ?? "",
        formerIdentifier: legacy.row.identifier, creationDate: legacy.row.creationDate,
        modificationDate: legacy.row.modificationDate, syncStatus: legacy.row.syncStatus))
  }

  /// An error makes the session forget what it has decoded, including what another object did to this one. So the object is
  /// decoded again, and finally without the hints, which may lead into a circle that is none.
  private func decode<T: Codable>(
    _ type: T.Type, _ place: Int, _ source: LegacySource, _ session: GraphDecodingSession
  ) throws -> any Codable {
    let identity = source.objects[place].identity
    func object(_ identity: RecordIdentity) throws -> any Codable {
      guard let object = try session.object(type, identity) else {
        throw LegacyPayloadError(reason: "it is of another class than its type says")
      }
      return object
    }
    let first: any Error
    do { return try object(identity) } catch {
      examineCulprit(of: error, place, source, session)
      // If so, neither hints nor other objects are to blame.
      if source.losses.has(place) || source.namesLost(error) { throw error }
      first = error
    }
    source.hints = false
    defer { source.hints = true }
    do { return try object(identity) } catch let error as GraphCodingError {
      switch error {
      case .identityMismatch:
        guard let unnamed = LegacySource.unnamed(place, tag: identity.tag) else { throw error }
        return try object(unnamed)
      // Without hints a long chain is deeper than the stack.
      case .cycle, .nestingTooDeep: throw first
      default: throw error
      }
    }
  }

  /// Checks whether the object that an error names can be decoded by itself. If not, it is lost, and the objects that need it
  /// need not be tried.
  private func examineCulprit(
    of error: any Error, _ place: Int, _ source: LegacySource, _ session: GraphDecodingSession
  ) {
    guard let culprit = source.place(namedIn: error), culprit != place, source.losses.examine(culprit) else {
      return
    }
    func decode<T: Codable>(_ type: T.Type) throws {
      _ = try session.object(type, source.objects[culprit].identity)
    }
    do {
      try decode(source.objects[culprit].type.type)
      session.reset()
    } catch {
      source.lose(culprit, error)
    }
  }
}

/// Milliseconds since 1970-01-01 UTC, as close as the 48 bits in a record allow.
private func milliseconds(_ date: Date) -> UInt64 {
  let time = date.timeIntervalSince1970 * 1000
  guard time > 0 else { return 0 }
  return time < 0x1p48 ? UInt64(time) : (1 << 48) - 1
}

extension LegacyRow {
  fileprivate var modified: Date { modificationDate ?? creationDate ?? .distantPast }

  fileprivate func failure(_ reason: String) -> GarageStorageImportReport.Failure {
    .init(row: key, typeName: typeName ?? "", identifier: identifier ?? "", reason: reason)
  }
}
