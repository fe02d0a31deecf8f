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
  let boxes = EncodingBoxes()
  /// Keys of key types that are no enums, on the path to the value being encoded.
  var pathKeys: [any CodingKey] = [] {
    didSet { state.pointee.graph.pathKeyCount = pathKeys.count }
  }
  private var waitingNodes: [Unmanaged<EncodingNode>] = []
  var userInfo: [CodingUserInfoKey: any Sendable] = [:]
  /// Whether references stand inline by their own: inside an identifier nothing is a reference.
  var inlinesEverything = false
  private(set) var failure: (any Error)?

  // The record under construction.
  private var shapes: [Unmanaged<Shape>] = []
  private(set) var references: [(entry: Int, kind: ReferenceKind)] = []

  // The graph. The identity with number n is that of entry n.
  private(set) var entries: [GraphEntry] = []
  private(set) var identities = IdentityTable()
  /// The entries that have a value to encode, in the order of their distance from the roots.
  private var queue: [Int] = []
  private var nextInQueue = 0
  private var replaced: [(number: Int, before: GraphEntry)] = []
  private var currentLevel = 0
  var identifierWriter = IdentifierWriter()

  private init() {
    state = .allocate(capacity: 1)
    // Two steps, because the state points back here.
    state.initialize(to: EncoderState(output: EncodingOutput(), core: Unmanaged.passUnretained(self)))
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
    defer {
      core.reset()
      pool.giveBack(pooled)
    }
    return try body(core)
  }

  private func reset() {
    beginRecord()
    entries.removeAll(keepingCapacity: entries.capacity < 4096)
    identities.removeAll()
    queue.removeAll(keepingCapacity: queue.capacity < 4096)
    nextInQueue = 0
    replaced.removeAll()
    failure = nil
    currentLevel = 0
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
    shapes.removeAll(keepingCapacity: true)
    for reference in references where reference.entry < entries.count {
      entries[reference.entry].clear(reference.kind)
    }
    references.removeAll(keepingCapacity: true)
    if !pathKeys.isEmpty { pathKeys.removeAll() }
    noteCounts()
  }

  /// Encodes `value`, whatever its type, by its own `encode(to:)` and lends the body.
  func withBody<R>(of value: any Encodable, _ body: (UnsafeRawBufferPointer) throws -> R) throws -> R {
    beginRecord()
    do {
      try state.writeInline(value)
    } catch {
      throw failure ?? error
    }
    if let failure { throw failure }
    return try body(UnsafeRawBufferPointer(start: state.pointee.output.base, count: state.pointee.output.count))
  }

  func noteFailure(_ error: any Error) {
    if failure == nil { failure = error }
  }

  /// The place of a shape in the record's table.
  func index(of shape: Unmanaged<Shape>) -> Int {
    // Backwards: what stands in an array mostly has the shape of its neighbour. Records have few shapes.
    let address = shape.toOpaque()
    if let index = shapes.lastIndex(where: { $0.toOpaque() == address }) { return index }
    shapes.append(shape)
    state.pointee.graph.shapeCount = shapes.count
    return shapes.count - 1
  }

  var recordShapes: [Unmanaged<Shape>] { shapes }

  // MARK: - Identities and references

  /// A nested container that is not in use.
  func takeNode() -> Unmanaged<EncodingNode> { waitingNodes.popLast() ?? Unmanaged.passRetained(EncodingNode()) }
  func giveBack(_ node: Unmanaged<EncodingNode>) { waitingNodes.append(node) }

  private func noteCounts() {
    state.pointee.graph = GraphMark(
      referenceCount: references.count, entryCount: entries.count, queueCount: queue.count,
      shapeCount: shapes.count, replacedCount: replaced.count, pathKeyCount: pathKeys.count)
  }

  func rollBack(to mark: GraphMark) {
    while replaced.count > mark.replacedCount {
      let last = replaced.removeLast()
      entries[last.number] = last.before
    }
    while references.count > mark.referenceCount {
      let reference = references.removeLast()
      entries[reference.entry].clear(reference.kind)
    }
    if queue.count > mark.queueCount { queue.removeSubrange(mark.queueCount...) }
    if entries.count > mark.entryCount {
      entries.removeSubrange(mark.entryCount...)
      identities.truncate(to: mark.entryCount)
    }
    if shapes.count > mark.shapeCount { shapes.removeSubrange(mark.shapeCount...) }
    if pathKeys.count > mark.pathKeyCount { pathKeys.removeSubrange(mark.pathKeyCount...) }
    noteCounts()
  }

  /// Writes the identifier of the value at `address` into ``identifierWriter``.
  func writeIdentifier(of address: UnsafeRawPointer, _ facts: TypeFacts) throws {
    identifierWriter.removeAll()
    guard let access = facts.identifier else { throw GraphCodingError.missingConformance(type: facts.name) }
    try access.get().write(address, &identifierWriter, canonicalBytes)
  }

  /// Queues an object for encoding, where the graph does not hold its identity yet, and returns its entry.
  ///
  /// Of several values of one identity the one nearest a root stays, at equal distance the later one.
  /// The identity is `tag` and what ``identifierWriter`` holds.
  func enqueue(
    tag: UInt64, _ value: any Encodable, _ facts: Unmanaged<TypeFacts>, level: Int
  ) -> Int {
    let (number, isNew) = identities.insert(tag: tag, identifierWriter.bytes)
    if isNew {
      entries.append(GraphEntry(value: value, facts: facts, level: level))
      queue.append(number)
    } else if entries[number].level >= level, !entries[number].isEncoded {
      replaced.append((number, entries[number]))
      if entries[number].level > level { queue.append(number) }
      entries[number].level = level
      entries[number].value = value
      entries[number].facts = facts
    }
    noteCounts()
    return number
  }

  /// Queues a child of the record under construction.
  func enqueueChild(tag: UInt64, _ value: any Encodable, _ facts: Unmanaged<TypeFacts>) -> Int {
    enqueue(tag: tag, value, facts, level: currentLevel + 1)
  }

  /// Notes an identity that this record names without an object to encode: that of a `Reference`.
  func noteIdentity(_ identity: RecordIdentity, of type: Any.Type) -> Int {
    let (number, isNew) = identity.identifier.bytes.withUnsafeBytes { identities.insert(tag: identity.tag, $0) }
    // Farther than any object, so that a value of that identity, should one come, takes its place.
    if isNew { entries.append(GraphEntry(value: NoObject(), facts: state.pointee.types.facts(of: type).0, level: .max)) }
    state.pointee.graph.entryCount = entries.count
    return number
  }

  /// The place in the record's reference table of an entry of the graph.
  func referenceIndex(of entry: Int, _ kind: ReferenceKind) -> Int {
    if let index = entries[entry].index(kind) { return index }
    references.append((entry, kind))
    entries[entry].setIndex(kind, references.count - 1)
    state.pointee.graph.referenceCount = references.count
    return references.count - 1
  }

  /// Takes the next entry to encode. Its children are one level farther from the roots.
  func beginNext() -> Int? {
    guard nextInQueue < queue.count else { return nil }
    let number = queue[nextInQueue]
    nextInQueue += 1
    entries[number].isEncoded = true
    currentLevel = entries[number].level
    replaced.removeAll(keepingCapacity: true)
    noteCounts()
    return number
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
