internal import GarageCoding

extension Garage {
  /// Asks the types of a graph that are met for the first time for their indexes, where the caller is. That runs users' code,
  /// which has to be done before another thread may write the graph.
  ///
  /// - Throws: ``GarageError/invalidIndex(type:index:reason:)``.
  func meetTypes(of graph: EncodedGraph) throws {
    guard let types = texts.news(of: graph)?.types, !types.isEmpty else { return }
    try meet(types, of: graph)
  }

  /// Asks types for their indexes. They have objects in a graph that is about to be written.
  ///
  /// - Throws: ``GarageError/invalidIndex(type:index:reason:)``.
  func meet(_ types: [Any.Type], of graph: EncodedGraph) throws {
    survey(graph, types)
    try probeContext.run { try indexing.meet(types) }
    texts.remember(types)
  }

  /// Surveys the types that declare indexes by the objects of a graph that is about to be written, because the indexes are made
  /// before any object is stored by which they could be surveyed. If the store has objects, these are asked before a query is
  /// answered.
  private func survey(_ graph: EncodedGraph, _ types: [Any.Type]) {
    for type in types where type is any Indexed.Type && TypeSurvey.isWantedByNew(for: type) {
      guard let type = type as? any Codable.Type, let facts = try? RecordTypeFacts.of(type) else { continue }
      let objects = graph.sampleObjects(tags: facts.ownTags, count: 8)
      if objects.isEmpty { continue }
      probeContext.run { TypeSurvey.noteNew(objects, of: type) }
    }
  }
}

extension EncodedGraph {
  /// Some objects of a type, with those that they refer to in place of the references.
  fileprivate func sampleObjects(tags: [UInt64], count: Int) -> [RecordValue] {
    let records = Array(records.prefix(4096))
    let shapes = Dictionary(shapes.map { ($0.digest, $0.text) }, uniquingKeysWith: { first, _ in first })
    let positions = Dictionary(
      zip(records.map(identity), records.indices), uniquingKeysWith: { first, _ in first })
    func value(_ position: Int) -> RecordValue? {
      let (key, record) = (Array(bytes[records[position].key]), Array(bytes[records[position].value]))
      let content = try? RecordContent(
        tag: KeyLayout.tag(inRecordKey: key.span.bytes),
        keyIdentifier: key.span.bytes.extracting(KeyLayout.identifierOffset...), record: record.span.bytes,
        typeName: "", shapeText: { shapes[$0] })
      return content?.value
    }
    var room = 16 + 16 * count
    return records.indices.lazy.filter { tags.contains(identity(of: records[$0]).tag) }.prefix(count)
      .compactMap { value($0)?.withTargets(room: &room) { positions[$0].flatMap(value) } }
  }
}

extension RecordValue {
  /// The same with the objects that it refers to in place of the references, because made-up objects stand in their place, too.
  ///
  /// - Parameter room: how many may be read.
  func withTargets(
    room: inout Int, depth: Int = 0, _ target: (RecordIdentity) throws -> RecordValue?
  ) rethrows -> RecordValue {
    switch self {
    case .reference(let identity, _):
      guard room > 0, depth < 3 else { return self }
      room -= 1
      return try target(identity)?.withTargets(room: &room, depth: depth + 1, target) ?? self
    case .array(let elements):
      return .array(try elements.map { try $0.withTargets(room: &room, depth: depth, target) })
    case .map(var fields):
      for (key, value) in fields { fields[key] = try value.withTargets(room: &room, depth: depth, target) }
      return .map(fields)
    case .versioned(let version, let inner):
      return .versioned(version, try inner.withTargets(room: &room, depth: depth, target))
    case .withSyncStatus(let status, let inner):
      return .withSyncStatus(status, try inner.withTargets(room: &room, depth: depth, target))
    default: return self
    }
  }
}
