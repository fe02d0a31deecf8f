internal import GarageCoding
internal import GarageDriver

/// One run of a query on one state of the store: it goes through records, and hands on those that match.
///
/// Belongs to the thread and the closure of its transaction.
final class QueryRun<Root: Codable> {
  let query: Query<Root>
  let access: ReadAccess
  let facts: RecordTypeFacts
  /// The coder's facts of the type. Kept here as well, because to read them from `facts` would count a reference for each
  /// object.
  private let coderFacts: TypeFacts
  let filter: RecordFilter<Root>?
  let objectKeys: ObjectKeys
  let source: TransactionSource
  private let session: GraphDecodingSession
  @exclusivity(unchecked) private var limit = SessionLimit()
  // The properties below are used with every entry and record, so their exclusivity is not checked: no access to one overlaps
  // another.
  /// Whether the task that waits for the run may be cancelled, and how many records are looked at before that is asked again.
  private let isCancellable: Bool
  @exclusivity(unchecked) private var uncheckedCount = QueryRun.mostUnchecked
  @exclusivity(unchecked) private var question: RecordQuestion?
  /// The same, where it can be asked of keys as they are.
  @exclusivity(unchecked) private var lentQuestion: LentQuestion?
  /// Whether every record matches.
  private let takesAll: Bool
  let isOfClass: Bool
  /// Whether several records are asked for at once. Where each question is a round trip they always are. Elsewhere they are not
  /// in a write, where the visitor may change what is still to be read.
  let readsBlocks: Bool
  /// The place behind which the first match has to stand; nil where the matches begin with the first of all.
  @exclusivity(unchecked) var start: QueryCursor?
  let sortFields: [StoredField?]
  /// Where the sort keys stand in records. Made when a record is first asked for them: where an index has the order, none is.
  private(set) lazy var sortLookups = zip(query.sortKeys, sortFields).map { key, field in
    field.map { PropertyLookup($0, inSubclass: { key.field($0) }) }
  }
  /// The classes whose objects may be met.
  let subclasses: [any Decodable.Type]
  /// The indexes that lead to what is found, where some do.
  @exclusivity(unchecked) private(set) var way = IndexWay()

  /// Gets a record that matches, while its bytes are lent: its key, the record, and the object, where that had to be
  /// decoded to find out.
  typealias Visit = (RawSpan, RawSpan, DecodedObject<Root>?) throws -> ScanStep

  /// - Parameter isExplained: whether it is to be told how the query is answered.
  init(_ query: Query<Root>, _ access: ReadAccess, isExplained: Bool = false) throws {
    self.query = query
    self.access = access
    isCancellable = query.cancellation != nil
    objectKeys = access.garage.objectKeys
    let facts = try RecordTypeFacts.of(Root.self)
    self.facts = facts
    coderFacts = facts.ofCoder
    let subclasses = facts.ofCoder.isOfClass ? access.garage.types.all.filter { $0 is Root.Type } : []
    self.subclasses = subclasses
    func makeFilter() throws -> RecordFilter<Root>? {
      try query.condition.map { try RecordFilter($0.node, subclasses: subclasses) }
    }
    func findSortFields() -> [StoredField?] {
      query.sortKeys.map { $0.isOrderOfFields ? $0.field(Root.self) : nil }
    }
    if let depth = query.condition?.depth, depth > Condition<Root>.maximumDepth {
      throw query.invalid(
        """
        has a condition that nests \(depth) deep, where \(Condition<Root>.maximumDepth) is the most: write it as rows of \
        && and ||, which may be of any length, or with oneOf.
        """)
    }
    if query.condition == nil && query.sortKeys.isEmpty {
      (filter, sortFields) = (nil, [])
    } else {
      (filter, sortFields) = try access.makingUp(
        Root.self, facts, subclasses: subclasses, isExplained: isExplained
      ) {
        let found = (filter: try makeFilter(), sortFields: findSortFields())
        let isMissed = found.filter?.asksObjects ?? false || found.sortFields.contains { $0 == nil }
        guard isMissed, try access.takeFieldSample(Root.self, facts) else { return found }
        return (try makeFilter(), findSortFields())
      }
    }
    takesAll = filter == nil && !facts.sharesSpaceWithSuperclass
    isOfClass = facts.ofCoder.isOfClass
    let store = access.garage.store
    readsBlocks = !access.isWriting || store.roundTripsAreExpensive
    (session, source) = access.makeSessionAndSource()
    way = try findWay()
  }

  // MARK: - Matches in the order of the query

  /// Visits what the query finds, in its order and no more than its limit, until `visit` says stop.
  ///
  /// - Parameter keepsObjects: whether objects are held, and shared, to the end. Else memory stays bounded.
  func forEachMatch(keepsObjects: Bool, _ visit: Visit) throws {
    if query.maximumCount == 0 { return }
    if query.sortKeys.isEmpty {
      var rest = query.maximumCount ?? .max
      return try forEachUnsorted(keepsObjects: keepsObjects) { key, record, known in
        rest -= 1
        return try visit(key, record, known) == .stop || rest == 0 ? .stop : .continue
      }
    }
    let transaction = access.transaction
    let keys = try sortedKeys()
    if asksForMany && keys.count > 1 {
      return try forEachBlock(of: keys, areDecoded: keepsObjects) { key, record in
        beginRecord(record, keepsObjects: keepsObjects)
        return try visit(key, record, nil)
      }
    }
    try keys.forEach { key in
      try transaction.withValue(for: key) { record -> ScanStep in
        guard let record else { return .continue }
        beginRecord(record, keepsObjects: keepsObjects)
        return try visit(key, record, nil)
      }
    }
  }

  /// The keys of what the query finds, in its order and no more than its limit.
  func sortedKeys() throws -> KeyList {
    if query.maximumCount == 0 { return KeyList() }
    if query.sortKeys.isEmpty {
      if start == nil, let keys = try keysByEntries() { return keys }
      var keys = KeyList()
      try forEachUnsorted(keepsObjects: false) { key, _, _ in
        keys.append(key)
        return keys.count == query.maximumCount ? .stop : .continue
      }
      return keys
    }
    if let scan = way.order, let keys = try keysInOrder(of: scan) { return keys }
    if way.isOrderOfIdentifiers, let keys = try keysInOrderOfIdentifiers() { return keys }
    return query.sortKeys.allSatisfy({ $0.isOrderOfFields }) ? try keysByFields() : try keysByObjects()
  }

  /// Whether a match stands behind ``start``.
  func isBehindStart(_ values: [FieldValue], _ key: StorageKey) -> Bool {
    guard let start else { return true }
    return isBefore(start.values, start.identifier[...], values, key.bytes[KeyLayout.identifierOffset...])
  }

  /// Visits what matches in the order of identifiers.
  func forEachUnsorted(keepsObjects: Bool, _ visit: Visit) throws {
    if let plan = way.plan,
      try forEachCandidate(
        of: plan, areDecoded: keepsObjects,
        { key, record, isMatch in
          guard isMatch else { return try visitIfMatching(key, record, keepsObjects: keepsObjects, visit) }
          beginRecord(record, keepsObjects: keepsObjects)
          return try visit(key, record, nil)
        })
    {
      return
    }
    try forEachRecord { key, record in
      try visitIfMatching(key, record, keepsObjects: keepsObjects, visit)
    }
  }

  private static var mostUnchecked: Int { 32 }

  /// Called with each record that is looked at, which takes less time than to ask each time.
  @inline(never)
  private func noteLook() throws {
    uncheckedCount -= 1
    if uncheckedCount > 0 { return }
    uncheckedCount = QueryRun.mostUnchecked
    try query.cancellation?.check()
  }

  @inline(__always)
  private func visitIfMatching(
    _ key: RawSpan, _ record: RawSpan, keepsObjects: Bool, _ visit: Visit
  ) throws -> ScanStep {
    if isCancellable { try noteLook() }
    switch try answer(key, record) {
    case .no: return .continue
    case .yes:
      beginRecord(record, keepsObjects: keepsObjects)
      return try visit(key, record, nil)
    case .unknown: return try visitIfObjectMatches(key, record, keepsObjects: keepsObjects, visit)
    }
  }

  /// A function of its own, because it handles an optional object: generic code looks the type of that up each time.
  @inline(never)
  private func visitIfObjectMatches(
    _ key: RawSpan, _ record: RawSpan, keepsObjects: Bool, _ visit: Visit
  ) throws -> ScanStep {
    beginRecord(record, keepsObjects: keepsObjects)
    guard let object = try object(key, record), try filter?.holds(object) ?? true else { return .continue }
    return try visit(key, record, DecodedObject(object))
  }

  /// Whether a record matches, be it that the object has to be asked.
  func isMatch(_ key: RawSpan, _ record: RawSpan) throws -> Bool {
    let answer = try answer(key, record)
    return switch answer {
    case .no: false
    case .yes: true
    case .unknown: try isObjectMatch(key, record)
    }
  }

  @inline(never)
  private func isObjectMatch(_ key: RawSpan, _ record: RawSpan) throws -> Bool {
    beginRecord(record, keepsObjects: false)
    return try object(key, record).map { try filter?.holds($0) ?? true } ?? false
  }

  /// Called before anything of a record is decoded.
  private func beginRecord(_ record: RawSpan, keepsObjects: Bool) {
    if !keepsObjects { limit.resetIfReached(session, source) }
    source.countRecord(record.byteCount)
  }

  // MARK: - Records

  /// Lends every record of the type, in the order of identifiers.
  private func forEachRecord(_ visit: (RawSpan, RawSpan) throws -> ScanStep) throws {
    let first = query.sortKeys.isEmpty ? start?.identifier : nil
    if let ranges = way.identifiers { return try forEachRecord(in: ranges, behind: first, visit) }
    let tags = try access.presentTags(of: facts)
    if tags.count == 1 {
      var range = KeyLayout.records(tag: tags[0])
      if let first { range.lowerBound += first + [0] }
      return try access.transaction.scan(range, .forward, visit)
    }
    var keys = RecordKeyCursor(tags, in: access.transaction)
    while let key = try keys.next() {
      let bytes = key.bytes
      if let first, !first.lexicographicallyPrecedes(bytes[KeyLayout.identifierOffset...]) { continue }
      let step = try access.transaction.withValue(for: bytes.span.bytes) { record in
        guard let record else { return ScanStep.continue }
        return try visit(bytes.span.bytes, record)
      }
      if step == .stop { return }
    }
  }

  /// Whether a record matches.
  @inline(__always)
  func answer(_ key: RawSpan, _ record: RawSpan) throws -> FieldAnswer {
    if takesAll { return .yes }
    if let lentQuestion { return try lentQuestion.answer(key, record) }
    return try asking(key, record) { question, tag, identifier in
      try question.answer(tag: tag, keyIdentifier: identifier, record: record)
    }
  }

  /// What is asked of the bytes of records. Made when first needed: where the entries of an index decide, no record is asked.
  private func makeQuestion() -> RecordQuestion {
    let question: RecordQuestion
    if let filter {
      question = recordQuestion(filter.question()) { filter.question(ofSubclass: $0) }
    } else {
      question = recordQuestion(.ofAny()) { _ in .ofAny() }
    }
    self.question = question
    if !objectKeys.hidesIdentifiers { lentQuestion = LentQuestion(question) }
    return question
  }

  /// - Parameter ofSubclass: the same of the records of a subclass.
  func recordQuestion(
    _ question: FieldQuestion, ofSubclass: @escaping (any Decodable.Type) -> FieldQuestion
  ) -> RecordQuestion {
    RecordQuestion(question, Root.self, facts, access.garage, source, ofSubclass: ofSubclass)
  }

  /// Asks something of a record's bytes.
  @inline(__always)
  func asking<R>(
    _ key: RawSpan, _ record: RawSpan, _ body: (RecordQuestion, UInt64, RawSpan) throws -> R
  ) throws -> R {
    if let lentQuestion { return try lentQuestion.asking(key, body) }
    return try askingSlowly(key, record, body)
  }

  @inline(never)
  private func askingSlowly<R>(
    _ key: RawSpan, _ record: RawSpan, _ body: (RecordQuestion, UInt64, RawSpan) throws -> R
  ) throws -> R {
    let question = question ?? makeQuestion()
    return try objectKeys.withIdentifier(of: key, record, typeName: facts.name) { identifier in
      try body(question, KeyLayout.tag(inRecordKey: key), identifier)
    }
  }

  /// Lends a record's fields.
  private func withFields<R>(_ key: RawSpan, _ record: RawSpan, _ body: (FieldRecord) throws -> R) throws -> R
  {
    try objectKeys.withIdentifier(of: key, record, typeName: facts.name) { identifier in
      try FieldRecord.with(
        tag: KeyLayout.tag(inRecordKey: key), keyIdentifier: identifier, record: record,
        typeName: facts.name, source, body)
    }
  }

  /// Decodes a record, if it is not known already, and hands its object on, unless that is of another class. Handed on and not
  /// returned: each generic layer that returns an optional costs.
  func withObject(
    _ key: RawSpan, _ record: RawSpan, _ known: DecodedObject<Root>?, _ found: (consuming Root) throws -> Void
  ) throws {
    if let known { return try found(known.object) }
    try withDecoded(key, record, found)
  }

  private func withDecoded(
    _ key: RawSpan, _ record: RawSpan, _ found: (consuming Root) throws -> Void
  ) throws {
    if isCancellable { try query.cancellation?.check() }
    try objectKeys.withIdentifier(of: key, record, typeName: facts.name) { identifier in
      access.beginDecoding()
      defer { access.endDecoding() }
      try session.visit(
        Root.self, coderFacts, tag: KeyLayout.tag(inRecordKey: key), keyIdentifier: identifier,
        record: record, found)
    }
  }

  /// Decodes a record; nil where it is of another class.
  func object(_ key: RawSpan, _ record: RawSpan) throws -> Root? {
    if isCancellable { try query.cancellation?.check() }
    return try access.decode(Root.self, key, record, typeName: facts.name, session)
  }
}

extension RecordQuestion {
  /// - Parameter ofSubclass: the same of the records of a subclass; unless told, what every object satisfies.
  convenience init<T: Codable>(
    _ question: FieldQuestion, _ type: T.Type, _ facts: RecordTypeFacts, _ garage: Garage,
    _ source: TransactionSource,
    ofSubclass: @escaping (any Decodable.Type) -> FieldQuestion = { _ in .ofAny() }
  ) {
    self.init(
      question,
      RecordClasses(
        facts.ofCoder, ownTags: facts.ownTags, garage.types, isSubclass: { $0 is T.Type }),
      typeName: facts.name, sharesSpaceWithSuperclass: facts.sharesSpaceWithSuperclass, source,
      ofSubclass: ofSubclass)
  }
}

/// An object that was decoded to find out whether it matches. A class, so that what is passed on is an address: generic code that
/// passes on an optional object asks the runtime for its type each time.
final class DecodedObject<Root> {
  let object: Root
  init(_ object: Root) { self.object = object }
}

// MARK: - Order

extension QueryRun {
  /// Whether one comes before another: by the values, as entries of indexes and rows are sorted, and then by identifier.
  func isBefore(
    _ left: [FieldValue], _ leftIdentifier: ArraySlice<UInt8>, _ right: [FieldValue],
    _ rightIdentifier: ArraySlice<UInt8>
  ) -> Bool {
    let (leftBytes, rightBytes) = (orderedBytes(left), orderedBytes(right))
    let order = compareKeys(leftBytes.span.bytes, rightBytes.span.bytes)
    return order == 0 ? leftIdentifier.lexicographicallyPrecedes(rightIdentifier) : order < 0
  }

  /// What a match is sorted by: from its bytes where they tell, else of the object.
  func sortValues(_ key: RawSpan, _ record: RawSpan, _ known: Root?) throws -> [FieldValue] {
    var object = known
    return try query.sortKeys.indices.map { index in
      if let value = try storedValue(key, record, sortLookups[index]), query.sortKeys[index].orders(value) {
        return value
      }
      if object == nil { object = try self.object(key, record) }
      return try object.flatMap { try query.sortKeys[index].ofObjects(Root.self).value($0) } ?? .null
    }
  }

  /// The keys sorted by a property that only objects have an order for. All objects found are held.
  private func keysByObjects() throws -> KeyList {
    var found: [(object: Root, key: StorageKey, values: [[UInt8]])] = []
    try forEachUnsorted(keepsObjects: true) { key, record, known in
      guard let object = try known?.object ?? object(key, record) else { return .continue }
      found.append((object, StorageKey(key), try query.sortKeys.map { try $0.orderedBytes(object) }))
      return .continue
    }
    // Stable: those equal stay in the order of their identifiers.
    found.sort { left, right in
      for (index, key) in query.sortKeys.enumerated() {
        let order: Int
        if key.isOrderOfFields {
          let (leftBytes, rightBytes) = (left.values[index], right.values[index])
          order = compareKeys(leftBytes.span.bytes, rightBytes.span.bytes)
        } else {
          order = key.ofObjects(Root.self).order(left.object, right.object)
        }
        if order != 0 { return (order < 0) == key.isAscending }
      }
      return false
    }
    return KeyList(found.prefix(query.maximumCount ?? .max).lazy.map(\.key))
  }
}

extension SortKey {
  /// The value as bytes that sort as records do, for use beside another sort key whose order only objects have; empty for that
  /// other key itself. Not compared by the property's own `<`, which would put NaN and some texts in no order.
  fileprivate func orderedBytes<Root: Codable>(_ object: Root) throws -> [UInt8] {
    if !isOrderOfFields { return [] }
    var bytes = OrderedBytes()
    bytes.append(try ofObjects(Root.self).value(object) ?? .null)
    return bytes.bytes
  }
}

// MARK: - What a match has

extension QueryRun {
  /// What a record has in a field; nil where its bytes do not tell.
  func storedValue(_ key: RawSpan, _ record: RawSpan, _ property: PropertyLookup?) throws -> FieldValue? {
    guard let property else { return nil }
    let found = try asking(key, record) { question, tag, identifier in
      try question.value(property, tag: tag, keyIdentifier: identifier, record: record)
    }
    return switch found {
    case .value(let value): value
    case .null: .null
    case .unknown: nil
    }
  }

  /// The identifier of a match.
  func identifier(_ key: RawSpan, _ record: RawSpan) throws -> Identifier {
    try objectKeys.withIdentifier(of: key, record, typeName: facts.name) { keyForm in
      try withFields(key, record) { $0.identifier(keyForm: keyForm) }
    }
  }

  var filterTexts: (ofFields: [String], ofObjects: [String]) {
    filter?.texts ?? ([], [])
  }
}

// MARK: - Objects in the order of the query

extension QueryRun {
  /// Hands on what a sorted query finds, in its order. No object is known before, so that none is looked for on the way.
  func forEachSortedObject(_ found: (consuming Root) throws -> Void) throws {
    if query.maximumCount == 0 { return }
    let keys = try sortedKeys()
    let transaction = access.transaction
    if !readsBlocks || keys.count < 2 {
      return try keys.forEach { key in
        try transaction.withValue(for: key) { record in
          if let record { try retrieve(key, record, found) }
        }
        return .continue
      }
    }
    try forEachBlock(of: keys, areDecoded: true) { key, record in
      try retrieve(key, record, found)
      return .continue
    }
  }

  private func retrieve(
    _ key: RawSpan, _ record: RawSpan, _ found: (consuming Root) throws -> Void
  ) throws {
    source.countRecord(record.byteCount)
    try withDecoded(key, record, found)
  }
}

// MARK: - Objects one by one

extension QueryRun {
  /// Visits the objects found. `visit` is users' code, which may change what the transaction can change.
  func forEachObject(_ visit: (Root) throws -> Void) throws {
    if !access.isWriting {
      return try forEachMatch(keepsObjects: false) { key, record, known in
        if let object = try known?.object ?? object(key, record) { try visit(object) }
        return .continue
      }
    }
    let facts = try RecordTypeFacts.of(Root.self)
    for key in try sortedKeys().all {
      let bytes = try access.presentKey(of: key, facts).bytes
      let object = try access.transaction.withValue(for: bytes.span.bytes) { record -> Root? in
        guard let record else { return nil }
        session.reset()
        return try self.object(bytes.span.bytes, record)
      }
      // No bytes are lent any more: `visit` may change what it can change.
      if let object { try visit(object) }
    }
  }
}
