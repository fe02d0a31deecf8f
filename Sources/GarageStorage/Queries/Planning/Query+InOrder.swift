internal import GarageCoding
internal import GarageDriver

extension Query {
  /// If more are wanted, only a ``QueryRun`` finds them in the order of an index: its own costs are then small compared with
  /// the rest.
  private static var mostInOrder: Int { 64 }

  /// Passes on the first objects in the order of one property, if few are wanted and an index of only this property has that
  /// order. Only a list of keys is made for it; a ``QueryRun`` would find the same objects in more time.
  ///
  /// - Returns: false, with nothing passed on, if a ``QueryRun`` is needed.
  func visitInOrder(_ access: ReadAccess, _ found: (consuming Root) throws -> Void) throws -> Bool {
    guard condition == nil, sortKeys.count == 1, let most = maximumCount, most > 0, most <= Self.mostInOrder,
      let property = sortKeys[0].orderedProperty
    else { return false }
    // If the attempt failed, the catalog would be read twice.
    if access.garage.store.roundTripsAreExpensive { return false }
    let facts = try RecordTypeFacts.of(Root.self)
    if facts.ofCoder.isOfClass || facts.tags.count > 1 { return false }
    let state = access.stateName
    if access.hasUnsavedRecords(state) { return false }
    guard let prefix = try orderLookup(property, facts, access, state)?.prefix else { return false }
    let firstKeys = try KeyList.first(
      most, in: StorageKeyRange(from: prefix, to: prefix + [0xFF]),
      sortKeys[0].isAscending ? .forward : .backward, access.transaction)
    guard let keys = firstKeys else { return false }
    try access.garage.idleSource.withSource(on: access.transaction, of: access.garage) { source in
      try visitRecords(withKeys: keys, facts, access, source, found)
    }
    return true
  }

  /// How to find all objects in the order of a property; nil if the store has no indexes.
  private func orderLookup(
    _ property: AnyKeyPath, _ facts: RecordTypeFacts, _ access: ReadAccess, _ state: UInt64?
  ) throws -> PointLookup? {
    let indexing = access.garage.indexing
    if let known = indexing.orderLookups.find(property), try known.holds(in: access, state) { return known }
    guard let catalog = try indexing.catalog(in: access) else { return nil }
    let items = (catalog.ready[facts.tag] ?? []).filter {
      $0.definition.tells(facts)
    }
    var scan: IndexPlan.Scan?
    if !items.isEmpty {
      let key = sortKeys[0]
      var isFound = true
      let field = try access.makingUp(Root.self, facts) { () -> StoredField? in
        isFound = ProbeContext.current.isAllowed
        if let field = key.field(Root.self) { return field }
        return try access.takeFieldSample(Root.self, facts) ? key.field(Root.self) : nil
      }
      // There are no objects yet from which the type's fields could be learned. Nothing is noted, because there may be some
      // later.
      if !isFound { return nil }
      if let field {
        let order = QueryPlanner.Order(field: field, isSameInSubclasses: true, kind: key.kind)
        scan = QueryPlanner(items: items, kindsAreUnknown: false).ordered(by: [order], nil)
      }
    }
    let lookup = PointLookup(
      property, catalog,
      prefix: scan.map { KeyLayout.indexPrefix(tag: facts.tag, index: $0.item.id) })
    indexing.orderLookups.note(lookup)
    return lookup
  }

  /// Decodes the records with these keys. Not inlined: when this call has returned, the session has released its reference to
  /// the source.
  @inline(never)
  private func visitRecords(
    withKeys keys: KeyList, _ facts: RecordTypeFacts, _ access: ReadAccess, _ source: TransactionSource,
    _ found: (consuming Root) throws -> Void
  ) throws {
    let session = access.makeSession(source)
    let transaction = access.transaction
    func visit(_ key: RawSpan, _ record: RawSpan) throws {
      try visitRecord(key, record, facts, access, session, source, found)
    }
    if access.isWriting || keys.count < 2 {
      return try keys.forEach { key in
        try transaction.withValue(for: key) { record in
          if let record { try visit(key, record) }
        }
        return .continue
      }
    }
    try keys.forEachRecord(0..<keys.count, in: transaction) { _, key, record in
      if let record { try visit(key, record) }
      return .continue
    }
  }

  /// Decodes a record that an entry led to.
  @inline(__always)
  func visitRecord(
    _ key: RawSpan, _ record: RawSpan, _ facts: RecordTypeFacts, _ access: ReadAccess,
    _ session: GraphDecodingSession, _ source: TransactionSource, _ found: (consuming Root) throws -> Void
  ) throws {
    try cancellation?.check()
    source.countRecord(record.byteCount)
    try access.garage.objectKeys.withIdentifier(of: key, record, typeName: facts.name) { identifier in
      access.beginDecoding()
      defer { access.endDecoding() }
      try session.visit(
        Root.self, facts.ofCoder, tag: facts.tag, keyIdentifier: identifier, record: record, found)
    }
  }
}
