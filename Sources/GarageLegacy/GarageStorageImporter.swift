public import Foundation
internal import GarageCoding
public import GarageStorage

/// Brings what GarageStorage (for Swift or Objective-C) has parked into a garage, without Core Data and on any
/// platform.
///
/// ```swift
/// var importer = GarageStorageImporter(storeAt: url, types: [Person.self, Boat.self], names: ["MCItem": Item.self])
/// let report = try importer.importObjects(into: garage)
/// ```
/// Every object is decoded as the app's type of its name, and parked under its identity with the time of its last
/// change and, where its type is `Syncable`, its status. References are followed as they stood: as text in `Codable`
/// objects, with their type in mapped ones. What cannot be decoded is reported, and the rest taken over. The garage
/// gets all of it in one write: an error leaves it as it was.
///
/// The store is copied to a temporary folder first, with its write-ahead log; the original is not even opened. Close
/// GarageStorage's own garage before. All objects are in memory until the import is done.
///
/// Objects of one identity that the garage has already are replaced.
public struct GarageStorageImporter {
  private let url: URL
  private let types: [any Codable.Type]
  private let names: [String: any Codable.Type]

  /// The app's own strategy for dates in `Codable` objects, where it had one. Nil: GarageStorage's
  /// (`yyyy-MM-dd'T'HH:mm:ssZZZZZ`).
  public var dateDecodingStrategy: JSONDecoder.DateDecodingStrategy?

  /// What the app's encryption delegate did to decrypt; nil where it had none.
  public var decrypt: ((String) throws -> Data)?

  /// Called with each object after it was parked, inside the write that the import is. For what records have no place
  /// for, such as the date of creation. What it throws ends the import, which then leaves the garage as it was.
  public var didImport: ((ImportedGarageStorageObject) throws -> Void)?

  /// An importer of one store.
  ///
  /// - Parameters:
  ///   - url: GarageStorage's SQLite file.
  ///   - types: the types that were parked, found by their unqualified names.
  ///   - names: types that had other names, by these: of Objective-C classes, of types that were renamed, and of
  ///     several types with one unqualified name.
  ///   - decrypt: what the app's encryption delegate did to decrypt.
  public init(
    storeAt url: URL, types: [any Codable.Type], names: [String: any Codable.Type] = [:],
    decrypt: ((String) throws -> Data)? = nil
  ) {
    self.url = url
    self.types = types
    self.names = names
    self.decrypt = decrypt
  }

  /// Imports everything.
  ///
  /// - Throws: ``GarageStorageImportError`` for a store that cannot be read at all, `GarageError` for types that cannot
  ///   be parked and for what fails in the garage, and what ``didImport`` throws.
  public func importObjects(into garage: Garage) throws -> GarageStorageImportReport {
    let found = try find(for: garage)
    return try garage.write { try importAll(found, $0) }
  }

  /// Imports everything, on a thread of the library's; so do ``decrypt`` and ``didImport``.
  ///
  /// - Throws: as ``importObjects(into:)``, and `CancellationError` where the task was cancelled before the write began.
  nonisolated(nonsending)
    public func importObjects(into garage: Garage) async throws -> GarageStorageImportReport
  {
    let found = try await garage.preparing { try find(for: garage) }
    return try await garage.changing(retrying: 0) { try importAll(found, $0) }
  }

  // MARK: - What there is

  /// What is to be parked, and what decodes it.
  private struct Found {
    let source: LegacySource
    let session: GraphDecodingSession
    /// With what cannot be parked.
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
    // From the start, should the write be repeated.
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
      // GarageStorage does not see to it that there is one of each.
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

  /// Values that are identified by their content have hash values that mean nothing any more: they get a digest when
  /// they are parked.
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

  /// An error makes the session forget what it has decoded: what another object did to this one goes with it. So it
  /// is tried again, in the end without the hints, which may lead into a circle that is none.
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
      // Neither hints nor other objects are to blame then.
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

  /// Looks whether the object that an error names can be decoded by itself: if not, it is lost, and nobody who needs it has to
  /// be tried.
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

/// Milliseconds since 1970-01-01 UTC, as near as a record's 48 bits have them.
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
