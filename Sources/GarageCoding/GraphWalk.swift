/// Fetches and decodes the records of a graph, each identity once: depth-first, in the order of the reference
/// tables, on demand — as long as that stays shallow. Deeper down the rest of the graph is planned with a stack
/// of its own and decoded leaves first (`DecodingPlan.swift`), so that a chain of a million objects needs no
/// more stack than one of sixteen.
final class GraphWalk {
  let core: DecodingCore
  let source: any RecordSource
  let types: RegisteredTypes
  private(set) var identities = IdentityTable()
  /// What was decoded, by the number of its identity.
  var nodes: [GraphNode] = []
  /// How many records are being decoded inside each other.
  var recordDepth = 0
  var plan = DecodingPlan()
  private var fills = FillQueue()
  /// Sets that are built when everything else is there, because they ask their members for a hash.
  private var builds: [(owner: Int, make: () -> () -> Void)] = []
  let linkProgress = LinkProgress()
  /// The objects that prototypes refer to.
  private var lentRecords: [[UInt8]: [UInt8]] = [:]
  /// Older tags of the types met so far, and the tags that took their place.
  private var currentTags: [UInt64: UInt64] = [:]
  private var formerTags: [UInt64: [UInt64]] = [:]

  /// How deep records are decoded inside each other on demand. A record takes about 6 KiB of stack in a debug
  /// build, beside what user code takes.
  static let onDemandDepth = 16

  init(core: DecodingCore, source: any RecordSource, types: RegisteredTypes) {
    self.core = core
    self.source = source
    self.types = types
    currentTags = types.currentTags
    formerTags = types.formerTags
  }

  // MARK: - Numbers

  /// The number of an identity in this graph.
  func number(tag: UInt64, _ identifier: UnsafeRawBufferPointer) -> Int {
    let tag = currentTags.isEmpty ? tag : currentTags[tag] ?? tag
    let (number, isNew) = identities.insert(tag: tag, identifier)
    if isNew { nodes.append(GraphNode()) }
    return number
  }

  /// The same object's number under the tag that its type has by now.
  private func current(_ number: Int) -> Int {
    guard !currentTags.isEmpty, let tag = currentTags[identities.tag(of: number)] else { return number }
    let identifier = identities.identity(of: number).identifier.bytes
    return identifier.withUnsafeBytes { self.number(tag: tag, $0) }
  }

  /// Notes that records with this tag are asked for as this type.
  func learn(tag: UInt64, _ facts: Unmanaged<TypeFacts>) {
    if plan.learn(tag: tag, facts) { learnFormerTags(facts.takeUnretainedValue()) }
  }

  private func learnFormerTags(_ facts: TypeFacts) {
    guard let tags = try? facts.tags(), !tags.former.isEmpty, formerTags[tags.identity.digest] == nil else { return }
    formerTags[tags.identity.digest] = tags.former.map(\.digest)
    for former in tags.former { currentTags[former.digest] = tags.identity.digest }
  }

  // MARK: - Objects

  /// The object with that number as a `T`; nil where there is no record, or one of another class.
  func object<T: Decodable>(_ type: T.Type, _ facts: Unmanaged<TypeFacts>, _ number: Int) throws -> T? {
    if let object = nodes[number].value(type, facts) {
      if nodes[number].isUnfinished { nodes[number].isLent = true }
      return object
    }
    learn(tag: identities.tag(of: number), facts)
    let named = number, number = current(named)
    if number != named, let object = nodes[number].value(type, facts) { return object }
    let known = facts.takeUnretainedValue()
    if nodes[number].isActive(type, known) { throw core.state.fail(try cycle(to: number)) }
    if let failure = nodes[number].failure(type) { throw failure.isFinal ? core.state.fail(failure.error) : failure.error }
    if recordDepth >= GraphWalk.onDemandDepth || remainingStack() < GraphWalk.planningStack {
      try prepare(number)
      if let object = nodes[number].value(type, facts) { return object }
    }
    guard hasStack() else { throw core.state.fail(GraphCodingError.nestingTooDeep(depth: recordDepth)) }
    recordDepth += 1
    defer { recordDepth -= 1 }
    return try withRecord(number) { key, record in
      guard let record else { return nil }
      return try decode(type, known, number: number, key: key, record)
    }
  }

  /// Below this much free stack nothing is decoded on demand any more.
  private static let planningStack = 224 << 10

  /// Decodes a root whose bytes are at hand.
  ///
  /// An object that refers to nothing, and that nothing can refer to by identity, needs no number.
  func root<T: Decodable>(
    _ type: T.Type, _ facts: TypeFacts, key: UnsafeRawBufferPointer, _ record: UnsafeRawBufferPointer
  ) throws -> T? {
    let keyIdentifier = UnsafeRawBufferPointer(rebasing: key[8...])
    if identities.count == 0, !facts.isClass, record.count > 1, record[1] & RecordFormat.Flag.hasReferences == 0 {
      return try decode(type, facts, number: -1, key: key, record)
    }
    let tag = UInt64(bigEndian: key.loadUnaligned(as: UInt64.self))
    let number: Int
    if Identifier.isCut(byteCount: keyIdentifier.count) {
      number = try naming(facts.name, text(ofKey: key)) {
        let parsed = try ParsedRecord(key: key, record)
        guard let full = parsed.fullIdentifier else { throw DamagedBody(reason: "its whole identifier is missing", offset: 1) }
        return self.number(tag: tag, UnsafeRawBufferPointer(rebasing: record[full]))
      }
    } else {
      number = self.number(tag: tag, keyIdentifier)
    }
    let unmanaged = Unmanaged.passUnretained(facts)
    if let object = nodes[number].value(type, unmanaged) { return object }
    learn(tag: identities.tag(of: number), unmanaged)
    recordDepth += 1
    defer { recordDepth -= 1 }
    return try decode(type, facts, number: number, key: key, record)
  }

  /// Decodes one record, whose references it fetches on the way.
  private func decode<T: Decodable>(
    _ type: T.Type, _ facts: TypeFacts, number: Int, key: UnsafeRawBufferPointer, _ record: UnsafeRawBufferPointer
  ) throws -> T? {
    try naming(facts.name, text(ofKey: key)) {
      let parsed = try ParsedRecord(key: key, record)
      try checkIdentifier(parsed, number, record)
      guard let concrete = try concreteType(type, facts, parsed, key) else { return nil }
      if number >= 0 { nodes[number].activate(concrete.type) }
      defer { if number >= 0 { nodes[number].deactivate() } }
      let fillCount = fills.newCount
      var value: T
      do {
        let isDigest = key.count > 8 && key[8] == IdentifierKind.digest.rawValue
        let isWrapped = number >= 0 && (facts.kind == .plain || facts.kind == .prefixed)
        value = try core.withRecord(parsed, number: number, isWrapped: isWrapped, isDigest: isDigest) {
          try evolving(concrete, parsed, key) {
            concrete === facts ? try core.state.readRoot(type, facts.kind) : try decodeSubclass(concrete, of: type)
          }
        }
        if let failure = core.failure { throw failure }
        try check(value, concrete, key, parsed, record)
        if concrete.isSyncable, let status = parsed.syncStatus { concrete.setSyncStatus(status, of: &value) }
      } catch {
        // Nobody will see this object: nothing is to be filled in.
        fills.drop(owner: number, from: fillCount)
        // But who was given it unfinished must not come out with it.
        if number >= 0, nodes[number].takeBack() { throw core.state.fail(error) }
        throw error
      }
      if number >= 0 {
        nodes[number].store(value, type: concrete.type, isClass: concrete.isClass)
        fills.complete(number)
      }
      return value
    }
  }

  /// Decodes the value of a typed key, whose bytes are at hand: a root that nothing can refer to.
  func value<T: Decodable>(
    _ type: T.Type, _ parsed: ParsedRecord, key: UnsafeRawBufferPointer
  ) throws -> T {
    // No type has the tag 0; the number is there for what waits to be filled in.
    let number = self.number(tag: 0, key)
    recordDepth += 1
    defer { recordDepth -= 1 }
    let value = try core.withRecord(parsed, number: number, isWrapped: false, isDigest: false) {
      try core.state.readInline(HeldValue<T>.self)
    }
    if let failure = core.failure { throw failure }
    fills.complete(number)
    return value.value
  }

  private func decodeSubclass<T: Decodable>(_ concrete: TypeFacts, of type: T.Type) throws -> T {
    func decode<C: Decodable>(_ concrete: C.Type) throws -> any Decodable { try core.state.readInline(concrete) }
    guard let decodable = concrete.decodable, let object = try decode(decodable) as? T else {
      throw core.state.mismatch(type)
    }
    return object
  }

  /// The class that a record's object has; nil where it is none of `type`'s.
  private func concreteType<T: Decodable>(
    _ type: T.Type, _ facts: TypeFacts, _ record: ParsedRecord, _ key: UnsafeRawBufferPointer
  ) throws -> TypeFacts? {
    guard facts.isClass, facts.rootIdentification != .none else { return facts }
    let digest = record.concreteTag ?? UInt64(bigEndian: key.loadUnaligned(as: UInt64.self))
    let tags = try facts.tags()
    if tags.concrete.digest == digest { return facts }
    if record.concreteTag == nil, tags.identity == tags.concrete { return facts }
    if record.concreteTag == nil, tags.identity.digest == digest || tags.former.contains(where: { $0.digest == digest }) {
      // An object of the topmost class, which is a superclass of `type`.
      return nil
    }
    guard let concrete = types.byTag[digest] ?? plan.type(concreteTag: digest) else {
      throw GraphCodingError.unregisteredSubclass(
        tag: try source.tagName(digest) ?? "an unknown class", type: facts.name, identifier: text(ofKey: key))
    }
    return concrete is T.Type ? TypeFacts.of(concrete).takeUnretainedValue() : nil
  }

  /// A cut identifier's key holds its digest; the record must hold the very identifier that was asked for.
  private func checkIdentifier(_ parsed: ParsedRecord, _ number: Int, _ record: UnsafeRawBufferPointer) throws {
    guard let full = parsed.fullIdentifier, number >= 0 else { return }
    let isSame = identities.withIdentifier(of: number) {
      compareBytes($0, UnsafeRawBufferPointer(rebasing: record[full])) == 0
    }
    if !isSame { throw DamagedBody(reason: "it holds another object's identifier", offset: full.lowerBound) }
  }

  /// The decoded object must have the identity that its record is kept under.
  private func check<T: Decodable>(
    _ value: T, _ facts: TypeFacts, _ key: UnsafeRawBufferPointer, _ parsed: ParsedRecord,
    _ record: UnsafeRawBufferPointer
  ) throws {
    guard facts.rootIdentification == .identifier, let access = facts.identifier else { return }
    // Parked before the type had an identity of its own: it has been known by its content.
    if key.count > 8, key[8] == IdentifierKind.digest.rawValue { return }
    core.identifierWriter.removeAll()
    try withUnsafePointer(to: value) { value in
      try access.get().write(UnsafeRawPointer(value), &core.identifierWriter, canonicalBytes)
    }
    let wanted = UnsafeRawBufferPointer(rebasing: parsed.fullIdentifier.map { record[$0] } ?? key[8...])
    guard compareBytes(core.identifierWriter.bytes, wanted) != 0 else { return }
    // A value that was parked before its type had an `id` is kept under its digest.
    if wanted.first == IdentifierKind.digest.rawValue { return }
    throw GraphCodingError.identityMismatch(
      type: facts.name, recordIdentifier: Identifier(unchecked: Array(wanted)).description,
      decodedIdentifier: Identifier(core.identifierWriter).description)
  }

  /// Makes an object the one of the record that is being decoded, before its properties are read.
  func register(_ object: any MappableObject, _ number: Int) { nodes[number].storeUnfinished(object) }

  // MARK: - Filling in

  /// Queues what completes an object once those that it is decoded with are there.
  func whenComplete(_ fill: @escaping FillQueue.Fill) { fills.append(owner: core.state.pointee.record.number, fill) }

  /// Runs `body`, then what it queued and what that queues in turn. Nothing recurses: a linked chain is one
  /// fill after another.
  func completing<R>(_ body: () throws -> R) throws -> R {
    do {
      let result = try body()
      while let fill = fills.next() { try fill(self) }
      try buildSets()
      return result
    } catch {
      forget()
      throw core.takeFailure() ?? error
    }
  }

  /// Queues the building of a collection of the record with that number. `make` builds it and returns what puts
  /// it in its place.
  func buildLater(_ owner: Int, _ make: @escaping () -> () -> Void) { builds.append((owner, make)) }

  /// Builds the sets, those of members before those of their owners. One whose members' hash read a property that
  /// is not filled in yet is built again after the others; when all that are left do, they wait for each other.
  private func buildSets() throws {
    while !builds.isEmpty {
      var waiting: [(owner: Int, make: () -> () -> Void)] = []
      for build in builds.reversed() {
        linkProgress.wasReadEarly = false
        let place = build.make()
        if linkProgress.wasReadEarly { waiting.append(build) } else { place() }
      }
      if waiting.count == builds.count {
        let owner = name(of: waiting[0].owner)
        throw GraphCodingError.cycle(path: "\(owner) → a set whose members' hash depends on it → \(owner)")
      }
      builds = waiting.reversed()
    }
  }

  /// Forgets everything that was decoded.
  func forget() {
    builds = []
    fills.removeAll { nodes[$0].release() }
    identities.removeAll()
    plan.forgetObjects()
    nodes = []
  }

  // MARK: - Records

  /// Lends the key and the record with that number. Both stay valid while other records are fetched.
  func withRecord<R>(
    _ number: Int, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer?) throws -> R
  ) throws -> R {
    let tag = identities.tag(of: number)
    let former = formerTags.isEmpty ? nil : formerTags[tag]
    return try withUnsafeTemporaryAllocation(byteCount: 8 + Identifier.maximumKeyByteCount, alignment: 8) { memory in
      let count = identities.withIdentifier(of: number) { identifier in
        Identifier.withKeyForm(of: identifier) { form in
          (memory.baseAddress! + 8).copyMemory(from: form.baseAddress!, byteCount: form.count)
          return form.count
        }
      }
      for tag in [tag] + (former ?? []) {
        memory.storeBytes(of: tag.bigEndian, as: UInt64.self)
        let key = UnsafeRawBufferPointer(rebasing: memory[..<(8 + count)])
        let isLast = former.map { $0.last == tag } ?? true
        let result: R? = try source.withRecord(tag: tag, keyIdentifier: UnsafeRawBufferPointer(rebasing: key[8...]).bytes) { span in
          if let span { return try span.withUnsafeBytes { try body(key, $0) } }
          return isLast ? try withLentRecord(key, body) : nil
        }
        if let result { return result }
      }
      return try body(UnsafeRawBufferPointer(rebasing: memory[..<(8 + count)]), nil)
    }
  }

  /// Notes the objects that a prototype refers to: they are found where the source has none.
  func lend(_ records: [(key: [UInt8], record: [UInt8])]) {
    for (key, record) in records { lentRecords[key] = record }
  }

  private func withLentRecord<R>(
    _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer?) throws -> R
  ) throws -> R {
    guard !lentRecords.isEmpty, let record = lentRecords[Array(key)] else { return try body(key, nil) }
    return try record.withUnsafeBytes { try body(key, $0) }
  }

  func hasRecord(_ number: Int) throws -> Bool {
    if nodes[number].hasValue { return true }
    return try withRecord(number) { _, record in record != nil }
  }

  func shape(_ digest: UInt64) throws -> Unmanaged<Shape> {
    if let shape = ShapeRegistry.shape(digest: digest) { return shape }
    guard let text = try source.shapeText(digest) else {
      throw DamagedBody(reason: "the shape it names is not in the store", offset: 0)
    }
    guard let shape = try ShapeRegistry.shape(text: text, digest: digest) else {
      throw DamagedBody(reason: "the shape it names is damaged", offset: 0)
    }
    return shape
  }

  // MARK: - Names

  private func text(ofKey key: UnsafeRawBufferPointer) -> String { Identifier.description(ofKeyBytes: Array(key[8...])) }

  /// `Person "Sam"`.
  func name(of number: Int) -> String {
    let tag = identities.tag(of: number)
    let type = plan.typeName(tag: tag) ?? ((try? source.tagName(tag)) ?? nil) ?? "object"
    return "\(type) \"\(identities.identity(of: number).identifier)\""
  }
}

/// Whether a linked property was read before it was filled in: by a hash that must not change any more.
final class LinkProgress {
  var wasReadEarly = false
}

/// What is known of one identity of a graph.
struct GraphNode {
  private var type: Any.Type?
  private var value: Any?
  private var isClass = false
  /// The same record decoded as other types.
  private var others: [(type: Any.Type, value: Any)] = []
  /// Why it could not be decoded ahead: whoever asks for it gets the error.
  private var failures: [(type: Any.Type, failure: Failure)] = []

  struct Failure {
    var error: any Error
    /// Whether it must not be lost, even where user code says `try?`.
    var isFinal: Bool
  }

  func failure(_ type: Any.Type) -> Failure? {
    failures.isEmpty ? nil : failures.first { $0.type == type }?.failure
  }

  mutating func fail(_ type: Any.Type, _ failure: Failure) { failures.append((type, failure)) }

  /// The types as which it is being decoded: mostly one.
  private var active: Any.Type?
  private var alsoActive: [Any.Type] = []
  /// Its place in the plan; -1 where it is not planned.
  var planPosition = -1

  var hasValue: Bool { value != nil }
  var isActive: Bool { active != nil }

  func value<T>(_ wanted: T.Type, _ facts: Unmanaged<TypeFacts>) -> T? {
    guard let type else { return nil }
    if type == wanted { return value as? T }
    // An object of a subclass serves for its superclass, so that it stays one object.
    if isClass, facts._withUnsafeGuaranteedRef({ $0.isClass }), let object = value as? T { return object }
    return others.first { $0.type == wanted }?.value as? T
  }

  func isDecoded(as wanted: Any.Type) -> Bool { type == wanted || others.contains { $0.type == wanted } }

  /// Whether the value is a mapped object whose own record is still being read, and whether somebody has it.
  private(set) var isUnfinished = false
  var isLent = false

  /// Where the object is of the very type that is being decoded: another one belongs to a wrapper.
  mutating func storeUnfinished(_ object: any MappableObject) {
    guard value == nil, let active, active == Swift.type(of: object) else { return }
    store(object, type: active, isClass: true)
    isUnfinished = true
  }

  /// Forgets an object whose record turned out not to be readable. Whether somebody has it.
  mutating func takeBack() -> Bool {
    guard isUnfinished else { return false }
    (value, type, isUnfinished) = (nil, nil, false)
    return isLent
  }

  mutating func store(_ value: Any, type: Any.Type, isClass: Bool) {
    isUnfinished = false
    if self.value == nil {
      self.value = value
      self.type = type
      self.isClass = isClass
    } else if !isDecoded(as: type) {
      others.append((type, value))
    }
  }

  func isActive(_ wanted: Any.Type, _ facts: TypeFacts) -> Bool {
    func meets(_ type: Any.Type) -> Bool { type == wanted || (facts.isClass && type is AnyClass) }
    guard let active else { return false }
    return meets(active) || alsoActive.contains(where: meets)
  }

  mutating func activate(_ type: Any.Type) {
    if let active { alsoActive.append(active) }
    active = type
  }

  mutating func release() { (value, others) = (nil, []) }

  mutating func deactivate() { active = alsoActive.popLast() }
}
