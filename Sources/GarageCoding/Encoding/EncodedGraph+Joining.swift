// Graphs that were encoded side by side, as one.

extension EncodedGraph {
  /// The graph of several graphs' records, in their order, each of roots alone.
  ///
  /// Where two of them have a record of the same identity, both records are in the joined graph, and the later one counts
  /// (``mayRepeat``).
  ///
  /// - Parameter graphs: released one after another, so that no more than one whole copy is held.
  package init(joining graphs: consuming [EncodedGraph]) {
    var graphs = graphs
    graphs.reverse()
    var arena = ByteArena()
    arena.reserve(graphs.reduce(0) { $0 + $1.bytes.count })
    var places = RawStack<RecordPlace>()
    defer { places.deallocate() }
    var texts = JoinedTexts()
    var isInKeyOrder = true
    while let graph = graphs.popLast() {
      let formerTagsStart = Int32(texts.formerTags.count)
      texts.append(graph.texts)
      let start = arena.count
      graph.bytes.withUnsafeBytes { arena.append($0) }
      for index in graph.records.indices {
        var place = graph.memory.content.places[index]
        place.move(by: start, formerTagsBy: formerTagsStart)
        if index == 0, let last = places.all.last, isInKeyOrder {
          isInKeyOrder = EncodedGraph.isBefore(last, place, in: UnsafeRawBufferPointer(arena.all))
        }
        places.append(place)
      }
      if !graph.isInKeyOrder { isInKeyOrder = false }
    }
    self.init(
      rootCount: places.count, GraphMemory.adopt(places.all, arena.count, in: arena.hand()), texts.all)
    mayRepeat = true
    self.isInKeyOrder = isInKeyOrder
  }
}

extension RecordPlace {
  fileprivate mutating func move(by offset: Int, formerTagsBy formerTagsOffset: Int32) {
    key += offset
    value += offset
    end += offset
    if formerTags >= 0 { formerTags += formerTagsOffset }
  }
}

/// What several graphs need beside their records, each once.
private struct JoinedTexts {
  private var tags: [TypeTag] = []
  private var types: [Any.Type?] = []
  private var shapes: [(digest: UInt64, text: [UInt8])] = []
  private(set) var formerTags: [[UInt64]] = []
  private var tagDigests: Set<UInt64> = []
  private var shapeDigests: Set<UInt64> = []
  private var last: GraphTexts?

  mutating func append(_ texts: GraphTexts) {
    formerTags += texts.formerTags
    // Mostly they need the same.
    if texts === last { return }
    last = texts
    for (tag, type) in zip(texts.tags, texts.types) where tagDigests.insert(tag.digest).inserted {
      tags.append(tag)
      types.append(type)
    }
    for shape in texts.shapes where shapeDigests.insert(shape.digest).inserted { shapes.append(shape) }
  }

  var all: GraphTexts { GraphTexts(tags: tags, types: types, shapes: shapes, formerTags: formerTags) }
}
