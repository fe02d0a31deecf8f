internal import GarageCoding
internal import Synchronization

// Encodes many objects on several cores.

extension Garage {
  /// The records of objects and of all that they refer to. They are encoded with the machine's other cores if that pays: if
  /// there are many objects, and they hold no objects with records of their own. If there are several graphs, they are to be
  /// written one after another in one write.
  func graphs<S: Sequence>(ofAllSendable objects: S) throws -> [EncodedGraph]
  where S.Element: Codable & Sendable {
    let objects = Array(objects)
    if mayUseSeveralCores, objects.count >= SharedEncoding<S.Element>.minimumCount,
      !(S.Element.self is any NoObject.Type), !(S.Element.self is AnyClass)
    {
      let graphs = try encoding {
        SharedEncoding(
          objects, $0, dates: dateEncodingStrategy, settings: CallSettings(of: self), of: self
        )
        .graphs()
      }
      if let graphs { return mayStayApart(graphs) ? graphs : [EncodedGraph(joining: graphs)] }
    }
    return [try graph(ofAll: objects)]
  }

  /// Whether graphs can be written one after another as well as joined, for which all of them would be copied. They can if they
  /// are in the order of their keys, and if writing them takes no question to the store for each that could be asked once for
  /// all.
  private func mayStayApart(_ graphs: [EncodedGraph]) -> Bool {
    !objectKeys.hidesIdentifiers && !store.roundTripsAreExpensive && EncodedGraph.areInKeyOrder(graphs)
  }
}

/// Encodes parts of an array on several cores.
private final class SharedEncoding<Root: Codable & Sendable>: Sendable {
  /// Some of the roots. Unchecked: while it is being encoded only one thread uses it, and its maker uses it again only when all
  /// are done.
  private final class Part: @unchecked Sendable {
    let range: Range<Int>
    /// Nil if the roots hold other objects, if one of them could not be encoded, or if the part was skipped.
    var graph: EncodedGraph?
    init(_ range: Range<Int>) { self.range = range }
  }

  /// How many objects are encoded in one go, which takes some hundred microseconds.
  private static var countOfPart: Int { 512 }
  /// Fewer objects are encoded by the caller.
  static var minimumCount: Int { 2 * countOfPart }

  private let roots: [Root]
  private let encoder: GraphEncoder
  private let time: UInt64
  private let dates: DateEncodingStrategy
  private let settings: CallSettings
  private let garage: Garage
  /// Whether these parts will not be used, so that the rest need not be encoded.
  private let isOver = Atomic<Bool>(false)

  init(
    _ roots: [Root], _ encoder: GraphEncoder, dates: DateEncodingStrategy, settings: CallSettings,
    of garage: Garage
  ) {
    (self.roots, self.encoder, self.dates, self.settings, self.garage) = (
      roots, encoder, dates, settings, garage
    )
    time = encoder.time
  }

  /// All records, in the order of the roots; nil if one thread has to encode them.
  ///
  /// That thread also tells what is wrong with a root that could not be encoded. It knows whether anything is: of several values
  /// of one identity only the last is parked, and another part may have it.
  func graphs() -> [EncodedGraph]? {
    // Whether the first objects hold other objects mostly tells the same of all.
    let first = Part(0..<SharedEncoding.countOfPart)
    encode(first)
    var parts = [first]
    if !isOver.load(ordering: .relaxed) {
      let work = SharedWork<Part> { self.encode($0) }
      for start in stride(from: first.range.upperBound, to: roots.count, by: SharedEncoding.countOfPart) {
        let part = Part(start..<min(start + SharedEncoding.countOfPart, roots.count))
        parts.append(part)
        work.add(part)
      }
      work.finish()
      work.end()
    }
    var graphs: [EncodedGraph] = []
    graphs.reserveCapacity(parts.count)
    for part in parts {
      guard let graph = part.graph else { return nil }
      graphs.append(graph)
      part.graph = nil
    }
    return graphs
  }

  private func encode(_ part: Part) {
    if isOver.load(ordering: .relaxed) { return }
    part.graph = try? settings.apply(to: garage) {
      try encoder.encode(onlyRoots: roots[part.range], time: time, dates: dates)
    }
    if part.graph == nil { isOver.store(true, ordering: .relaxed) }
  }
}
