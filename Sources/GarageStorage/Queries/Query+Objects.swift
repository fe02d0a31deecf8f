public import GarageCoding
internal import GarageDriver

// The ends of a query that give objects, and those that count them.

extension Query {
  /// The objects found, in the order of the query. What they refer to is shared among them.
  ///
  /// - Throws: as ``GarageReading/retrieveAll(_:)``, and what encoding the query's constants throws.
  @inlinable
  public func retrieveAll() throws -> sending [Root] {
    // Inlined for the same reason as the garage's `retrieve`.
    var objects: [Root] = []
    objects.reserveCapacity(roomCount)
    let order = try visitObjects { (object: consuming Root) in objects.append(object) }
    objects.arrange(order)
    // Nobody else has them: a closure that runs elsewhere than its caller may return them.
    let found = Carried(objects)
    return found.value
  }

  /// Hands on the objects found. What they refer to is shared among them.
  ///
  /// - Returns: which of them is to stand at each place (`Array.arrange`); nil where they come in the order of the query.
  @usableFromInline
  func visitObjects(_ found: (consuming Root) throws -> Void) throws -> [Int]? {
    // `consuming`: else each object would be copied, and the first one given up.
    var order: [Int]?
    try withAccess { access in
      if try visitByValue(access, found) || visitInOrder(access, found) { return }
      let run = try QueryRun(self, access)
      if !sortKeys.isEmpty && !run.sortsParts { return try run.forEachSortedObject(found) }
      order = try run.forEachPart(keepsObjects: true) { key, record, known in
        var isThere = false
        try run.withObject(key, record, known) { (object: consuming Root) in
          isThere = true
          try found(object)
        }
        return isThere
      }
    }
    return order
  }

  /// Calls `body` with one object found after another.
  ///
  /// Memory stays bounded as in ``GarageReading/forEach(_:_:)``; of a sorted query all keys are held. On a
  /// ``GarageWriter`` `body` may park and delete through the writer: it visits what was found at the beginning, each as
  /// it is when its turn comes.
  ///
  /// - Throws: the errors of `body`, which end the call, and as ``retrieveAll()``.
  public func forEach(_ body: (Root) throws -> Void) throws {
    try run { run in
      try run.forEachObject { object in try passingErrors { try body(object) } }
    }
  }

  /// The first object found; nil where there is none.
  ///
  /// - Throws: as ``retrieveAll()``.
  public func first() throws -> sending Root? {
    let found = Carried(try limit(1).retrieveAll().first)
    return found.value
  }

  /// How many objects are found. Decodes none, where the condition can be decided from records.
  ///
  /// - Throws: as ``retrieveAll()``.
  public func count() throws -> Int {
    if condition == nil {
      return try reader.withReadAccess { access in
        guard let most = maximumCount else { return try access.count(Root.self) }
        return try access.count(Root.self, upTo: most)
      }
    }
    var count = 0
    try unsorted.run { run in
      if let found = try run.countByEntries() {
        count = Swift.min(found, maximumCount ?? .max)
        return
      }
      try run.forEachMatch(keepsObjects: false) { _, _, _ in
        count += 1
        return .continue
      }
    }
    return count
  }

  /// Whether nothing is found.
  ///
  /// - Throws: as ``retrieveAll()``.
  public func isEmpty() throws -> Bool { try limit(1).count() == 0 }

  /// The identifiers of the objects found, in the order of the query, for
  /// ``GarageReading/retrieve(_:identifier:)-(T.Type,Identifier)``.
  ///
  /// - Throws: as ``retrieveAll()``.
  public func identifiers() throws -> [Identifier] {
    var identifiers: [Identifier] = []
    try run { run in
      if condition == nil && sortKeys.isEmpty && !run.facts.sharesSpaceWithSuperclass {
        // Keys tell the identifiers, except those that are cut or hidden.
        var keys = RecordKeyCursor(try run.access.presentTags(of: run.facts), in: run.access.transaction)
        while identifiers.count < maximumCount ?? .max, let key = try keys.next() {
          identifiers.append(try run.access.identity(ofRecord: key).identifier)
        }
        return
      }
      if let keys = try run.keysByEntries() {
        identifiers = try run.identifiers(ofRecords: keys)
        return
      }
      let order = try run.forEachPart { key, record, _ in
        identifiers.append(try run.identifier(key, record))
        return true
      }
      identifiers.arrange(order)
    }
    return identifiers
  }

  /// How many results to make room for at first: all of a short list, because mostly as many are found.
  @usableFromInline
  var roomCount: Int { Swift.min(maximumCount ?? 0, 64) }

  /// Whether it has no order of its own.
  @usableFromInline
  var isUnsorted: Bool { sortKeys.isEmpty }

  /// The same query in no order of its own.
  var unsorted: Query {
    var query = self
    query.sortKeys = []
    return query
  }

  /// Runs `body` on one state of the store.
  func run<R>(isExplained: Bool = false, _ body: (QueryRun<Root>) throws -> R) throws -> R {
    var result: R?
    try withAccess(isExplained: isExplained) {
      result = try body(QueryRun(self, $0, isExplained: isExplained))
    }
    return result.unsafelyUnwrapped
  }

  /// Runs `body` on one state of the store. The first question about a type that has objects makes the indexes that the type
  /// declares, if it may write and they are missing.
  ///
  /// - Parameter isExplained: whether this is done even where there are no objects of the type.
  func withAccess(isExplained: Bool = false, _ body: (ReadAccess) throws -> Void) throws {
    guard let garage = Garage.itself(reader) else { return try reader.withReadAccess(body) }
    try garage.prepareIndexes(of: Root.self, isExplained: isExplained)
    try garage.withReadAccess(body)
  }
}

extension ReadAccess {
  /// Counts the records of a type until there are so many.
  fileprivate func count<T: Codable>(_ type: T.Type, upTo most: Int) throws -> Int {
    let facts = try RecordTypeFacts.of(type)
    let tags = try presentTags(of: facts)
    // A storage may count many entries in less time than it takes to lend each of them.
    guard tags.count == 1, !facts.sharesSpaceWithSuperclass, most <= 10_000 else {
      return Swift.min(try count(type), most)
    }
    if most == 0 { return 0 }
    var count = 0
    try transaction.scanKeys(KeyLayout.records(tag: tags[0]), .forward) { _ in
      count += 1
      return count < most ? .continue : .stop
    }
    return count
  }
}
