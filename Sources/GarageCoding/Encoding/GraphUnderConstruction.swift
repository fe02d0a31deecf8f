/// The parts of a graph that is being encoded: its objects, and the tables of the record under construction.
struct GraphUnderConstruction: ~Copyable {
  // The record under construction.
  private(set) var shapes = RawStack<Permanent<Shape>>()
  private(set) var references = RawStack<ReferenceTable.Entry>()
  /// The identities that lazy references of this record name. They have no object here, and the graph need not know them.
  private(set) var lazyIdentities = IdentityTable()
  private var lazyTargets = RawStack<LazyTarget>()
  /// The tags of these, once they were collected.
  private(set) var referenceTags = ReferenceTags()
  /// Keys of key types that are no enums, on the path to the value being encoded.
  var pathKeys: [any CodingKey] = []
  /// Notes where a value wrote into a nested container that is older than the value: what it wrote outside itself cannot be
  /// taken back with it.
  private var crossings = RawStack<UInt64>()

  /// What the graph holds. The identity with number n is that of entry n.
  private(set) var entries = RawStack<GraphEntry>()
  private(set) var identities = IdentityTable()
  private var objects = ObjectArena()
  /// The entries that have a value to encode, in the order of their distance from the roots.
  private var queue = RawStack<Int>()
  private var nextInQueue = 0
  /// The entries whose value was replaced by another one while this record was encoded.
  private var replaced = RawStack<Replacement>()
  /// The distance of this record's object from the roots.
  private var currentLevel = 0
  /// A root that is being encoded, as long as the graph has no other identity.
  private var loneRoot: (tag: UInt64, facts: Permanent<TypeFacts>)?
  private var loneIdentifier = RawStack<UInt8>()
  /// 1, once such a root has entered the tables.
  private var loneRootCount = 0

  private struct LazyTarget {
    var facts: Permanent<TypeFacts>
    var referenceIndex: Int
  }

  private struct Replacement {
    var number: Int
    var before: GraphEntry
  }

  /// The objects that stood inline and that references were made from, and how far from the roots. They stay also when such a
  /// reference is taken back: each is parked only if it has no record.
  private var inlineTargets: [(target: InlineTarget, level: Int)] = []

  /// How long the lists are, to go back to.
  struct Mark {
    fileprivate var referenceCount: Int
    fileprivate var entryCount: Int
    fileprivate var queueCount: Int
    fileprivate var shapeCount: Int
    fileprivate var replacedCount: Int
    fileprivate var pathKeyCount: Int
    fileprivate var crossingCount: Int
  }

  // MARK: - Going on and back

  /// Forgets the tables of the record before.
  @inline(__always)
  mutating func beginRecord() {
    shapes.truncate(to: 0)
    if !references.isEmpty { forgetReferences() }
    if !pathKeys.isEmpty { pathKeys.removeAll() }
    crossings.truncate(to: 0)
  }

  private mutating func forgetReferences() {
    for reference in references.all where reference.kind != .lazy && reference.number < entries.count {
      entries[reference.number].clear(reference.kind)
    }
    references.truncate(to: 0)
    lazyIdentities.removeAll()
    lazyTargets.removeAll(keeping: 1024)
  }

  mutating func forget() {
    objects.removeAll()
    entries.removeAll(keeping: 4096)
    identities.removeAll()
    queue.removeAll(keeping: 4096)
    nextInQueue = 0
    replaced.removeAll(keeping: 1024)
    references.removeAll(keeping: 4096)
    crossings.removeAll(keeping: 4096)
    loneIdentifier.removeAll(keeping: 4096)
    currentLevel = 0
    loneRoot = nil
    loneRootCount = 0
    if !inlineTargets.isEmpty { inlineTargets = [] }
  }

  var mark: Mark {
    Mark(
      referenceCount: references.count, entryCount: entries.count, queueCount: queue.count,
      shapeCount: shapes.count, replacedCount: replaced.count, pathKeyCount: pathKeys.count,
      crossingCount: crossings.count)
  }

  mutating func rollBack(to mark: Mark) {
    while replaced.count > mark.replacedCount {
      let last = replaced.removeLast()
      entries[last.number] = last.before
    }
    while references.count > mark.referenceCount {
      let reference = references.removeLast()
      if reference.kind == .lazy {
        lazyIdentities.truncate(to: reference.number)
        lazyTargets.truncate(to: reference.number)
      } else {
        entries[reference.number].clear(reference.kind)
      }
    }
    // A root that was alone when the mark was set stays.
    queue.truncate(to: max(mark.queueCount, loneRootCount))
    let entryCount = max(mark.entryCount, loneRootCount)
    if entries.count > entryCount {
      entries.truncate(to: entryCount)
      identities.truncate(to: entryCount)
    }
    shapes.truncate(to: mark.shapeCount)
    if pathKeys.count > mark.pathKeyCount { pathKeys.removeSubrange(mark.pathKeyCount...) }
  }

  /// Makes room for that many more objects.
  mutating func reserve(_ count: Int) {
    entries.reserve(count)
    identities.reserve(count)
    queue.reserve(count)
  }

  mutating func noteCrossing(into nested: UInt64) { crossings.append(nested) }

  /// Whether a nested container that is as old as the serial, or older, was written to since `mark`.
  func hasCrossed(since mark: Mark, _ serial: UInt64) -> Bool {
    crossings.count > mark.crossingCount && crossings.all[mark.crossingCount...].contains { $0 <= serial }
  }

  // MARK: - A root alone

  /// Begins the graph of one root, which enters the tables only when the first identity beside it does; what lazy references name
  /// has a table of its own. Its identifier is kept by its writer until then.
  @inline(__always)
  mutating func beginLoneRoot(
    tag: UInt64, _ identifier: UnsafeRawBufferPointer, _ facts: Permanent<TypeFacts>
  ) {
    loneIdentifier.truncate(to: 0)
    loneIdentifier.append(identifier)
    loneRoot = (tag, facts)
    currentLevel = 0
    replaced.truncate(to: 0)
  }

  /// The identifier of the root, where it stayed alone.
  @inline(__always)
  mutating func endLoneRoot() -> UnsafeRawBufferPointer? {
    guard loneRoot != nil else { return nil }
    loneRoot = nil
    return UnsafeRawBufferPointer(loneIdentifier.all)
  }

  /// The identifier of a root that was begun so, whether it stayed alone or not.
  var identifierOfRoot: UnsafeRawBufferPointer { UnsafeRawBufferPointer(loneIdentifier.all) }

  @inline(never)
  private mutating func enterLoneRoot(_ root: (tag: UInt64, facts: Permanent<TypeFacts>)) {
    loneRoot = nil
    loneRootCount = 1
    _ = enqueue(tag: root.tag, UnsafeRawBufferPointer(loneIdentifier.all), .root(0), root.facts)
    _ = beginNext()
  }

  // MARK: - What stood inline

  mutating func note(_ target: InlineTarget) {
    // A graph that gets another object has more than its root.
    if let loneRoot { enterLoneRoot(loneRoot) }
    inlineTargets.append((target, currentLevel))
  }

  /// Those that were noted. Of several with one identity the one that counts comes first: the nearest to the roots, at equal
  /// distance the later one.
  var orderedInlineTargets: [InlineTarget] {
    if inlineTargets.isEmpty { return [] }
    return inlineTargets.enumerated().sorted { a, b in
      (a.element.level, b.offset) < (b.element.level, a.offset)
    }.map(\.element.target)
  }

  // MARK: - Tables

  /// The place of a shape in the record's table.
  @inline(__always)
  mutating func index(of shape: Permanent<Shape>) -> Int {
    // Backwards, because elements of an array mostly have the shape of their neighbour. Records have few shapes.
    let address = shape.address
    var index = shapes.count &- 1
    while index >= 0 {
      if shapes[index].address == address { return index }
      index &-= 1
    }
    shapes.append(shape)
    return shapes.count &- 1
  }

  /// The place in the record's reference table of an entry of the graph.
  mutating func referenceIndex(of entry: Int, _ kind: ReferenceKind) -> Int {
    if let index = entries[entry].index(kind) { return index }
    references.append(ReferenceTable.Entry(number: entry, kind: kind))
    entries[entry].setIndex(kind, references.count - 1)
    return references.count - 1
  }

  /// The place in the record's reference table of a lazy reference to an identity.
  mutating func lazyReferenceIndex(of identity: RecordIdentity, _ facts: Permanent<TypeFacts>) -> Int {
    let (number, isNew) = identity.identifier.bytes.withUnsafeBytes {
      lazyIdentities.insert(tag: identity.tag, $0)
    }
    if isNew {
      lazyTargets.append(LazyTarget(facts: facts, referenceIndex: references.count))
      references.append(ReferenceTable.Entry(number: number, kind: .lazy))
    }
    return lazyTargets[number].referenceIndex
  }

  /// What is known of the type of the object that a reference of the record names.
  func facts(ofReference index: Int) -> Permanent<TypeFacts> {
    let reference = references[index]
    return reference.kind == .lazy ? lazyTargets[reference.number].facts : entries[reference.number].facts
  }

  func identity(of reference: ReferenceTable.Entry) -> RecordIdentity {
    reference.kind == .lazy
      ? lazyIdentities.identity(of: reference.number) : identities.identity(of: reference.number)
  }

  /// Collects the tags of the record's references, of which there will be no more.
  mutating func collectReferenceTags() {
    referenceTags.collect(references.all, identities, lazy: lazyIdentities)
  }

  // MARK: - Objects

  /// Queues a root for encoding, where the graph does not hold its identity yet, and returns its entry.
  @inline(__always)
  mutating func enqueue(
    tag: UInt64, _ identifier: UnsafeRawBufferPointer, _ value: GraphEntry.Value,
    _ facts: Permanent<TypeFacts>
  ) -> Int {
    let (number, isNew) = identities.insert(tag: tag, identifier)
    if isNew {
      append(number, value, facts, level: 0)
    } else if isReplaceable(number, level: 0) {
      replace(number, value, facts, level: 0)
    }
    return number
  }

  /// Queues a child of the record under construction in the same way.
  @inline(__always)
  mutating func enqueueChild<T: Encodable>(
    tag: UInt64, _ identifier: UnsafeRawBufferPointer, _ value: T, _ facts: Permanent<TypeFacts>
  ) -> Int {
    if let loneRoot { enterLoneRoot(loneRoot) }
    let level = currentLevel + 1
    let (number, isNew) = identities.insert(tag: tag, identifier)
    // Boxed only if the entry takes it: copying a struct costs a retain for each field.
    if isNew {
      append(number, .object(objects.keep(value)), facts, level: level)
    } else if isReplaceable(number, level: level) {
      replace(number, .object(objects.keep(value)), facts, level: level)
    }
    return number
  }

  @inline(__always)
  private mutating func append(
    _ number: Int, _ value: GraphEntry.Value, _ facts: Permanent<TypeFacts>, level: Int
  ) {
    entries.append(GraphEntry(value: value, facts: facts, level: level))
    queue.append(number)
  }

  /// Whether another value takes the place of an entry's: of several values of one identity the one nearest a root
  /// stays, at equal distance the later one.
  @inline(__always)
  private func isReplaceable(_ number: Int, level: Int) -> Bool {
    entries[number].level >= level && !entries[number].isEncoded
  }

  @inline(never)
  private mutating func replace(
    _ number: Int, _ value: GraphEntry.Value, _ facts: Permanent<TypeFacts>, level: Int
  ) {
    replaced.append(Replacement(number: number, before: entries[number]))
    if entries[number].level > level { queue.append(number) }
    entries[number].level = level
    entries[number].value = value
    entries[number].facts = facts
  }

  /// Notes an identity that this record names without an object to encode.
  mutating func noteIdentity(_ identity: RecordIdentity, _ facts: Permanent<TypeFacts>) -> Int {
    if let loneRoot { enterLoneRoot(loneRoot) }
    let (number, isNew) = identity.identifier.bytes.withUnsafeBytes {
      identities.insert(tag: identity.tag, $0)
    }
    // At a level behind all objects, so that a value of that identity replaces the entry if one comes.
    if isNew { entries.append(GraphEntry(value: .none, facts: facts, level: .max)) }
    return number
  }

  /// Takes the next entry to encode. Its children are one level farther from the roots.
  @inline(__always)
  mutating func beginNext() -> Int? {
    guard nextInQueue < queue.count else { return nil }
    let number = queue[nextInQueue]
    nextInQueue &+= 1
    entries[number].isEncoded = true
    currentLevel = entries[number].level
    replaced.truncate(to: 0)
    return number
  }
}

/// An object of a graph: waiting to be encoded, or encoded.
struct GraphEntry {
  /// What there is to encode.
  enum Value {
    case object(KeptObject)
    /// One of the roots, which their caller keeps, by its place.
    case root(Int)
    /// Nothing: the graph only names the identity.
    case none
  }

  var value: Value
  var facts: Permanent<TypeFacts>
  /// The distance from the nearest root.
  var level: Int
  var isEncoded = false
  /// Where it stands in the table of the record under construction, by kind; -1 where it does not.
  private var eager: Int32 = -1
  private var linked: Int32 = -1
  private var lazy: Int32 = -1

  init(value: Value, facts: Permanent<TypeFacts>, level: Int) {
    self.value = value
    self.facts = facts
    self.level = level
  }

  func index(_ kind: ReferenceKind) -> Int? {
    let index =
      switch kind {
      case .eager: eager
      case .linked: linked
      case .lazy: lazy
      }
    return index < 0 ? nil : Int(index)
  }

  mutating func setIndex(_ kind: ReferenceKind, _ index: Int) {
    switch kind {
    case .eager: eager = Int32(index)
    case .linked: linked = Int32(index)
    case .lazy: lazy = Int32(index)
    }
  }

  mutating func clear(_ kind: ReferenceKind) { setIndex(kind, -1) }
}
