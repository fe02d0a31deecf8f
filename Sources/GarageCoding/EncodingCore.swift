#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// All that encoding needs, reused from graph to graph: a new one costs more than encoding a small object.
///
/// Pooled and never freed, like its state. One thread uses it at a time; an `encode(to:)` that encodes
/// something else by itself gets another one.
final class EncodingCore {
  let state: EncoderPointer
  let boxes = ContainerBoxes()
  /// The graph, and the record under construction. Behind a pointer, like the state, because a class's
  /// properties are checked for exclusive access each time.
  let graph: UnsafeMutablePointer<GraphUnderConstruction>
  let identifierWriter: UnsafeMutablePointer<IdentifierWriter>
  private var waitingNodes: [Unmanaged<EncodingNode>] = []
  /// The nested containers of the open maps that were asked for by key.
  var fields: [EncodingNode.Field: Unmanaged<EncodingNode>] = [:]
  var userInfo: [CodingUserInfoKey: any Sendable] = [:]
  /// Whether references stand inline by their own: inside an identifier nothing is a reference.
  var inlinesEverything = false
  /// Whether the digest of a `Syncable` value is wanted, of which its status is no part.
  var leavesOutSyncStatus = false
  /// How dates are written, where the state says that there is a strategy.
  var dateStrategy = DateEncodingStrategy.deferredToDate
  /// The entry of the graph whose record is under construction.
  var currentEntry: Int?
  private(set) var failure: (any Error)?

  private init() {
    state = .allocate(capacity: 1)
    graph = .allocate(capacity: 1)
    graph.initialize(to: GraphUnderConstruction())
    identifierWriter = .allocate(capacity: 1)
    identifierWriter.initialize(to: IdentifierWriter())
    // Last, because the state points back here.
    state.initialize(
      to: EncoderState(output: EncodingOutput(), graph: graph, core: Unmanaged.passUnretained(self)))
  }

  // MARK: - The pool

  private static let pool = CorePool<EncodingCore>()

  /// Lends a core to `body`.
  static func withCore<R>(
    userInfo: [CodingUserInfoKey: any Sendable] = [:], isCanonical: Bool = false, inlinesEverything: Bool = false,
    _ body: (EncodingCore) throws -> R
  ) throws -> R {
    let pooled = pool.take() ?? Unmanaged.passRetained(EncodingCore())
    let core = pooled.takeUnretainedValue()
    core.userInfo = userInfo
    core.state.pointee.isCanonical = isCanonical
    core.inlinesEverything = inlinesEverything
    core.state.pointee.serialBefore = core.state.pointee.lastSerial
    defer {
      core.reset()
      pool.giveBack(pooled)
    }
    return try body(core)
  }

  private func reset() {
    state.pointee.serialBefore = .max
    beginRecord()
    graph.pointee.entries.removeAll(keepingCapacity: graph.pointee.entries.capacity < 4096)
    graph.pointee.identities.removeAll()
    graph.pointee.queue.removeAll(keepingCapacity: graph.pointee.queue.capacity < 4096)
    graph.pointee.nextInQueue = 0
    graph.pointee.replaced.removeAll()
    failure = nil
    leavesOutSyncStatus = false
    if state.pointee.hasDateStrategy {
      state.pointee.hasDateStrategy = false
      dateStrategy = .deferredToDate
      currentEntry = nil
    }
    graph.pointee.currentLevel = 0
    if !userInfo.isEmpty { userInfo = [:] }
  }

  // MARK: - One body

  /// Forgets the record that was under construction.
  func beginRecord() {
    state.pointee.output.count = 0
    state.pointee.output.frame = EncodingFrame()
    state.pointee.output.entries.truncate(to: 0)
    state.dropHoles(to: 0)
    state.pointee.frames.truncate(to: 0)
    state.pointee.depth = 0
    graph.pointee.shapes.removeAll(keepingCapacity: true)
    for reference in graph.pointee.references where reference.entry < graph.pointee.entries.count {
      graph.pointee.entries[reference.entry].clear(reference.kind)
    }
    graph.pointee.references.removeAll(keepingCapacity: true)
    if !graph.pointee.pathKeys.isEmpty { graph.pointee.pathKeys.removeAll() }
    if !graph.pointee.crossings.isEmpty { graph.pointee.crossings.removeAll() }
  }

  /// Encodes `value`, whatever its type, by its own `encode(to:)` and lends the body.
  func withBody<R>(of value: any Encodable, _ body: (UnsafeRawBufferPointer) throws -> R) throws -> R {
    beginRecord()
    do {
      try state.writeRoot(value)
    } catch {
      throw failure ?? error
    }
    if let failure { throw failure }
    return try body(UnsafeRawBufferPointer(start: state.pointee.output.base, count: state.pointee.output.count))
  }

  func noteCrossing(into node: UInt64) {
    graph.pointee.crossings.append(node)
  }

  /// Whether since `mark` somebody wrote into a nested container that is as old as the serial or older.
  func hasCrossed(since mark: GraphMark, _ serial: UInt64) -> Bool {
    graph.pointee.crossings.count > mark.crossingCount
      && graph.pointee.crossings[mark.crossingCount...].contains { $0 <= serial }
  }

  func noteFailure(_ error: any Error) {
    if failure == nil { failure = error }
  }

  /// The place of a shape in the record's table.
  func index(of shape: Unmanaged<Shape>) -> Int {
    // Backwards: what stands in an array mostly has the shape of its neighbour. Records have few graph.pointee.shapes.
    let address = shape.toOpaque()
    if let index = graph.pointee.shapes.lastIndex(where: { $0.toOpaque() == address }) { return index }
    graph.pointee.shapes.append(shape)
    return graph.pointee.shapes.count - 1
  }


  // MARK: - Identities and graph.pointee.references

  /// A nested container that is not in use.
  func takeNode() -> Unmanaged<EncodingNode> { waitingNodes.popLast() ?? Unmanaged.passRetained(EncodingNode()) }
  func giveBack(_ node: Unmanaged<EncodingNode>) { waitingNodes.append(node) }


  func rollBack(to mark: GraphMark) {
    while graph.pointee.replaced.count > mark.replacedCount {
      let last = graph.pointee.replaced.removeLast()
      graph.pointee.entries[last.number] = last.before
    }
    while graph.pointee.references.count > mark.referenceCount {
      let reference = graph.pointee.references.removeLast()
      graph.pointee.entries[reference.entry].clear(reference.kind)
    }
    if graph.pointee.queue.count > mark.queueCount { graph.pointee.queue.removeSubrange(mark.queueCount...) }
    if graph.pointee.entries.count > mark.entryCount {
      graph.pointee.entries.removeSubrange(mark.entryCount...)
      graph.pointee.identities.truncate(to: mark.entryCount)
    }
    if graph.pointee.shapes.count > mark.shapeCount { graph.pointee.shapes.removeSubrange(mark.shapeCount...) }
    if graph.pointee.pathKeys.count > mark.pathKeyCount { graph.pointee.pathKeys.removeSubrange(mark.pathKeyCount...) }
  }

  /// Writes the identifier of the value at `address` into ``identifierWriter``.
  func writeIdentifier(of address: UnsafeRawPointer, _ facts: TypeFacts) throws {
    identifierWriter.pointee.removeAll()
    guard let access = facts.identifier else { throw GraphCodingError.missingConformance(type: facts.name) }
    try access.get().write(address, &identifierWriter.pointee, canonicalBytes)
  }

  /// Queues an object for encoding, where the graph does not hold its identity yet, and returns its entry.
  ///
  /// Of several values of one identity the one nearest a root stays, at equal distance the later one.
  /// The identity is `tag` and what ``identifierWriter`` holds.
  func enqueue(
    tag: UInt64, _ value: any Encodable, _ facts: Unmanaged<TypeFacts>, level: Int
  ) -> Int {
    let (number, isNew) = graph.pointee.identities.insert(tag: tag, identifierWriter.pointee.bytes)
    if isNew {
      graph.pointee.entries.append(GraphEntry(value: value, facts: facts, level: level))
      graph.pointee.queue.append(number)
    } else if graph.pointee.entries[number].level >= level, !graph.pointee.entries[number].isEncoded {
      graph.pointee.replaced.append((number, graph.pointee.entries[number]))
      if graph.pointee.entries[number].level > level { graph.pointee.queue.append(number) }
      graph.pointee.entries[number].level = level
      graph.pointee.entries[number].value = value
      graph.pointee.entries[number].facts = facts
    }
    return number
  }

  /// Queues a child of the record under construction.
  func enqueueChild(tag: UInt64, _ value: any Encodable, _ facts: Unmanaged<TypeFacts>) -> Int {
    enqueue(tag: tag, value, facts, level: graph.pointee.currentLevel + 1)
  }

  /// Notes an identity that this record names without an object to encode: that of a `Reference`.
  func noteIdentity(_ identity: RecordIdentity, of type: Any.Type) -> Int {
    let (number, isNew) = identity.identifier.bytes.withUnsafeBytes { graph.pointee.identities.insert(tag: identity.tag, $0) }
    // Farther than any object, so that a value of that identity, should one come, takes its place.
    if isNew { graph.pointee.entries.append(GraphEntry(value: NoObject(), facts: state.pointee.types.facts(of: type).0, level: .max)) }
    return number
  }

  /// The place in the record's reference table of an entry of the graph.
  func referenceIndex(of entry: Int, _ kind: ReferenceKind) -> Int {
    if let index = graph.pointee.entries[entry].index(kind) { return index }
    graph.pointee.references.append((entry, kind))
    graph.pointee.entries[entry].setIndex(kind, graph.pointee.references.count - 1)
    return graph.pointee.references.count - 1
  }

  /// Takes the next entry to encode. Its children are one level farther from the roots.
  func beginNext() -> Int? {
    guard graph.pointee.nextInQueue < graph.pointee.queue.count else { return nil }
    let number = graph.pointee.queue[graph.pointee.nextInQueue]
    graph.pointee.nextInQueue += 1
    graph.pointee.entries[number].isEncoded = true
    graph.pointee.currentLevel = graph.pointee.entries[number].level
    graph.pointee.replaced.removeAll(keepingCapacity: true)
    return number
  }
}

/// The parts of a graph that is being encoded.
struct GraphUnderConstruction {
  // The record under construction: its tables.
  var shapes: [Unmanaged<Shape>] = []
  var references: [(entry: Int, kind: ReferenceKind)] = []
  /// Keys of key types that are no enums, on the path to the value being encoded.
  var pathKeys: [any CodingKey] = []
  /// Uses of nested containers from inside a value that was begun after them: what a value wrote outside itself
  /// cannot be taken back with it.
  var crossings: [UInt64] = []

  /// What the graph holds. The identity with number n is that of entry n.
  var entries: [GraphEntry] = []
  var identities = IdentityTable()
  /// The entries that have a value to encode, in the order of their distance from the roots.
  var queue: [Int] = []
  var nextInQueue = 0
  /// The entries whose value another one took the place of, while this record was encoded.
  var replaced: [(number: Int, before: GraphEntry)] = []
  /// The distance of this record's object from the roots.
  var currentLevel = 0

  /// How much of it there is, to go back to.
  var mark: GraphMark {
    GraphMark(
      referenceCount: references.count, entryCount: entries.count, queueCount: queue.count,
      shapeCount: shapes.count, replacedCount: replaced.count, pathKeyCount: pathKeys.count,
      crossingCount: crossings.count)
  }
}

/// An object of a graph: waiting to be encoded, or encoded and kept alive until the end.
struct GraphEntry {
  var value: any Encodable
  var facts: Unmanaged<TypeFacts>
  /// The distance from the nearest root.
  var level: Int
  var isEncoded = false
  /// Where it stands in the table of the record under construction, by kind; -1 where it does not.
  private var eager: Int32 = -1
  private var linked: Int32 = -1
  private var lazy: Int32 = -1

  init(value: any Encodable, facts: Unmanaged<TypeFacts>, level: Int) {
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

/// Stands for an object that is only named.
struct NoObject: Encodable {}

/// The canonical bytes of an identifier's value, in which nothing is a reference.
func canonicalBytes(_ value: any Encodable) throws -> [UInt8] {
  try EncodingCore.withCore(isCanonical: true, inlinesEverything: true) { core in
    try core.withBody(of: value) { [UInt8]($0) }
  }
}
