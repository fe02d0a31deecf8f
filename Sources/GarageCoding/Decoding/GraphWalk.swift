/// Fetches and decodes the records of a graph, each identity once: depth-first, in the order of the reference
/// tables, on demand — as long as that stays shallow. Deeper down the rest of the graph is planned with a stack
/// of its own and decoded leaves first (`DecodingPlan.swift`), so that a chain of a million objects needs no
/// more stack than one of sixteen.
///
/// Belongs to a ``DecodingCore``, which lends it to one session after another. Its properties are not checked for
/// exclusive access: one thread uses it, and no user code runs while one of them is being changed.
final class GraphWalk {
  let state: DecoderPointer
  /// Where the session finds records.
  @exclusivity(unchecked) private var source: any RecordSource = NoRecords()
  private var types = RegisteredTypes.none
  @exclusivity(unchecked) private(set) var identities = IdentityTable()
  /// What was decoded, by the number of its identity.
  @exclusivity(unchecked) var nodes = PlainStack<GraphNode>()
  /// Where that stands.
  @exclusivity(unchecked) private var arena = PlaceArena()
  /// How many records are being decoded inside each other.
  @exclusivity(unchecked) private var recordDepth = 0
  @exclusivity(unchecked) var plan = DecodingPlan()
  @exclusivity(unchecked) var fills = FillQueue()
  /// Sets that are built when everything else is there, because they ask their members for a hash.
  @exclusivity(unchecked) var builds: [(owner: Int, make: () -> () -> Void)] = []
  /// What stands inline where references are expected.
  @exclusivity(unchecked) var standing = StandingTargets()
  let linkProgress = LinkProgress()
  /// Whether errors about values that stand inline name the object that holds them.
  @exclusivity(unchecked) var namesHolders = false
  /// The numbers of those that could not be decoded ahead.
  @exclusivity(unchecked) var failedNumbers: [Int] = []
  /// How many complete objects a call that fails leaves: all that were there before it, or none.
  @exclusivity(unchecked) var keptCount = 0
  /// The objects that prototypes refer to.
  @exclusivity(unchecked) private var lentRecords: [[UInt8]: [UInt8]] = [:]
  /// Older tags of the types met so far, and the tags that took their place.
  @exclusivity(unchecked) private var currentTags: [UInt64: UInt64] = [:]
  @exclusivity(unchecked) private var formerTags: [UInt64: [UInt64]] = [:]
  /// For each record that is being decoded inside others the identifier of its key, which the table of identities
  /// may move.
  @exclusivity(unchecked) private var keyBuffers = PlainStack<UnsafeMutableRawPointer>()
  @exclusivity(unchecked) private var keyDepth = 0
  private let identifierWriter: UnsafeMutablePointer<IdentifierWriter>

  /// How deep records are decoded inside each other on demand. A record takes about 6 KiB of stack in a debug
  /// build, beside what user code takes.
  static let onDemandDepth = 16

  init(_ state: DecoderPointer) {
    self.state = state
    identifierWriter = .allocate(capacity: 1)
    identifierWriter.initialize(to: IdentifierWriter())
  }

  func begin(_ source: any RecordSource, _ types: RegisteredTypes) {
    self.source = source
    self.types = types
    if !types.currentTags.isEmpty {
      currentTags = types.currentTags
      formerTags = types.formerTags
    }
  }

  func end() {
    forget()
    plan = DecodingPlan()
    if !lentRecords.isEmpty { lentRecords = [:] }
    standing.end()
    namesHolders = false
    source = NoRecords()
    types = .none
    if !currentTags.isEmpty { (currentTags, formerTags) = ([:], [:]) }
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
    guard let tags = try? facts.tags(), !tags.former.isEmpty, formerTags[tags.identity.digest] == nil else {
      return
    }
    formerTags[tags.identity.digest] = tags.former.map(\.digest)
    for former in tags.former { currentTags[former.digest] = tags.identity.digest }
  }

  // MARK: - Objects

  /// The object with that number as a `T`; nil where there is no record, or one of another class.
  func object<T: Decodable>(_ type: T.Type, _ facts: Unmanaged<TypeFacts>, _ number: Int) throws -> T? {
    let number = try load(type, facts, number)
    return number < 0 ? nil : loaded(type, number)
  }

  /// Decodes the object with that number, if that was not done, and returns the number under which
  /// ``loaded(_:_:)`` has it: -1 where there is no record, or one of another class.
  func load<T: Decodable>(_ type: T.Type, _ facts: Unmanaged<TypeFacts>, _ named: Int) throws -> Int {
    if nodes[named].hasValue(type, facts) {
      if nodes[named].isUnfinished { nodes[named].isLent = true }
      return named
    }
    learn(tag: identities.tag(of: named), facts)
    let number = current(named)
    if number != named, nodes[number].hasValue(type, facts) { return number }
    let known = facts.takeUnretainedValue()
    if nodes[number].isActive(type, known) { throw state.fail(try cycle(to: number)) }
    if nodes[number].hasFailures, let failure = nodes[number].failure(type) {
      throw failure.isFinal ? state.fail(failure.error) : failure.error
    }
    if recordDepth >= GraphWalk.onDemandDepth || remainingStack() < GraphWalk.planningStack {
      try prepare(number)
      if nodes[number].hasValue(type, facts) { return number }
    }
    guard hasStack() else { throw state.fail(GraphCodingError.nestingTooDeep(depth: recordDepth)) }
    recordDepth += 1
    defer { recordDepth -= 1 }
    var isThere = false
    try withRecord(number) { key, record in
      guard let record else { return }
      do {
        var concrete = facts
        // In its place at once: whoever asked takes a copy from there.
        let place = arena.place(for: type)
        place.initializeMemory(
          as: type, to: try decode(type, known, number: number, key, record, &concrete))
        nodes[number].store(place, concrete)
        fills.complete(number)
        isThere = true
      } catch is OtherClass {}
    }
    return isThere ? number : -1
  }

  /// The object of a number that ``load(_:_:_:)`` returned for the same type.
  @inline(__always)
  func loaded<T>(_ type: T.Type, _ number: Int) -> T { GraphNode.value(nodes.base + number, type) }

  /// Decodes a root whose bytes are at hand.
  ///
  /// An object that refers to nothing, and that nothing can refer to by identity, needs no number.
  ///
  /// - Throws: also ``OtherClass``.
  func root<T: Decodable>(
    _ type: T.Type, _ facts: Unmanaged<TypeFacts>, _ key: RecordKey, _ record: UnsafeRawBufferPointer
  ) throws -> T {
    if identities.count == 0, let flags = RecordHead.uncheckedFlags(record),
      flags.isDisjoint(with: [.references, .typeVersion]),
      facts._withUnsafeGuaranteedRef({ $0.isUniform })
    {
      return try decodeAlone(type, facts, key, record)
    }
    return try numberedRoot(type, facts, key, record)
  }

  /// Decodes a root that refers to nothing, and that nothing can refer to by identity.
  @inline(__always)
  private func decodeAlone<T: Decodable>(
    _ type: T.Type, _ facts: Unmanaged<TypeFacts>, _ key: RecordKey, _ record: UnsafeRawBufferPointer
  ) throws -> T {
    let fillCount = fills.newCount
    do {
      let parsed = try ParsedRecord(key, record)
      defer { state.leaveRoot() }
      try state.enterRoot(parsed, isDigest: key.isDigest)
      var value = try state.readRoot(type, facts._withUnsafeGuaranteedRef { $0.kind })
      if let failure = state.pointee.failure { throw failure }
      if facts._withUnsafeGuaranteedRef({ $0.rootIdentification == .identifier }), !key.isDigest {
        try withUnsafePointer(to: value) { try checkIdentity(of: $0, facts, key, parsed, record) }
      }
      if let status = parsed.syncStatus, facts._withUnsafeGuaranteedRef({ $0.isSyncable }) {
        facts.takeUnretainedValue().setSyncStatus(status, of: &value)
      }
      return value
    } catch {
      dropWaiting(owner: -1, from: fillCount)
      throw naming(error, inRecordOf: facts.takeUnretainedValue().name, key)
    }
  }

  /// The identity of a decoded value must be that of its record.
  private func checkIdentity(
    of value: UnsafeRawPointer, _ facts: Unmanaged<TypeFacts>, _ key: RecordKey, _ parsed: ParsedRecord,
    _ record: UnsafeRawBufferPointer
  ) throws {
    try facts._withUnsafeGuaranteedRef { facts in
      if parsed.fullIdentifier == nil, facts.isSurely(key.identifier, at: value) { return }
      try facts.writeIdentifier(of: value, &identifierWriter.pointee)
      try checkIdentity(facts, key, parsed, record)
    }
  }

  @inline(never)
  private func numberedRoot<T: Decodable>(
    _ type: T.Type, _ facts: Unmanaged<TypeFacts>, _ key: RecordKey, _ record: UnsafeRawBufferPointer
  ) throws -> T {
    let known = facts.takeUnretainedValue()
    var concrete = facts
    if identities.count == 0, !known.isClass, let flags = RecordHead.uncheckedFlags(record),
      !flags.contains(.references)
    {
      return try decode(type, known, number: -1, key, record, &concrete)
    }
    var identifier = key.identifier
    if Identifier.isCut(byteCount: identifier.count) {
      do {
        guard let full = try ParsedRecord(key, record).fullIdentifier else {
          throw DamagedBody(reason: "its whole identifier is missing", offset: 1)
        }
        identifier = UnsafeRawBufferPointer(rebasing: record[full])
      } catch {
        throw naming(error, inRecordOf: known.name, key)
      }
    }
    // Before the object gets its number, so that it is the one of the tag that its type has by now.
    learn(tag: key.tag, facts)
    let number = number(tag: key.tag, identifier)
    if nodes[number].hasValue(type, facts) { return loaded(type, number) }
    learn(tag: identities.tag(of: number), facts)
    recordDepth += 1
    defer { recordDepth -= 1 }
    let place = arena.place(for: type)
    place.initializeMemory(as: type, to: try decode(type, known, number: number, key, record, &concrete))
    nodes[number].store(place, concrete)
    fills.complete(number)
    return loaded(type, number)
  }

  /// Decodes one record, whose references it fetches on the way.
  ///
  /// - Parameter found: becomes what is known of the object's own class.
  private func decode<T: Decodable>(
    _ type: T.Type, _ facts: TypeFacts, number: Int, _ key: RecordKey, _ record: UnsafeRawBufferPointer,
    _ found: inout Unmanaged<TypeFacts>
  ) throws -> T {
    let fillCount = fills.newCount
    do {
      let parsed = try ParsedRecord(key, record)
      try checkIdentifier(parsed, number, record)
      let concrete = try concreteType(type, facts, parsed, key)
      if number < 0 { return try decode(type, facts, concrete, number: number, parsed, key, record) }
      if concrete !== facts { found = .passUnretained(concrete) }
      nodes[number].activate(concrete.type)
      defer { nodes[number].deactivate() }
      return try decode(type, facts, concrete, number: number, parsed, key, record)
    } catch {
      // Nobody will see this object: nothing is to be filled in.
      dropWaiting(owner: number, from: fillCount)
      let error = naming(error, inRecordOf: found.takeUnretainedValue().name, key)
      // But who was given it unfinished must not come out with it.
      if number >= 0, nodes[number].takeBack() { throw state.fail(error) }
      throw error
    }
  }

  @inline(__always)
  private func decode<T: Decodable>(
    _ type: T.Type, _ facts: TypeFacts, _ concrete: TypeFacts, number: Int, _ parsed: ParsedRecord,
    _ key: RecordKey,
    _ record: UnsafeRawBufferPointer
  ) throws -> T {
    let outer = state.outerRecord
    defer { state.leaveRecord(outer) }
    let isWrapped = number >= 0 && (facts.kind == .plain || facts.kind == .prefixed)
    try state.enterRecord(parsed, number: number, isWrapped: isWrapped, isDigest: key.isDigest, outer)
    var value: T
    if concrete.evolution == nil && parsed.typeVersion == 0 {
      value =
        concrete === facts ? try state.readRoot(type, facts.kind) : try decodeSubclass(concrete, of: type)
    } else {
      value = try readEvolved(concrete, parsed, key) {
        concrete === facts ? try state.readRoot(type, facts.kind) : try decodeSubclass(concrete, of: type)
      }
    }
    if let failure = state.pointee.failure { throw failure }
    // Parked before the type had an identity of its own: it has been known by its content.
    if concrete.rootIdentification == .identifier, !key.isDigest {
      let concrete = Unmanaged.passUnretained(concrete)
      try withUnsafePointer(to: value) { try checkIdentity(of: $0, concrete, key, parsed, record) }
    }
    if concrete.isSyncable, let status = parsed.syncStatus { concrete.setSyncStatus(status, of: &value) }
    return value
  }

  /// Decodes the value of a typed key, whose bytes are at hand: a root that nothing can refer to.
  func value<T: Decodable>(_ type: T.Type, _ parsed: ParsedRecord, key: CheckedKey) throws -> T {
    // No type has the tag 0; the number is there for what waits to be filled in.
    let number = self.number(tag: 0, key.bytes)
    recordDepth += 1
    defer { recordDepth -= 1 }
    let outer = state.outerRecord
    defer { state.leaveRecord(outer) }
    try state.enterRecord(parsed, number: number, isWrapped: false, isDigest: false, outer)
    let value = try state.readInline(HeldValue<T>.self)
    if let failure = state.pointee.failure { throw failure }
    fills.complete(number)
    return value.value
  }

  private func decodeSubclass<T: Decodable>(_ concrete: TypeFacts, of type: T.Type) throws -> T {
    func decode<C: Decodable>(_ concrete: C.Type) throws -> any Decodable { try state.readInline(concrete) }
    guard let decodable = concrete.decodable, let object = try decode(decodable) as? T else {
      throw state.mismatch(type)
    }
    return object
  }

  /// The class that a record's object has.
  ///
  /// - Throws: also ``OtherClass``, where it is none of `type`'s.
  @inline(__always)
  private func concreteType<T: Decodable>(
    _ type: T.Type, _ facts: TypeFacts, _ record: ParsedRecord, _ key: RecordKey
  ) throws -> TypeFacts {
    if !facts.isClass || facts.rootIdentification == .none { return facts }
    return try concreteClass(type, facts, record, key)
  }

  private func concreteClass<T: Decodable>(
    _ type: T.Type, _ facts: TypeFacts, _ record: ParsedRecord, _ key: RecordKey
  ) throws -> TypeFacts {
    let digest = record.concreteTag ?? key.tag
    let tags = try facts.tags()
    if tags.concrete.digest == digest { return facts }
    if record.concreteTag == nil, tags.identity == tags.concrete {
      return facts.mapping == nil ? facts : try mappedClass(facts, digest, key)
    }
    if record.concreteTag == nil, tags.identity.digest == digest || tags.formerDigests.contains(digest) {
      // An object of the topmost class, which is a superclass of `type`.
      throw OtherClass()
    }
    guard let concrete = knownClass(tag: digest) else {
      throw GraphCodingError.unregisteredSubclass(
        tag: try source.tagName(digest) ?? "an unknown class", type: facts.name, identifier: key.text)
    }
    guard concrete is T.Type else { throw OtherClass() }
    return TypeFacts.of(concrete).takeUnretainedValue()
  }

  /// The class with this tag, where somebody named it.
  func knownClass(tag: UInt64) -> (any Decodable.Type)? { types.byTag[tag] ?? plan.type(concreteTag: tag) }

  /// A cut identifier's key holds its digest; the record must hold the very identifier that was asked for.
  @inline(__always)
  private func checkIdentifier(_ parsed: ParsedRecord, _ number: Int, _ record: UnsafeRawBufferPointer) throws
  {
    guard let full = parsed.fullIdentifier, number >= 0 else { return }
    if compareBytes(identities.identifier(of: number), UnsafeRawBufferPointer(rebasing: record[full])) != 0 {
      throw DamagedBody(reason: "it holds another object's identifier", offset: full.lowerBound)
    }
  }

  /// The decoded object, whose identifier was written, must have the identity that its record is kept under.
  @inline(__always)
  private func checkIdentity(
    _ facts: TypeFacts, _ key: RecordKey, _ parsed: ParsedRecord, _ record: UnsafeRawBufferPointer
  ) throws {
    let wanted = parsed.fullIdentifier.map { UnsafeRawBufferPointer(rebasing: record[$0]) } ?? key.identifier
    if compareBytes(identifierWriter.pointee.bytes, wanted) == 0 { return }
    // A value that was parked before its type had an `id` is kept under its digest.
    if wanted.first == IdentifierKind.digest.rawValue { return }
    throw GraphCodingError.identityMismatch(
      type: facts.name, recordIdentifier: Identifier(unchecked: Array(wanted)).description,
      decodedIdentifier: Identifier(identifierWriter.pointee).description)
  }

  /// Makes an object the one of the record that is being decoded, before its properties are read.
  func register(_ object: any MappableObject, _ number: Int) {
    nodes[number].storeUnfinished(object, &arena)
  }

  /// Forgets what was to be filled in for a record that cannot be read.
  private func dropWaiting(owner: Int, from fillCount: Int) {
    fills.drop(owner: owner, from: fillCount)
    if !standing.isEmpty { standing.drop(owner: owner) }
  }

  /// Forgets everything that was decoded.
  func forget() {
    if !builds.isEmpty { builds = [] }
    standing.forget()
    keptCount = 0
    if !failedNumbers.isEmpty { failedNumbers = [] }
    if nodes.isEmpty { return }
    fills.removeAll { nodes[$0].release() }
    for index in 0..<nodes.count { nodes[index].release() }
    arena.removeAll()
    identities.removeAll()
    plan.forgetObjects()
    nodes.removeAll(keeping: 4096)
  }

  // MARK: - Records

  /// Lends the key and the record with that number, nil where there is none. Both stay valid while other records
  /// are fetched.
  func withRecord(_ number: Int, _ body: (RecordKey, UnsafeRawBufferPointer?) throws -> Void) throws {
    if keyDepth == keyBuffers.count {
      keyBuffers.append(.allocate(byteCount: Identifier.maximumKeyByteCount, alignment: 8))
    }
    let buffer = keyBuffers[keyDepth]
    keyDepth += 1
    defer { keyDepth -= 1 }
    let count = Identifier.withKeyForm(of: identities.identifier(of: number)) { form in
      if let base = form.baseAddress { buffer.copyMemory(from: base, byteCount: form.count) }
      return form.count
    }
    let key = RecordKey(
      tag: identities.tag(of: number), identifier: UnsafeRawBufferPointer(start: buffer, count: count))
    if try fetch(key, body) { return }
    if !formerTags.isEmpty {
      for tag in formerTags[key.tag] ?? [] {
        if try fetch(RecordKey(tag: tag, identifier: key.identifier), body) { return }
      }
    }
    if try !lentRecords.isEmpty && lend(key, body) { return }
    try body(key, nil)
  }

  /// Notes the objects that a prototype refers to: they are found where the source has none.
  func lend(_ records: [(key: [UInt8], record: [UInt8])]) {
    for (key, record) in records { lentRecords[key] = record }
  }

  private func lend(_ key: RecordKey, _ body: (RecordKey, UnsafeRawBufferPointer?) throws -> Void) throws
    -> Bool
  {
    guard let record = lentRecords[key.bytes] else { return false }
    try record.withUnsafeBytes { try body(key, $0) }
    return true
  }

  /// Lends the record with that key. False where there is none.
  @inline(__always)
  private func fetch(_ key: RecordKey, _ body: (RecordKey, UnsafeRawBufferPointer?) throws -> Void) throws
    -> Bool
  {
    try source.withRecord(tag: key.tag, keyIdentifier: key.identifier.bytes) { record in
      guard let record else { return false }
      try record.withUnsafeBytes { try body(key, $0) }
      return true
    }
  }

  /// Whether the source has an object, under this tag or one of those before it.
  func isInSource(_ identity: RecordIdentity, _ formerTags: [UInt64]) throws -> Bool {
    let identifier = identity.identifier.keyBytes
    return try identifier.withUnsafeBytes { identifier in
      for tag in [identity.tag] + formerTags {
        if try fetch(RecordKey(tag: tag, identifier: identifier), { _, _ in }) { return true }
      }
      return false
    }
  }

  func hasRecord(_ number: Int) throws -> Bool {
    if nodes[number].hasValue { return true }
    var isThere = false
    try withRecord(number) { _, record in isThere = record != nil }
    return isThere
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

  func tagName(_ tag: UInt64) throws -> String? { try source.tagName(tag) }

  /// `Person "Sam"`.
  func name(of number: Int) -> String {
    let tag = identities.tag(of: number)
    let type = plan.typeName(tag: tag) ?? ((try? source.tagName(tag)) ?? nil) ?? "object"
    return "\(type) \"\(identities.identity(of: number).identifier)\""
  }
}
