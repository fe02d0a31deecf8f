internal import GarageCoding
internal import GarageDriver

/// An index of the store.
public struct IndexInfo: Sendable, Hashable {
  /// What is done with an index.
  public enum State: Sendable, Hashable {
    /// Writes maintain it, and the objects that were there before are still being added. Queries do not use it yet.
    case building
    /// Queries use it.
    case ready
    /// It is being removed.
    case dropping
  }

  /// Its name: the properties as its declaration names them, or the name that it gives.
  public let name: String
  /// What is done with it.
  public let state: State
  /// How many entries it has: one for each object, or for each element of the objects' collections.
  public let entries: Int
  /// Whether no two objects may have the same values.
  public let isUnique: Bool
}

/// How far the making of indexes has come.
public struct IndexProgress: Sendable, Hashable {
  /// The names of the indexes that are being made or removed.
  public let indexes: [String]
  /// How many objects this call has added to them so far.
  public let objectCount: Int
  /// Whether they are done.
  public let isComplete: Bool
}

extension Garage {
  /// The indexes of a type that the store has, by name; also those that this program does not declare.
  ///
  /// Counts their entries, which takes time in proportion to their number.
  ///
  /// - Throws: ``GarageError/missingConformance(_:)``, ``GarageError/closed``, ``GarageError/storage(_:)``.
  public func indexes<T: Codable>(of type: T.Type) throws -> [IndexInfo] {
    try withReadAccess { try indexes(of: RecordTypeFacts.of(type), $0) }
  }

  func indexes(of facts: RecordTypeFacts, _ access: ReadAccess) throws -> [IndexInfo] {
    let transaction = access.committed
    let items = try indexing.catalog(in: transaction)?.items.filter { $0.definition.concerns(facts) } ?? []
    return try items.map { try indexInfo($0, in: transaction) }.sorted { $0.name < $1.name }
  }

  /// What is told of an index.
  func indexInfo(_ item: IndexCatalog.Item, in transaction: any ReadTransaction) throws -> IndexInfo {
    var count = 0
    for range in item.definition.entryRanges {
      try transaction.scanKeys(range, .forward) { _ in
        count += 1
        return .continue
      }
    }
    let state: IndexInfo.State =
      switch item.state {
      case .building: .building
      case .ready: .ready
      case .dropping: .dropping
      }
    return IndexInfo(name: item.name, state: state, entries: count, isUnique: item.definition.isUnique)
  }

  /// Makes all indexes complete that are declared or begun, and removes those that were dropped.
  ///
  /// A garage does that by itself when it is first asked about a type (``GarageReading/query(_:)``). Call this to have it
  /// done before, to see how far it is, or where it could not be done: then it throws why.
  ///
  /// It works in writes of its own of a few hundredths of a second each, between which others have their turn. Where it is
  /// interrupted, the next call goes on, in any process. Unsaved changes are not touched.
  ///
  /// Covers the types that this garage has met: those parked or asked about, and those it was opened with (`types:`).
  ///
  /// - Parameter progress: called after each write.
  /// - Throws: ``GarageError/notUnique(index:value:existing:)`` where objects have the same value in an index that is to be
  ///   unique, which then stays unused, once all others are made; ``GarageError/invalidIndex(type:index:reason:)``;
  ///   ``GarageError/nestedWrite``; the errors of `progress`.
  public func buildIndexes(_ progress: (IndexProgress) throws -> Void = { _ in }) throws {
    try translatingErrors {
      try checkOpen()
      for type in types.all { _ = try meetIndexes(of: type) }
      indexing.forgetDropped()
      try checkNamedFields()
      var counts: [[String]: Int] = [:]
      while let step = try fillIndexes() {
        if step.indexes.isEmpty { continue }
        counts[step.indexes, default: 0] += step.recordCount
        let report = IndexProgress(
          indexes: step.indexes, objectCount: counts[step.indexes] ?? 0, isComplete: step.isComplete)
        try passingErrors { try progress(report) }
      }
    }
  }

  /// Removes an index of a type from the store, also one that this program does not declare.
  ///
  /// From now on queries do not use it, and writes do not maintain it. If the type still declares it, a garage that is opened
  /// later makes it again; this one does when ``buildIndexes(_:)`` is called.
  ///
  /// - Throws: ``GarageError/invalidIndex(type:index:reason:)`` where there is none of this name; ``GarageError/nestedWrite``,
  ///   ``GarageError/storage(_:)``.
  public func dropIndex<T: Codable>(_ name: String, of type: T.Type) throws {
    try dropIndex(name, of: translatingErrors { try RecordTypeFacts.of(type) })
  }

  func dropIndex(_ name: String, of facts: RecordTypeFacts) throws {
    try drop(
      name: name, typeName: facts.name, absence: "the store has none of this name. indexes(of:) lists them."
    ) { $0.definition.concerns(facts) && $0.name == name }
  }

  /// Removes indexes from the store.
  func drop(
    name: String, typeName: String, absence: String, where isToGo: (IndexCatalog.Item) -> Bool
  ) throws {
    try writeDirectly { transaction in
      var items = try indexing.catalog(in: transaction)?.items ?? []
      let places = items.indices.filter { isToGo(items[$0]) }
      guard !places.isEmpty else {
        throw GarageError.invalidIndex(type: typeName, index: name, reason: absence)
      }
      for place in places { items[place].state = .dropping }
      indexing.noteDropped(places.map { items[$0].id })
      try indexing.put(IndexCatalog(items), in: transaction)
    }
    // Making the other indexes may be impossible.
    while try fillIndexes({ try $0.dropStep(in: $1) }) != nil {}
  }

  // MARK: - Making them

  /// Does one block of the work; nil where there is none.
  ///
  /// - Throws: ``GarageError/notUnique(index:value:existing:)`` where a unique index cannot be made, and nothing else is
  ///   left to do.
  func fillIndexes() throws -> IndexFilling.Step? {
    try fillIndexes { try $0.step(in: $1) }
  }

  private func fillIndexes(
    _ step: (IndexFilling, any WriteTransaction) throws -> IndexFilling.Step?
  ) throws -> IndexFilling.Step? {
    var tryCount = 0
    return try writeDirectly { transaction in
      defer { tryCount += 1 }
      return try step(IndexFilling(indexing: indexing, tryCount: tryCount), transaction)
    }
  }

  /// Makes the indexes ready that a type declares, so that a query can use them. Errors are left to ``buildIndexes(_:)``:
  /// queries work without the index.
  ///
  /// - Parameter isExplained: whether this is done even where there are no objects of the type yet, by which it is surveyed.
  /// - Throws: ``GarageError/invalidIndex(type:index:reason:)``, ``GarageError/closed``.
  func prepareIndexes(of type: any Codable.Type, isExplained: Bool = false) throws {
    if indexing.isSettled(type) { return }
    try checkOpen()
    if try !translatingErrors({ try meetIndexes(of: type, evenOfNone: isExplained) }) { return }
    if type is any Indexed.Type {
      try prepareDeclared(type)
    } else {
      indexing.noteSettled(type)
    }
  }

  /// Adds the indexes that a type declares to those that this garage makes. If the type has objects it is surveyed first.
  ///
  /// - Parameter evenOfNone: whether to add them if the type has no objects.
  /// - Returns: whether it did.
  func meetIndexes(of type: Any.Type, evenOfNone: Bool = true) throws -> Bool {
    if let type = type as? any (Indexed & Codable).Type, !indexing.hasMet(type) {
      let facts = try RecordTypeFacts.of(type)
      // If reading fails, the query itself will throw.
      let isThere =
        surveyedTypes.contains(facts.type)
        || (try? withReadAccess { try $0.survey(type, facts) }) ?? true
      if !isThere && !evenOfNone { return false }
    }
    try probeContext.run { try indexing.meet(type) }
    return true
  }

  /// Makes the declared indexes ready, for a type that is queried.
  func prepareDeclared(_ type: Any.Type) throws {
    if !store.driver.info.isReadOnly {
      do {
        let isComplete = try withReadAccess { access in
          let catalog = try indexing.catalog(in: access.committed)
          if let catalog { indexing.noteStored(catalog) }
          return indexing.isComplete(catalog)
        }
        // Mostly there is nothing to write, and so no other write to wait for.
        if isComplete { return indexing.noteSettled(type) }
        while try fillIndexes() != nil {}
      } catch let error as GarageError {
        switch error {
        case .nestedWrite, .storage: return
        // By then all others are made.
        case .notUnique: break
        default: throw error
        }
      }
    }
    indexing.noteSettled(type)
  }

  /// Runs `body` in a transaction of the storage that leaves unsaved changes alone.
  func writeDirectly<R>(_ body: (any WriteTransaction) throws -> R) throws -> R {
    try translatingErrors {
      try retrying(isClocked: store.isSharedAcrossProcesses, store.gate) {
        try beginCall()
        defer { endCall() }
        return try store.driver.write { .commit(try body($0)) }
      }
    }
  }

  /// Makes sure that fields which were only named hold what the properties have.
  private func checkNamedFields() throws {
    for declaration in indexing.declarations {
      guard let check = declaration.check else { continue }
      try withReadAccess { access in
        guard let key = try check.firstMismatch(access) else { return }
        throw GarageError.invalidIndex(
          type: declaration.typeName, index: declaration.name,
          reason: """
            the object "\(objectKeys.identifierText(of: key.bytes.span.bytes, nil))" has something else in the property \
            than its record has under that name. Name the coding key that the property is stored under.
            """)
      }
    }
  }
}

extension ReadAccess {
  /// The storage's own transaction, without the changes that are not saved to it.
  var committed: any ReadTransaction { overlay?.base ?? transaction }

  /// The transaction that sees the storage through unsaved changes, if this is one; also if it stands behind one that notes
  /// changes for listeners.
  private var overlay: OverlayReadTransaction? {
    if let overlay = transaction as? OverlayReadTransaction { return overlay }
    if !isWriting { return nil }
    return (transaction as? NotingTransaction)?.base as? OverlayReadTransaction
  }
}
