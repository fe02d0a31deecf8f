#if Command && Inspector
  import Foundation
  import GarageStorage
  import Synchronization

  /// Answers what the page asks about a store. Each answer describes one state of the store.
  final class InspectedStore: Sendable {
    /// How many rows the page gets at once, and how many neighbours of an object.
    static let maximumRowCount = 200
    static let maximumNeighbourCount = 200

    let place: StorePlace
    let isWritable: Bool
    private let garage: Garage
    private let news: InspectorNews
    /// The last listings, newest first. Each has the number of the change after which it was made.
    private let listings = Mutex<[(request: ListingRequest, version: Int, listing: ObjectListing)]>([])

    init(_ garage: Garage, at place: StorePlace, isWritable: Bool, news: InspectorNews) {
      self.garage = garage
      self.place = place
      self.isWritable = isWritable
      self.news = news
    }

    // MARK: - The store

    struct Facts: Encodable, Sendable {
      /// How many changes there were before.
      var version: Int
      var path: String
      var bytes: Int
      var isWritable: Bool
      var types: [TypeEntry]
      var keys: Int
    }

    struct TypeEntry: Encodable, Sendable {
      var type: String
      var objects: Int
      var bytes: Int
    }

    func facts() async throws -> Facts {
      let version = news.version
      let (types, keys) = try await garage.read { reader in
        let types = try reader.storedTypes().map {
          TypeEntry(type: $0.name, objects: $0.objectCount, bytes: $0.byteCount)
        }
        return (types, try reader.storedKeyCount())
      }
      return Facts(
        version: version, path: place.path, bytes: StorePlace.byteCount(at: place.path),
        isWritable: isWritable, types: types, keys: keys)
    }

    struct KeyEntry: Encodable, Sendable {
      var key: String
      var bytes: Int?
      var value: InspectedValue?
      /// Why it cannot be read.
      var error: String?
    }

    func keys() async throws -> [KeyEntry] {
      try await garage.read { reader in
        let names = TypeNames(reader)
        var damaged: [KeyEntry] = []
        let entries = try reader.storedKeyValues { error in
          switch error {
          case .corruptValue(let key, _), .newerRecordFormat(_, let key, _):
            damaged.append(KeyEntry(key: key, error: "\(error)"))
          default: throw error
          }
        }.map { KeyEntry(key: $0.name, bytes: $0.byteCount, value: InspectedValue($0.value, names: names)) }
        return entries + damaged
      }
    }

    func statistics() async throws -> StatisticsAnswer { StatisticsAnswer(try await garage.statistics()) }

    func verification() async throws -> VerificationAnswer {
      VerificationAnswer(try await garage.verify())
    }

    // MARK: - Objects

    struct Rows: Encodable, Sendable {
      struct Row: Encodable, Sendable {
        var key: String
        var id: String
        /// Its own class, if that differs from the listed type.
        var ownType: String?
        var bytes: Int?
        var modified: String?
        var cells: [String: InspectedValue] = [:]
        /// Why it cannot be read.
        var error: String?
      }

      var total: Int
      /// How many objects of the type were skipped because they are damaged.
      var unreadable: Int
      var offset: Int
      var columns: [String]
      var rows: [Row]
    }

    func rows(
      _ request: ListingRequest, offset: Int, limit: Int, isDescending: Bool
    ) async throws -> Rows {
      let version = news.version
      let known = listings.withLock { listings in
        listings.first { $0.request == request && $0.version == version }?.listing
      }
      let (listing, rows) = try await garage.read { reader in
        let listing = try known ?? ObjectListing(request, reader)
        if listing.count == 0, try reader.identifiers(ofTypeNamed: request.type, limit: 1).isEmpty {
          throw InspectorFailure(status: 404, "There are no objects of a type \(request.type).")
        }
        let names = TypeNames(reader)
        let rows = try listing.page(offset, limit, isDescending: isDescending, reader).map {
          try Self.row($0, request.type, reader, names)
        }
        return (listing, rows)
      }
      if known == nil { keep(listing, of: request, version) }
      return Rows(
        total: listing.count, unreadable: listing.unreadableCount, offset: offset,
        columns: listing.columns, rows: rows)
    }

    private func keep(_ listing: ObjectListing, of request: ListingRequest, _ version: Int) {
      listings.withLock { listings in
        listings.removeAll { $0.version != version || $0.request == request }
        listings.insert((request, version, listing), at: 0)
        if listings.count > 3 { listings.removeLast() }
      }
    }

    private static func row(
      _ identifier: Identifier, _ type: String, _ reader: some GarageReading, _ names: TypeNames
    ) throws -> Rows.Row {
      let identity = InspectedIdentity(type: type, identifier)
      var row = Rows.Row(key: identity.key, id: identity.id)
      do {
        guard let object = try reader.storedObject(ofTypeNamed: type, identifier: identifier) else {
          row.error = "It was deleted."
          return row
        }
        row.ownType = object.type == type ? nil : object.type
        row.bytes = object.byteCount
        row.modified = JSONValue.text(of: object.modificationDate)
        if let fields = object.value.fields {
          for (key, value) in fields.prefix(InspectedValue.maximumCount) {
            row.cells[key] = InspectedValue.cell(value, names: names)
          }
        } else {
          row.cells["(value)"] = InspectedValue.cell(object.value, names: names)
        }
      } catch let error {
        let failure = InspectorFailure(error)
        guard failure.status == 422 else { throw error }
        row.error = failure.message
      }
      return row
    }

    struct Object: Encodable, Sendable {
      var type: String
      var key: String
      var id: String
      var ownType: String?
      var modified: String
      var bytes: Int
      var syncStatus: String?
      var version: Int?
      var value: InspectedValue
    }

    func object(_ name: ObjectName) async throws -> Object {
      try await garage.read { reader in
        let identifier = try name.identifier(in: reader)
        guard let object = try reader.storedObject(ofTypeNamed: name.type, identifier: identifier) else {
          throw name.missing
        }
        let identity = InspectedIdentity(type: name.type, identifier)
        return Object(
          type: name.type, key: identity.key, id: identity.id,
          ownType: object.type == name.type ? nil : object.type,
          modified: JSONValue.text(of: object.modificationDate), bytes: object.byteCount,
          syncStatus: object.syncStatus.map { "\($0)" },
          version: object.typeVersion == 0 ? nil : object.typeVersion,
          value: InspectedValue(object.value, names: TypeNames(reader)))
      }
    }

    // MARK: - Around an object

    struct Neighbours: Encodable, Sendable {
      struct Neighbour: Encodable, Sendable {
        var object: InspectedIdentity
        /// How one object refers to the other.
        var kinds: [String]
        var exists: Bool
      }

      var object: InspectedIdentity
      /// The objects that it refers to.
      var targets: [Neighbour]
      var targetCount: Int
      /// The objects that refer to it.
      var referrers: [Neighbour]
      var referrerCount: Int
    }

    func neighbours(of name: ObjectName) async throws -> Neighbours {
      try await garage.read { reader in
        let names = TypeNames(reader)
        let identifier = try name.identifier(in: reader)
        let object = try reader.storedObject(ofTypeNamed: name.type, identifier: identifier)
        guard let object else { throw name.missing }
        let identity = try reader.identity(identifier, listedAs: name.type)
        var kinds: [RecordIdentity: [String]] = [:]
        var order: [RecordIdentity] = []
        for (target, kind) in object.value.referencesWithKinds {
          if kinds[target] == nil { order.append(target) }
          if kinds[target]?.contains("\(kind)") != true { kinds[target, default: []].append("\(kind)") }
        }
        let targets = order.prefix(Self.maximumNeighbourCount).map {
          Neighbours.Neighbour(
            object: InspectedIdentity($0, names: names), kinds: kinds[$0] ?? [], exists: reader.has($0))
        }
        let referrers = try reader.referrers(of: identity)
        return Neighbours(
          object: InspectedIdentity(type: name.type, identifier), targets: targets,
          targetCount: order.count,
          referrers: referrers.prefix(Self.maximumNeighbourCount).map {
            Neighbours.Neighbour(
              object: InspectedIdentity($0, names: names), kinds: reader.kinds(from: $0, to: identity),
              exists: true)
          }, referrerCount: referrers.count)
      }
    }

    // MARK: - Changing

    private func checkWritable() throws {
      if !isWritable {
        throw InspectorFailure(
          status: 403, "The store is open for reading only. Start the inspector with --write to change it.")
      }
    }

    func change(_ name: ObjectName, _ edit: ValueEdit) async throws {
      try checkWritable()
      let identifier = try await garage.read { try name.identifier(in: $0) }
      try await garage.changeStoredObject(ofTypeNamed: name.type, identifier: identifier) {
        try edit.apply(to: &$0, of: identifier)
      }
      news.tell()
    }

    func delete(_ name: ObjectName) async throws {
      try checkWritable()
      let identifier = try await garage.read { try name.identifier(in: $0) }
      try await garage.deleteStoredObject(ofTypeNamed: name.type, identifier: identifier)
      news.tell()
    }
  }

  /// An object as a request names it: by its type, and by the bytes or the text of its identifier.
  struct ObjectName: Sendable {
    var type: String
    var key: String?
    var id: String?

    var missing: InspectorFailure {
      InspectorFailure(status: 404, "There is no \(type) \"\(id ?? key ?? "")\".")
    }

    func identifier(in reader: some GarageReading) throws -> Identifier {
      if let id {
        guard let found = try reader.identifier(describedAs: id, ofTypeNamed: type) else { throw missing }
        return found
      }
      let digits = Array((key ?? "").utf8)
      let bytes = stride(from: 0, to: digits.count, by: 2).compactMap {
        UInt8(String(decoding: digits[$0..<min($0 + 2, digits.count)], as: UTF8.self), radix: 16)
      }
      guard digits.count == 2 * bytes.count, let identifier = Identifier(bytes: bytes) else {
        throw InspectorFailure(status: 400, "'\(key ?? "")' is no identifier in hexadecimal.")
      }
      return identifier
    }
  }

  extension GarageReading {
    /// Whether the target of a reference exists, damaged or not.
    fileprivate func has(_ identity: RecordIdentity) -> Bool {
      do { return try storedObject(identity) != nil } catch { return true }
    }

    /// How an object refers to another one.
    fileprivate func kinds(from referrer: RecordIdentity, to target: RecordIdentity) -> [String] {
      guard let object = try? storedObject(referrer) else { return [] }
      let kinds = object.value.referencesWithKinds.filter { $0.0 == target }.map { "\($0.1)" }
      return Set(kinds).sorted()
    }
  }
#endif
