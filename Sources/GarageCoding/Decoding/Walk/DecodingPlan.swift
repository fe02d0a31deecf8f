/// The order in which the deep part of a graph is decoded: every record behind those that it refers to.
///
/// The order is found from the reference tables alone, by a depth-first walk with a stack of its own that holds edges. The
/// records' bytes are kept up to a limit (``KeptRecords``), and fetched again beyond it.
///
/// To decode an object ahead its Swift type must be known, and types are learned from what decoders ask for. So before a
/// decoder gets an object that it asks for, everything before that object whose type is known by then is decoded; a type that
/// is learned on the way begins this sweep anew. Decoding then nests no deeper than there are pairs of tag and type. (To
/// recurse once for each tag, without the sweep, does not do: a root whose references are the last and the first object of one
/// chain learns the tag from the first, and then descends the whole chain.)
struct DecodingPlan {
  /// Numbers, leaves first.
  fileprivate(set) var order: [Int] = []
  /// Everything before this place whose type is known was decoded or is being decoded.
  fileprivate var swept = 0
  /// The types known for each tag.
  private var known: [UInt64: [Permanent<TypeFacts>]] = [:]
  private var byConcreteTag: [UInt64: any Decodable.Type] = [:]
  private var lastLearned: (tag: UInt64, facts: UnsafeMutableRawPointer)?

  /// Notes that records with this tag are asked for as this type. Whether that is news.
  mutating func learn(tag: UInt64, _ facts: Permanent<TypeFacts>) -> Bool {
    let address = facts.address
    if let lastLearned, lastLearned.tag == tag, lastLearned.facts == address { return false }
    lastLearned = (tag, address)
    if known[tag, default: []].contains(where: { $0.address == address }) { return false }
    known[tag, default: []].append(facts)
    swept = 0
    let facts = facts.object
    if facts.isClass, let type = facts.decodable, let concrete = try? facts.tags().concrete {
      byConcreteTag[concrete.digest] = type
    }
    return true
  }

  func type(concreteTag: UInt64) -> (any Decodable.Type)? { byConcreteTag[concreteTag] }

  func typeName(tag: UInt64) -> String? { known[tag]?.first?.object.name }

  fileprivate func types(_ tag: UInt64) -> [Permanent<TypeFacts>] { known[tag] ?? [] }

  mutating func forgetObjects() {
    order.removeAll()
    swept = 0
  }
}

extension GraphWalk {
  /// Below this much free stack nothing is decoded on demand any more.
  static let planningStack = 224 << 10

  /// Plans everything below an object and decodes what comes before it.
  func prepare(_ number: Int) throws {
    try planGraph(below: number)
    let position = records[number].planPosition
    while plan.swept < position {
      let next = plan.order[plan.swept]
      plan.swept += 1
      for facts in plan.types(identities.tag(of: next)) {
        guard let type = facts.object.decodable, !records[next].isActive,
          !records[next].isDecoded(as: type)
        else { continue }
        try decodeAhead(type, facts, next)
      }
    }
  }

  /// Decodes an object that will most likely be asked for. If that fails the error is kept, for the case that the object is
  /// asked for. To try again then would descend the whole chain.
  private func decodeAhead<T: Decodable>(_ type: T.Type, _ facts: Permanent<TypeFacts>, _ number: Int) throws
  {
    if let failure = state.failure { throw failure }
    do {
      _ = try load(type, facts, number)
    } catch {
      let failure = state.takeFailure()
      failedNumbers.append(number)
      failureListener?(identities.identity(of: number), failure ?? error)
      records[number].fail(type, GraphNode.Failure(error: failure ?? error, isFinal: failure != nil))
    }
  }

  /// Walks the eager references below `root` depth-first and notes each record behind those it refers to.
  private func planGraph(below root: Int) throws {
    guard records[root].planPosition < 0, !records[root].isActive else { return }
    let entered = Int.max
    // For each record on the way down: its number, and its edges that are still to be walked.
    var path: [(number: Int, next: Int, end: Int)] = []
    var edges: [Int] = []
    func enter(_ number: Int) throws {
      let start = edges.count
      try look(at: number) { key, record in
        guard let record else { return }
        visitReferences(key, record, .eager) { edges.append($0) }
      }
      records[number].planPosition = entered
      path.append((number, start, edges.count))
    }
    // Where a record cannot be looked at, those on the way to it get no place in the plan. They are planned again when they are
    // asked for.
    defer { for step in path { records[step.number].planPosition = -1 } }
    try enter(root)
    while let last = path.last {
      if last.next < last.end {
        path[path.count - 1].next += 1
        let child = edges[last.next]
        if records[child].planPosition < 0, !records[child].hasValue, !records[child].isActive {
          try enter(child)
        }
      } else {
        path.removeLast()
        edges.removeSubrange((path.last?.end ?? 0)...)
        records[last.number].planPosition = plan.order.count
        plan.order.append(last.number)
      }
    }
  }

  func forEachReference(of number: Int, _ kinds: ReferenceKinds, _ visit: (Int) -> Void) throws {
    try look(at: number) { key, record in
      if let record { visitReferences(key, record, kinds, visit) }
    }
  }

  /// A damaged record refers to nothing here: decoding it will say what is wrong.
  func visitReferences(
    _ key: RecordKey, _ record: UnsafeRawBufferPointer, _ kinds: ReferenceKinds, _ visit: (Int) -> Void
  ) {
    guard let parsed = try? ParsedRecord(key, record) else { return }
    try? parsed.forEachReference { kind, tag, identifier in
      if kinds.contains(kind) { visit(self.number(tag: tag, identifier)) }
    }
  }
}
