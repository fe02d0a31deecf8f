internal import GarageCoding
internal import GarageDriver
internal import Synchronization

/// What one garage knows about indexes: those that its types declare, and those that the store has.
///
/// The catalog of the store is read in every transaction that needs it. It is parsed only if it differs from the one before.
final class Indexing: Sendable {
  /// An index as a type declares it.
  struct Declaration: Sendable {
    let definition: IndexDefinition
    let id: UInt64
    let name: String
    let typeName: String
    /// Compares a field in a record with the object's value, if the field was only named.
    let check: IndexCheck?
  }

  /// The reason why a unique index cannot be completed.
  struct Collision: Sendable {
    /// The keys of the records that have the same values; empty if it cannot be told which they are.
    let keys: [StorageKey]
    /// The error that reports it.
    let error: GarageError
  }

  private struct Known: Sendable {
    /// The last catalog that was read.
    var catalog: IndexCatalog?
    /// The name of a state of the storage, and its catalog, which is nil if it has none. Nil as a whole if no named state's
    /// catalog is known.
    var seen: (state: UInt64, catalog: IndexCatalog?)?
    /// How many declarations the catalog was compared with.
    var reconciledCount = 0
    /// The catalog with the indexes that are declared and not stored, and what it was made from.
    var planned: (base: IndexCatalog?, count: Int, catalog: IndexCatalog)?
    /// The types whose declarations are known.
    var met: Set<ObjectIdentifier> = []
    /// Those of these types whose indexes are ready, or cannot be made.
    var settled: Set<ObjectIdentifier> = []
    var declarations: [Declaration] = []
    /// The indexes that the store had. They are not put there again if somebody drops them.
    var stored: Set<UInt64> = []
    /// The unique indexes that could not be completed, because existing records have the same values.
    var collisions: [UInt64: Collision] = [:]
    /// A batch that is not in use.
    var idleBatch: IdleBatch?
  }

  /// Passed from one writer to the next. Nobody uses it in between.
  private struct IdleBatch: @unchecked Sendable {
    let batch: IndexBatch
  }

  let keys: ObjectKeys
  let texts: StoreTexts
  private let driverName: String
  private let known = Mutex(Known())
  private let declarationCount = Atomic<Int>(0)
  /// The address of the type that was last found settled; 0 if there is none. Mostly the same type is asked for again. Changed
  /// under the lock.
  private let recentlySettled = Atomic<UInt>(0)
  /// How queries find the objects with one value.
  let pointLookups = PointLookup.Table()
  /// How queries find the objects in the order of one property.
  let orderLookups = PointLookup.Table()

  init(_ keys: ObjectKeys, _ texts: StoreTexts, driver: String) {
    self.keys = keys
    self.texts = texts
    driverName = driver
  }

  // MARK: - The declarations of types

  /// Takes up the declarations of types.
  ///
  /// - Throws: ``GarageError/invalidIndex(type:index:reason:)``.
  func meet(_ types: [Any.Type]) throws {
    for type in types { try meet(type) }
  }

  /// Takes up the declarations of a type.
  ///
  /// - Throws: ``GarageError/invalidIndex(type:index:reason:)``.
  func meet(_ type: Any.Type) throws {
    if hasMet(type) { return }
    // Users' code runs outside the lock.
    func declare<T: Indexed>(_ type: T.Type) throws { try self.declare(type.indexes, by: type) }
    if let type = type as? any Indexed.Type { try declare(type) }
    _ = known.withLock { $0.met.insert(ObjectIdentifier(type)) }
  }

  /// Whether the declarations of a type are known.
  func hasMet(_ type: Any.Type) -> Bool { known.withLock { $0.met.contains(ObjectIdentifier(type)) } }

  /// Takes up the index of references, if the garage was opened with one.
  func declare(_ option: ReferrerOption) {
    guard option != .asStored else { return }
    var definition = IndexDefinition(tag: 0, typeVersion: 0)
    definition.isOfReferences = true
    definition.isHashed = option == .hashed
    let declaration = Declaration(
      definition: definition, id: definition.id, name: "referrers", typeName: "all types", check: nil)
    known.withLock { known in
      known.declarations.append(declaration)
      declarationCount.store(known.declarations.count, ordering: .releasing)
    }
  }

  /// Whether an index of references is declared.
  var declaresReferences: Bool {
    known.withLock { $0.declarations.contains { $0.definition.isOfReferences } }
  }

  /// Takes up declared indexes.
  ///
  /// - Parameter type: the type that has the indexes. It may be a subclass of the one that declares them.
  /// - Throws: ``GarageError/invalidIndex(type:index:reason:)``.
  func declare<Root>(_ indexes: [Index<Root>], by type: Any.Type = Root.self) throws {
    if indexes.count > 64 {
      throw GarageError.invalidIndex(
        type: "\(Root.self)", index: "\(indexes.count) of them", reason: "a type has at most 64.")
    }
    let declared = try indexes.map { index in
      let declaration = try index.declaration(isSealed: keys.isSealed)
      if declaration.definition.isUnique { try index.check(declaration, in: type) }
      return declaration
    }
    try Index<Root>.checkNames(declared)
    known.withLock { known in
      for declaration in declared where !known.declarations.contains(where: { $0.id == declaration.id }) {
        known.declarations.append(declaration)
      }
      declarationCount.store(known.declarations.count, ordering: .releasing)
    }
  }

  /// How many indexes types have declared so far.
  var declaredCount: Int { declarationCount.load(ordering: .acquiring) }

  /// All declarations.
  var declarations: [Declaration] { known.withLock { $0.declarations } }

  /// Whether a type can be used without further preparation.
  func isSettled(_ type: Any.Type) -> Bool {
    let key = ObjectIdentifier(type)
    if recentlySettled.load(ordering: .acquiring) == key.address { return true }
    return known.withLock { known in
      guard known.settled.contains(key) else { return false }
      recentlySettled.store(key.address, ordering: .releasing)
      return true
    }
  }

  func noteSettled(_ type: Any.Type) { _ = known.withLock { $0.settled.insert(ObjectIdentifier(type)) } }

  /// Notes that this garage must not make these indexes again.
  func noteDropped(_ ids: [UInt64]) { known.withLock { $0.stored.formUnion(ids) } }

  /// Notes the reason why a unique index is not to be tried again, as long as the reason holds.
  func noteCollision(_ collision: Collision, of id: UInt64) {
    known.withLock { $0.collisions[id] = collision }
  }

  /// The reason that was noted last. It may not hold any more (`IndexFilling.collision`).
  func knownCollision(of id: UInt64) -> Collision? { known.withLock { $0.collisions[id] } }

  /// Notes that indexes may not be ready any more, so that queries make them ready again.
  func forgetSettled() {
    known.withLock { known in
      known.settled = []
      recentlySettled.store(0, ordering: .releasing)
    }
  }

  /// Notes that dropped indexes are to be made again if they are declared, and that those that could not be completed are to be
  /// tried again.
  func forgetDropped() {
    known.withLock { known in
      known.stored = []
      known.settled = []
      known.collisions = [:]
      recentlySettled.store(0, ordering: .releasing)
      known.reconciledCount = -1
    }
  }

  // MARK: - The catalog of the store

  /// The catalog that a transaction sees; nil if there is none.
  ///
  /// - Throws: ``GarageError/damagedMetadata(driver:)``, ``GarageError/newerFormat(version:driver:)``.
  func catalog(in transaction: any ReadTransaction) throws -> IndexCatalog? {
    try transaction.withValue(for: IndexCatalog.key) { bytes in
      guard let bytes else { return nil }
      if let last = known.withLock({ $0.catalog }) {
        let lastBytes = last.bytes
        if compareKeys(lastBytes.span.bytes, bytes) == 0 { return last }
      }
      let catalog = try IndexCatalog(bytes: [UInt8](copying: bytes), driver: driverName)
      known.withLock { known in
        known.catalog = catalog
        known.reconciledCount = -1
      }
      return catalog
    }
  }

  /// The same for frequent calls: in a state of the storage for which it was called before, nothing is read.
  ///
  /// - Throws: as ``catalog(in:)``.
  func catalog(in access: ReadAccess) throws -> IndexCatalog? {
    let transaction = access.transaction
    guard let state = access.stateName else { return try catalog(in: transaction) }
    if let seen = known.withLock({ $0.seen }), seen.state == state { return seen.catalog }
    let catalog = try catalog(in: transaction)
    known.withLock { $0.seen = (state, catalog) }
    return catalog
  }

  /// The catalog for a writer whose changes go to the store. Indexes that are declared and missing are added to it.
  func catalogForWriting(in transaction: any WriteTransaction) throws -> IndexCatalog? {
    let catalog = try catalog(in: transaction)
    let count = declarationCount.load(ordering: .acquiring)
    if count == 0 { return catalog }
    let isReconciled = known.withLock { $0.reconciledCount == count && $0.catalog === catalog }
    if isReconciled { return catalog }
    let updated = try reconcile(catalog, transaction)
    // A catalog that may be rolled back is not noted.
    if updated == nil { known.withLock { if $0.catalog === catalog { $0.reconciledCount = count } } }
    return updated ?? catalog
  }

  /// The catalog for a writer whose changes stay unsaved. It includes declared indexes that the store does not have yet.
  func catalogForUnsaved(in transaction: any ReadTransaction) throws -> IndexCatalog? {
    let base = try catalog(in: transaction)
    let count = declarationCount.load(ordering: .acquiring)
    if count == 0 { return base }
    if let planned = known.withLock({ $0.planned }), planned.base === base, planned.count == count {
      return planned.catalog.items.isEmpty ? nil : planned.catalog
    }
    let missing = missing(in: base)
    let catalog = IndexCatalog((base?.items ?? []) + missing.map { item($0, .building) })
    known.withLock { $0.planned = (base, count, catalog) }
    return catalog.items.isEmpty ? nil : catalog
  }

  /// Notes which indexes the store has. If one of them is dropped later, it is not added again.
  func noteStored(_ catalog: IndexCatalog) {
    if declarationCount.load(ordering: .acquiring) == 0 { return }
    known.withLock { known in
      for item in catalog.items where item.state != .dropping { known.stored.insert(item.id) }
    }
  }

  /// Whether a catalog has all declared indexes, all of them ready, and none that is to be removed.
  func isComplete(_ catalog: IndexCatalog?) -> Bool {
    missing(in: catalog).isEmpty && (catalog?.items ?? []).allSatisfy { $0.state == .ready }
  }

  private func missing(in catalog: IndexCatalog?) -> [Declaration] {
    let items = catalog?.items ?? []
    return known.withLock { known in
      known.declarations.filter { declaration in
        !known.stored.contains(declaration.id)
          && !items.contains {
            $0.id == declaration.id
              || $0.definition.supersedes(declaration.definition)
                && $0.definition.hasSameKeys(as: declaration.definition)
          }
      }
    }
  }

  private func item(_ declaration: Declaration, _ state: IndexCatalog.State) -> IndexCatalog.Item {
    var item = IndexCatalog.Item(declaration.definition, name: declaration.name, state: state)
    if declaration.definition.isHashed { item.hashKey = KeyedHash.makeKey() }
    return item
  }

  /// Adds the declared indexes that are missing to the catalog; nil if none is missing.
  private func reconcile(
    _ catalog: IndexCatalog?, _ transaction: any WriteTransaction
  ) throws -> IndexCatalog? {
    let missing = missing(in: catalog)
    if missing.isEmpty { return nil }
    let new = try missing.map { declaration in
      var isEmpty = true
      for range in declaration.definition.recordRanges {
        try transaction.scanKeys(range, .forward) { _ in
          isEmpty = false
          return .stop
        }
      }
      return item(declaration, isEmpty ? .ready : .building)
    }
    let updated = IndexCatalog((catalog?.items ?? []) + new)
    for item in new {
      for tag in item.definition.tags
      where updated.positions(tag: tag).count > 64 + updated.maintainedForAll.count {
        throw GarageError.invalidIndex(
          type: "the type", index: item.name,
          reason:
            "the store has 64 indexes of its objects already. Drop those that nobody needs: dropIndex(_:of:)."
        )
      }
    }
    try put(updated, in: transaction)
    if catalog == nil { try raiseFormat(transaction) }
    return updated
  }

  func put(_ catalog: IndexCatalog, in transaction: any WriteTransaction) throws {
    try transaction.put(catalog.bytes, for: IndexCatalog.key)
  }

  /// Raises the format of the store, so that older libraries that do not know indexes refuse it.
  private func raiseFormat(_ transaction: any WriteTransaction) throws {
    guard var metadata = try StoreMetadata(in: transaction, driver: driverName), metadata.version < 2
    else { return }
    metadata.version = 2
    try transaction.put(metadata.bytes, for: StoreMetadata.key)
  }

  // MARK: - Batches

  /// A batch for the store's writer, which gives it back.
  func takeBatch(_ catalog: IndexCatalog) -> IndexBatch {
    let idle = known.withLock { known in
      defer { known.idleBatch = nil }
      return known.idleBatch
    }
    if let batch = idle?.batch, batch.catalog === catalog { return batch }
    return IndexBatch(catalog, keys, texts)
  }

  func giveBack(_ batch: IndexBatch) {
    batch.end()
    let idle = IdleBatch(batch: batch)
    known.withLock { $0.idleBatch = idle }
  }
}

// MARK: - Declarations

extension Index {
  /// Checks that the values of a subclass's objects would be in the index, by which they are compared.
  ///
  /// - Throws: ``GarageError/invalidIndex(type:index:reason:)`` if these values are known to be in another place.
  fileprivate func check(_ declaration: Indexing.Declaration, in type: Any.Type) throws {
    guard type != Root.self, let type = type as? any Codable.Type else { return }
    let facts = try RecordTypeFacts.of(type)
    let (version, indexed) = (facts.ofCoder.currentVersion, declaration.definition.typeVersion)
    if version != indexed {
      throw GarageError.invalidIndex(
        type: facts.name, index: declaration.name,
        reason: """
          it is unique, and of objects in version \(indexed), where \(facts.name) is stored in version \(version): nobody \
          would see that two objects share a value. Let \(declaration.typeName) and \(facts.name) have the same version.
          """)
    }
    for (part, component) in zip(parts, declaration.definition.components) {
      guard let path = part.fieldInSubclass(type)?.path, path != component.path else { continue }
      let name = facts.name
      throw GarageError.invalidIndex(
        type: name, index: declaration.name,
        reason: """
          it is unique, and \(name) has the property under "\(path)", where \(declaration.typeName) has it under \
          "\(component.path)": nobody would see that two objects share a value. Let \(name) encode its superclass beside its \
          own properties, super.encode(to: encoder), and read it so, super.init(from: decoder).
          """)
    }
  }

  /// Checks that no two indexes of different fields have the same name, because dropping one would drop both. Indexes of the
  /// same fields, one of which ignores upper and lower case, may have the same name.
  ///
  /// - Throws: ``GarageError/invalidIndex(type:index:reason:)``.
  fileprivate static func checkNames(_ declarations: [Indexing.Declaration]) throws {
    var paths: [String: [FieldPath]] = [:]
    for declaration in declarations {
      let components = declaration.definition.components.map(\.path)
      if let others = paths.updateValue(components, forKey: declaration.name), others != components {
        throw GarageError.invalidIndex(
          type: declaration.typeName, index: declaration.name,
          reason: """
            two indexes have this name, one of \(others.map { "\"\($0)\"" }.joined(separator: ", ")), the other of \
            \(components.map { "\"\($0)\"" }.joined(separator: ", ")). Give each a name of its own.
            """)
      }
    }
  }

  /// - Throws: ``GarageError/invalidIndex(type:index:reason:)``.
  func declaration(isSealed: Bool) throws -> Indexing.Declaration {
    let facts = try RecordTypeFacts.of(Root.self)
    var shownName = name ?? parts.map(\.name).joined(separator: ", ")
    func invalid(_ reason: String) -> GarageError {
      .invalidIndex(type: facts.name, index: shownName, reason: reason)
    }
    var definition = IndexDefinition(tag: facts.tag, typeVersion: facts.ofCoder.currentVersion)
    definition.formerTags = Array(facts.tags.dropFirst())
    definition.isEach = isEach
    definition.isUnique = options.contains(.unique)
    if definition.isUnique && facts.sharesSpaceWithSuperclass { definition.classTags = facts.ownTags }
    definition.isHashed = options.contains(.hashed)
    if definition.isHashed && options.contains(.readable) {
      throw invalid(
        """
        it is said to be both .hashed and .readable. Say .hashed where its values are not to be read in the file, \
        .readable where ranges and orders are asked for.
        """)
    }
    if options.contains(.caseInsensitive), parts.allSatisfy(\.hasNoText) {
      throw invalid("it is said to be .caseInsensitive, and has no text. Leave that away.")
    }
    var isNamed = false
    for part in parts {
      let path: FieldPath
      if part.isCollection && !isEach { throw invalid(reason(.isCollection, part)) }
      let (field, absence) = part.lookUp()
      if let field {
        if field.isBehindReference(in: Root.self) { throw invalid(reasonBehindReference(field.path)) }
        path = field.path
      } else {
        guard case .isUnknown = absence, let name, parts.count == 1 else {
          if name == nil, part.isNameless { shownName = "of a computed property" }
          throw invalid(reason(absence, part))
        }
        path = FieldPath(name: name)
        isNamed = true
      }
      let older = path.keys.count == 1 ? facts.ofCoder.ownOlderKeys(of: path.keys[0]) : []
      definition.components.append(
        IndexedFields.Component(
          path: path, olderKeys: older, ignoresCase: options.contains(.caseInsensitive)))
    }
    try checkDistinct(definition, invalid)
    if name == nil, parts.contains(where: \.isNameless) {
      shownName = definition.components.map { "\($0.path)" }.joined(separator: ", ")
    }
    if isSealed && !options.contains(.readable) && !definition.isHashed {
      throw invalid(
        """
        the storage is sealed, and its values could be read in the index's keys. Say .hashed for an index that finds \
        equal values only, or .readable where they may be read.
        """)
    }
    try checkLengths(of: definition, invalid)
    let nameCount = shownName.utf8.count
    if nameCount > 60_000 {
      shownName = "\(shownName.prefix(40))…"
      throw invalid("its name has \(nameCount) bytes, and 60000 at most are stored. Give it a shorter one.")
    }
    return Indexing.Declaration(
      definition: definition, id: definition.id, name: shownName, typeName: facts.name,
      check: isNamed ? IndexCheck(Root.self, parts[0], definition) : nil)
  }

  /// Throws if a definition names a field twice, or if the index has a name that tells nothing.
  private func checkDistinct(_ definition: IndexDefinition, _ invalid: (String) -> GarageError) throws {
    if name?.isEmpty == true {
      throw invalid(
        "its name is empty. Leave the name away, and it has that of its properties, or give it another one.")
    }
    var paths: Set<FieldPath> = []
    for component in definition.components where !paths.insert(component.path).inserted {
      throw invalid(
        """
        it has "\(component.path)" twice, by which nothing more is found or sorted than once. Leave it away in one place, or \
        name another property there.
        """)
    }
  }

  /// Throws if a definition has more than the catalog can hold, before it is written.
  private func checkLengths(of definition: IndexDefinition, _ invalid: (String) -> GarageError) throws {
    let nameCounts = [definition.formerTags.count, definition.classTags.count]
    if let count = nameCounts.max(), count > 255 {
      throw invalid(
        """
        its type has \(count) names, and 255 at most are stored. Leave those away from formerTypeTags that no object is kept \
        under any more: migrateAll(_:) parks all under the present one.
        """)
    }
    if definition.bytes.count > 60_000 { throw invalid("its fields have too long names.") }
  }
}
