internal import GarageCoding
internal import GarageDriver
internal import Synchronization

/// The way to the objects that have a value in one property, or to all objects in the order of that property. It is found out
/// once and taken by many queries, and leads through the entries of an index of this property alone, each of which answers by
/// itself.
///
/// It holds as long as the store's catalog of indexes is the one that it was made from. Each query checks that in its own
/// transaction, where it sees what others have declared, built or dropped, in this process or another one.
final class PointLookup: @unchecked Sendable {
  // @unchecked: a key path that is only compared.
  /// Held, so that no other key path gets its address.
  fileprivate let property: AnyKeyPath
  private let catalog: IndexCatalog
  /// What the entries begin with; nil where no such index leads to all.
  let prefix: [UInt8]?
  /// Of which kind the values are that it leads to; nil where it leads to all in their order.
  let kind: UInt8?
  /// Whether there is one object with a value at most.
  let isUnique: Bool

  /// The state of the storage in which the catalog was seen last; 0 where that has no name.
  private let seen = Atomic<UInt64>(0)

  init(
    _ property: AnyKeyPath, _ catalog: IndexCatalog, prefix: [UInt8]?, kind: UInt8? = nil,
    isUnique: Bool = false
  ) {
    (self.property, self.catalog, self.prefix) = (property, catalog, prefix)
    (self.kind, self.isUnique) = (kind, isUnique)
  }

  /// Whether it leads to what a transaction sees.
  ///
  /// - Parameter state: the name of what it sees.
  func holds(in access: ReadAccess, _ state: UInt64?) throws -> Bool {
    if let state, state == seen.load(ordering: .relaxed) { return true }
    guard try catalog.isStored(in: access.transaction) else { return false }
    if let state { seen.store(state, ordering: .relaxed) }
    return true
  }

  /// The lookups that queries took last. The address of its property's key path gives each its place, and a later one replaces
  /// an earlier one there. A key path that is written in a program is the same object each time.
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
      // Let go of outside of the lock.
      _ = places.withLock { places in
        defer { places[place] = lookup }
        return places[place]
      }
    }
  }
}

extension Query {
  /// Hands on the objects found, where the whole condition is that a property has a value, and an index of this property alone
  /// leads to them. Nothing is made for it but the bounds of the entries; a ``QueryRun`` would find the same, in several
  /// times the time.
  ///
  /// - Returns: false, and nothing is handed on, where it takes a ``QueryRun``.
  func visitByValue(_ access: ReadAccess, _ found: (consuming Root) throws -> Void) throws -> Bool {
    guard sortKeys.isEmpty, maximumCount != 0, case .comparison(let comparison)? = condition?.node,
      let (property, value) = comparison.equality
    else { return false }
    // Each record would be a trip: a `QueryRun` asks for many at once.
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

  /// What the entries of a value begin with; nil where the value is cut there.
  private func firstKey(_ prefix: [UInt8], _ value: FieldValue) -> [UInt8]? {
    if let key = OrderedBytes.ofDouble(value, behind: prefix) { return key }
    var bytes = OrderedBytes()
    bytes.append(prefix)
    bytes.append(value)
    return bytes.count - prefix.count > OrderedBytes.uncutByteCount ? nil : bytes.bytes
  }

  /// The way to the objects with a value of that kind; nil where the store has no indexes.
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
      $0.definition.typeVersion == facts.ofCoder.currentVersion
    }
    // The lookup has to hold for all values of this kind, so it is made with the shortest one: all numbers, dates and UUIDs are
    // as long as each other, and texts that are too long are refused later.
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
      // There are no objects yet by which the type is surveyed. Nothing is noted: there may be some later.
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

  /// Decodes the records of all entries in a range. Not inlined: when this call returns the session has given its reference to
  /// the source back.
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
