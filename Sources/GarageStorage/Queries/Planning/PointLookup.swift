internal import GarageCoding
internal import GarageDriver
internal import Synchronization

/// Where the index entries stand that a query for one value of a property needs, or a query in the order of that property.
///
/// It is the result of planning, kept for later queries, which would otherwise spend most of their time on planning: the index of
/// this property alone, whose entries answer the query without a further check. If there is no such index, that is kept as well.
///
/// A lookup is valid as long as the store has the catalog of indexes that it was made from. Each query checks that in its own
/// transaction, because this process or another one may have declared, built or dropped indexes since.
final class PointLookup: @unchecked Sendable {
  // Unchecked because of the key path, which is only compared.
  /// The property. The reference keeps the key path alive, so that no other one gets its address.
  fileprivate let property: AnyKeyPath
  private let catalog: IndexCatalog
  /// The bytes that all entries of the index begin with; nil if there is no index that answers such queries.
  let prefix: [UInt8]?
  /// The kind of values that the lookup can be used for; nil for a lookup of all objects in order.
  let kind: UInt8?
  /// Whether at most one object has each value.
  let isUnique: Bool

  /// The name of the state of the storage in which the catalog was last found to be valid; 0 if there is none.
  private let seen = Atomic<UInt64>(0)

  init(
    _ property: AnyKeyPath, _ catalog: IndexCatalog, prefix: [UInt8]?, kind: UInt8? = nil,
    isUnique: Bool = false
  ) {
    (self.property, self.catalog, self.prefix) = (property, catalog, prefix)
    (self.kind, self.isUnique) = (kind, isUnique)
  }

  /// Whether the lookup is valid for the state that a transaction sees.
  ///
  /// - Parameter state: the name of that state; nil if it has none.
  func holds(in access: ReadAccess, _ state: UInt64?) throws -> Bool {
    if let state, state == seen.load(ordering: .relaxed) { return true }
    guard try catalog.isStored(in: access.transaction) else { return false }
    if let state { seen.store(state, ordering: .relaxed) }
    return true
  }

  /// The lookups that queries used last. The place of each is computed from the address of its key path, and a new lookup
  /// replaces the one that had the place before. A key path literal in a program gives the same object each time, so it has one
  /// address.
  struct Table: ~Copyable {
    private let places = Mutex([PointLookup?](repeating: nil, count: 32))

    private func place(_ property: AnyKeyPath) -> Int {
      let address = ObjectIdentifier(property).address
      return Int((address >> 4 ^ address >> 9) % 32)
    }

    func find(_ property: AnyKeyPath) -> PointLookup? {
      let place = place(property)
      return places.withLock { $0[place] }.flatMap { $0.property === property ? $0 : nil }
    }

    func note(_ lookup: PointLookup) {
      let place = place(lookup.property)
      // The lookup that is replaced is returned, so that it is released outside of the lock.
      _ = places.withLock { places in
        defer { places[place] = lookup }
        return places[place]
      }
    }
  }
}

extension Query {
  /// Finds the objects of a query whose whole condition is that one property equals a value, if there is an index of this
  /// property alone. A ``QueryRun`` would find the same objects, but needs several times as long, because of what it prepares.
  ///
  /// - Parameter found: gets each object.
  /// - Returns: false if a ``QueryRun`` is needed. Then `found` was not called.
  func visitByValue(_ access: ReadAccess, _ found: (consuming Root) throws -> Void) throws -> Bool {
    guard sortKeys.isEmpty, maximumCount != 0, case .comparison(let comparison)? = condition?.node,
      let (property, value) = comparison.equality
    else { return false }
    // Here each record would take a round trip of its own. A `QueryRun` asks for many at once.
    if access.fetchesAhead { return false }
    switch value {
    case .number(let number) where !number.isNaN: break
    case .date(let seconds) where !seconds.isNaN: break
    case .text, .uuid: break
    default: return false
    }
    let facts = try RecordTypeFacts.of(Root.self)
    if facts.ofCoder.isOfClass || facts.tags.count > 1 { return false }
    let state = access.stateName
    if access.hasUnsavedRecords(state) { return false }
    guard let lookup = try pointLookup(property, comparison, value, facts, access, state),
      let prefix = lookup.prefix, lookup.kind == OrderedBytes.kind(of: value),
      let first = firstKey(prefix, value)
    else { return false }
    let range = StorageKeyRange(from: first, to: ValueRanges.behind(first))
    let most = lookup.isUnique ? 1 : maximumCount ?? .max
    try access.garage.idleSource.withSource(on: access.transaction, of: access.garage) { source in
      try visitRecords(ofEntries: range, atMost: most, facts, access, source, found)
    }
    return true
  }

  /// The bytes that all entries with a value begin with; nil if the value is too long to stand in them as a whole.
  private func firstKey(_ prefix: [UInt8], _ value: FieldValue) -> [UInt8]? {
    if let key = OrderedBytes.ofDouble(value, behind: prefix) { return key }
    var bytes = OrderedBytes()
    bytes.append(prefix)
    bytes.append(value)
    return bytes.count - prefix.count > OrderedBytes.uncutByteCount ? nil : bytes.bytes
  }

  /// The lookup for values of the same kind as `value`: a known one if it is valid, and otherwise a new one. Nil if the store
  /// has no indexes, or if it is not known yet where the property is stored.
  private func pointLookup(
    _ property: AnyKeyPath, _ comparison: Comparison, _ value: FieldValue,
    _ facts: RecordTypeFacts, _ access: ReadAccess, _ state: UInt64?
  ) throws -> PointLookup? {
    let indexing = access.garage.indexing
    if let known = indexing.pointLookups.find(property), try known.holds(in: access, state) {
      return known
    }
    guard let catalog = try indexing.catalog(in: access) else { return nil }
    let items = (catalog.ready[facts.tag] ?? []).filter {
      $0.definition.tells(facts)
    }
    // The lookup is to be used for all values of this kind. So it is planned with the shortest one: all numbers, dates and UUIDs
    // have the same length, and texts that are too long are refused later (`firstKey`).
    let ofKind: FieldValue =
      switch value {
      case .text: .text("")
      case .number: .number(.integer(0))
      default: value
      }
    var plan: IndexPlan?
    if !items.isEmpty {
      var isFound = true
      let field = try access.makingUp(Root.self, facts) {
        isFound = ProbeContext.current.isAllowed
        return comparison.field(Root.self)
      }
      // The type has no objects yet that its fields could be found by. This is not kept, because there may be some later.
      if !isFound { return nil }
      plan = field.flatMap { IndexPlan.toEqual($0.path, ofKind, absentIsNull: $0.absentIsNull, items) }
    }
    let lookup = PointLookup(
      property, catalog,
      prefix: plan.map { KeyLayout.indexPrefix(tag: facts.tag, index: $0.scans[0].item.id) },
      kind: OrderedBytes.kind(of: value), isUnique: plan?.scans[0].item.definition.isUnique ?? false)
    indexing.pointLookups.note(lookup)
    return lookup
  }

  /// Decodes the records of all entries in a range. This is not inlined, so that the session has released the source when the
  /// call returns.
  @inline(never)
  private func visitRecords(
    ofEntries range: StorageKeyRange, atMost most: Int, _ facts: RecordTypeFacts, _ access: ReadAccess,
    _ source: TransactionSource, _ found: (consuming Root) throws -> Void
  ) throws {
    let session = access.makeSession(source)
    var rest = most
    try access.transaction.scan(range, .forward) { entry, value in
      guard let place = IndexBatch.identifierPlace(value), place < entry.byteCount else {
        throw GarageError.corruptRecord(
          type: facts.name, identifier: "index entry \(StorageKey(entry))", reason: "it has no identifier")
      }
      try KeyLayout.withStorageKey(tag: facts.tag, entry.extracting(place...)) { key in
        try access.transaction.withValue(for: key) { record in
          guard let record else { return }
          rest -= 1
          try visitRecord(key, record, facts, access, session, source, found)
        }
      }
      return rest > 0 ? .continue : .stop
    }
  }
}
