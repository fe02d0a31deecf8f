/// Fetches and decodes the records of a graph, each identity once: depth-first, in the order of the reference
/// tables, on demand — as long as that stays shallow. Deeper down the rest of the graph is planned with a stack
/// of its own and decoded leaves first (`DecodingPlan.swift`), so that a chain of a million objects needs no
/// more stack than one of sixteen.
///
/// Here is what it keeps and how identities get their numbers; `GraphWalk+Objects` decides and decodes,
/// `GraphWalk+Checks` makes sure that records are what they say, `GraphWalk+Fetching` finds them.
///
/// Belongs to a ``DecodingCore``, which lends it to one session after another. Its properties are not checked for
/// exclusive access: one thread uses it, and no user code runs while one of them is being changed.
final class GraphWalk {
  let state: DecoderPointer
  /// Where the session finds records.
  @exclusivity(unchecked) var source: any RecordSource = NoRecords()
  var types = RegisteredTypes.none
  @exclusivity(unchecked) private(set) var identities = IdentityTable()
  /// What was decoded, by the number of its identity.
  @exclusivity(unchecked) var records = RawStack<GraphNode>()
  /// The memory that they stand in.
  @exclusivity(unchecked) var arena = PlaceArena()
  /// How many records are being decoded inside each other.
  @exclusivity(unchecked) var recordDepth = 0
  @exclusivity(unchecked) var plan = DecodingPlan()
  /// Records whose objects will be decoded.
  @exclusivity(unchecked) var kept = KeptRecords()
  /// How records are read before they are asked for; nil where they are not.
  @exclusivity(unchecked) var wantedReading: WantedReading?
  /// Roots that wait until their records, and those that they need, are read.
  @exclusivity(unchecked) var heldRoots = RawStack<HeldRoot>()
  /// Whether there was no room for all that the roots held last refer to.
  @exclusivity(unchecked) var heldTooMuch = false
  @exclusivity(unchecked) var fills = FillQueue()
  /// Sets that are built when everything else is there, because they ask their members for a hash.
  @exclusivity(unchecked) var builds: [SetBuild] = []
  /// Values that stand inline where references are expected.
  @exclusivity(unchecked) var inlineTargets = InlineTargets()
  let linkProgress = LinkProgress()
  /// Whether errors about values that stand inline name the object that holds them.
  @exclusivity(unchecked) var namesHolders = false
  /// Whether a root is done before its links are filled in.
  @exclusivity(unchecked) var completesLater = false
  /// The numbers of the objects that could not be decoded ahead.
  @exclusivity(unchecked) var failedNumbers: [Int] = []
  /// Is told of these, if anybody wants to know.
  @exclusivity(unchecked) var failureListener: FailureListener?
  /// How many complete objects stay when a call fails: all that were there before it, or none.
  @exclusivity(unchecked) var keptCount = 0
  /// The objects that prototypes refer to.
  @exclusivity(unchecked) var lentRecords: [[UInt8]: [UInt8]] = [:]
  /// Older tags of the types met so far, and the tags that took their place.
  @exclusivity(unchecked) var currentTags: [UInt64: UInt64] = [:]
  @exclusivity(unchecked) var formerTags: [UInt64: [UInt64]] = [:]
  /// For each record that is being decoded inside others, a copy of its key's identifier, because the table of identities may
  /// move its own.
  @exclusivity(unchecked) var keyBuffers = RawStack<UnsafeMutableRawPointer>()
  @exclusivity(unchecked) var keyDepth = 0
  let identifierWriter: UnsafeMutablePointer<IdentifierWriter>

  /// How deep records are decoded inside each other on demand. A record takes about 6 KiB of stack in a debug
  /// build, beside what user code takes.
  static let onDemandDepth = 16

  init(_ state: DecoderPointer) {
    self.state = state
    identifierWriter = .keeping(IdentifierWriter())
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
    inlineTargets.end()
    namesHolders = false
    completesLater = false
    if wantedReading != nil { wantedReading = nil }
    if failureListener != nil { failureListener = nil }
    source = NoRecords()
    types = .none
    if !currentTags.isEmpty { (currentTags, formerTags) = ([:], [:]) }
  }

  // MARK: - Numbers

  /// The number of an identity in this graph.
  func number(tag: UInt64, _ identifier: UnsafeRawBufferPointer) -> Int {
    let tag = currentTags.isEmpty ? tag : currentTags[tag] ?? tag
    let (number, isNew) = identities.insert(tag: tag, identifier)
    if isNew { records.append(GraphNode()) }
    return number
  }

  /// The same for an identity whose hash ``prefetch(tag:_:)`` gave.
  func number(tag: UInt64, _ identifier: UnsafeRawBufferPointer, hash: UInt32) -> Int {
    // A current tag in place of an older one makes another hash.
    if !currentTags.isEmpty { return number(tag: tag, identifier) }
    let (number, isNew) = identities.insert(tag: tag, identifier, hash: hash)
    if isNew { records.append(GraphNode()) }
    return number
  }

  /// See ``IdentityTable/prefetch(tag:_:)``.
  @inline(__always)
  func prefetch(tag: UInt64, _ identifier: UnsafeRawBufferPointer) -> UInt32 {
    identities.prefetch(tag: tag, identifier)
  }

  /// The same object's number under the tag that its type has by now.
  func current(_ number: Int) -> Int {
    guard !currentTags.isEmpty, let tag = currentTags[identities.tag(of: number)] else { return number }
    let identifier = identities.identity(of: number).identifier.bytes
    return identifier.withUnsafeBytes { self.number(tag: tag, $0) }
  }

  /// Notes that records with this tag are asked for as this type.
  func learn(tag: UInt64, _ facts: Permanent<TypeFacts>) {
    if plan.learn(tag: tag, facts) { learnFormerTags(facts.object) }
  }

  private func learnFormerTags(_ facts: TypeFacts) {
    guard let tags = try? facts.tags(), !tags.former.isEmpty, formerTags[tags.identity.digest] == nil else {
      return
    }
    formerTags[tags.identity.digest] = tags.former.map(\.digest)
    for former in tags.former { currentTags[former.digest] = tags.identity.digest }
  }

  /// Makes an object the one of the record that is being decoded, before its properties are read.
  func register(_ object: any MappableObject, _ number: Int) {
    records[number].storeUnfinished(object, &arena)
  }

  /// Whether an object is the one of the record with that number, and still to be filled.
  func isRegistered(_ object: AnyObject, _ number: Int) -> Bool {
    number >= 0 && records[number].holdsUnfinished(object)
  }

  /// Forgets what was to be filled in for a record that cannot be read.
  func dropWaiting(owner: Int, from fillCount: Int) {
    fills.drop(owner: owner, from: fillCount)
    if !inlineTargets.isEmpty { inlineTargets.drop(owner: owner) }
  }

  /// Forgets everything that was decoded.
  func forget() {
    if !builds.isEmpty { builds = [] }
    inlineTargets.forget()
    keptCount = 0
    if !failedNumbers.isEmpty { failedNumbers = [] }
    forgetKept()
    kept.forgetNumbers()
    if records.isEmpty { return }
    fills.removeAll { records[$0].release() }
    for index in 0..<records.count { records[index].release() }
    arena.removeAll()
    identities.removeAll()
    plan.forgetObjects()
    records.removeAll(keeping: 4096)
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
