#if Command && Inspector
  import Foundation
  import GarageStorage

  /// Which objects of a type are listed, and by what they are sorted, in ascending order.
  struct ListingRequest: Hashable, Sendable {
    /// Keys to sort by that are not fields.
    static let identifier = "$id"
    static let modified = "$modified"
    static let bytes = "$bytes"

    var type: String
    /// A condition on stored fields; nil lists all objects.
    var filter: String?
    /// A field, or one of the keys above; nil sorts by identifier.
    var sort: String?
    /// Whether records have to be read for the answer.
    var readsObjects: Bool { filter != nil || sort != nil && sort != Self.identifier }
  }

  /// The listed objects, in order, of one state of the store.
  struct ObjectListing: Sendable {
    private enum Order: Sendable {
      /// All objects by identifier. Of a million objects it keeps some thousands of identifiers.
      case all(StoredObjectIndex)
      /// Some of the objects, or all in another order.
      case chosen([Identifier])
    }

    private var order = Order.chosen([])
    /// The fields of the first objects.
    private(set) var columns: [String] = []
    /// How many objects of the type cannot be read, and are left out.
    private(set) var unreadableCount = 0

    private static let sampleCount = 100

    /// How many objects the listing has.
    var count: Int {
      switch order {
      case .all(let index): index.count
      case .chosen(let identifiers): identifiers.count
      }
    }

    /// A part of the listing, in ascending or descending order.
    func page(
      _ offset: Int, _ limit: Int, isDescending: Bool, _ reader: some GarageReading
    ) throws -> [Identifier] {
      let end = min(count, offset + limit)
      if offset >= end { return [] }
      let range = isDescending ? count - end..<count - offset : offset..<end
      let part =
        switch order {
        // Damaged objects were counted before, and cannot be shown.
        case .all(let index):
          try reader.identifiers(in: index, from: range.lowerBound, limit: range.count) { _ in }
        case .chosen(let identifiers): Array(identifiers[range])
        }
      return isDescending ? part.reversed() : part
    }

    /// - Throws: ``CommandFailure`` if the filter cannot be read; the errors of reading, except those about damaged objects.
    init(_ request: ListingRequest, _ reader: some GarageReading) throws {
      let condition = try request.filter.map { try FieldCondition($0) }
      if !request.readsObjects {
        order = .all(try reader.objectIndex(ofTypeNamed: request.type))
        let sample = try reader.identifiers(ofTypeNamed: request.type, limit: Self.sampleCount) { _ in
          unreadableCount += 1
        }
        for identifier in sample { note(try read(identifier, request.type, reader)) }
        return
      }
      var found: [(identifier: Identifier, key: SortKey, place: Int)] = []
      var hiddenCount = 0
      try reader.forEachIdentifier(ofTypeNamed: request.type, onDamage: { _ in hiddenCount += 1 }) {
        identifier in
        let object = try read(identifier, request.type, reader)
        if let condition, object.map({ condition.holds(for: $0.value) }) != true { return true }
        let key = object.map { SortKey($0, by: request.sort) } ?? .nothing
        if found.count < Self.sampleCount { note(object) }
        found.append((identifier, key, found.count))
        return true
      }
      unreadableCount += hiddenCount
      if request.sort != nil { found.sort { ($0.key, $0.place) < ($1.key, $1.place) } }
      order = .chosen(found.map(\.identifier))
    }

    /// An object; nil if it is damaged, or was just deleted.
    private mutating func read(
      _ identifier: Identifier, _ type: String, _ reader: some GarageReading
    ) throws -> StoredObject? {
      do { return try reader.storedObject(ofTypeNamed: type, identifier: identifier) } catch let error {
        guard (error as? GarageError)?.isOfOneEntry == true else { throw error }
        unreadableCount += 1
        return nil
      }
    }

    private mutating func note(_ object: StoredObject?) {
      for key in object?.value.keys ?? [] where !columns.contains(key) { columns.append(key) }
    }
  }

  /// What an object is sorted by: nothing comes first, then truth values, numbers and dates, text, and all other values.
  private enum SortKey: Comparable {
    case nothing
    case flag(Int)
    case number(Double)
    case text(String)
    case other

    init(_ object: StoredObject, by field: String?) {
      switch field {
      case nil, ListingRequest.identifier: self = .nothing
      case ListingRequest.modified: self = .number(object.modificationDate.timeIntervalSince1970)
      case ListingRequest.bytes: self = .number(Double(object.byteCount))
      case .some(let field): self = SortKey(object.value[field])
      }
    }

    private init(_ value: RecordValue?) {
      switch value {
      case nil, .null: self = .nothing
      case .bool(let value): self = .flag(value ? 1 : 0)
      case .date(let date): self = .number(date.timeIntervalSince1970)
      case .string(let text): self = .text(text)
      case .uuid(let uuid): self = .text(uuid.uuidString)
      case .reference(let identity, _): self = .text("\(identity.identifier)")
      case .versioned(_, let inner), .withSyncStatus(_, let inner): self = SortKey(inner)
      default:
        // NaN has no place in the order of numbers.
        self = value?.doubleValue.map { .number($0.isNaN ? -.infinity : $0) } ?? .other
      }
    }
  }
#endif
