// Linked dictionaries as they mostly stand: text keys, each with a reference. Read in place, entry by entry, and made at
// once when the objects are there.

/// The entries of a linked dictionary: its keys, in their order, and the target of each.
struct LinkedEntries<Key> {
  var keys: [Key]
  var targets: LinkTargets
  /// The key of the entry at a position, in coding paths.
  var pathKey: (Int) -> PathKey
}

extension Dictionary where Key: Codable, Value: Codable & Identifiable {
  /// The entries of a map of references alone, the usual case; nil, and nothing was read, for any other value.
  static func referenceEntries(_ coder: LinkDecoder) throws -> LinkedEntries<Key>? {
    if Key.self == Int.self {
      guard let map = try coder.referenceMap(), let (numbers, targets) = try coder.numberEntries(map) else {
        return nil
      }
      return LinkedEntries(
        keys: Reinterpretation.same(numbers, as: [Key].self), targets: targets,
        pathKey: { PathKey(stringValue: String(numbers[$0])) })
    }
    if Key.self == String.self {
      guard let map = try coder.referenceMap(), let (texts, targets) = try coder.textEntries(map) else {
        return nil
      }
      return LinkedEntries(
        keys: Reinterpretation.same(texts, as: [Key].self), targets: targets,
        pathKey: { PathKey(stringValue: texts[$0]) })
    }
    guard let type = coder.state.types.facts(of: Key.self).0.with({ $0.textKey }) else { return nil }
    return try representedEntries(coder, type)
  }

  private static func representedEntries<R: CodingKeyRepresentable>(
    _ coder: LinkDecoder, _: R.Type
  ) throws -> LinkedEntries<Key>? {
    let start = coder.state.cursor
    guard let map = try coder.referenceMap(), let (texts, targets) = try coder.textEntries(map) else {
      return nil
    }
    var keys: [R] = []
    keys.reserveCapacity(texts.count)
    for text in texts {
      guard let key = R(codingKey: DictionaryKey(stringValue: text)) else {
        coder.walk.fills.dropTargets(from: targets.first)
        coder.state.cursor = start
        return nil
      }
      keys.append(key)
    }
    return LinkedEntries(
      keys: Reinterpretation.same(keys, as: [Key].self), targets: targets,
      pathKey: { PathKey(stringValue: texts[$0]) })
  }

  /// A dictionary of objects, fetched where they are not there yet.
  init(_ entries: LinkedEntries<Key>, _ walk: GraphWalk) throws {
    let objects = LinkedObjects(targets: entries.targets, walk: walk)
    let keys = entries.keys
    self = try Dictionary(placesOf: keys.count) { keyPlaces, values, filled in
      try objects.forEach(of: Value.self, entries.pathKey) { position, object in
        (values + position).initialize(to: object)
        (keyPlaces + position).initialize(to: keys[position])
        filled = position + 1
      }
    }
    if count == keys.count { return }
    // Of equal keys the last one's object stays.
    var pairs: [(Key, Value)] = []
    try objects.forEach(of: Value.self, entries.pathKey) { pairs.append((keys[$0], $1)) }
    self = Dictionary(pairs, uniquingKeysWith: { _, last in last })
  }
}

/// The entries of a map at the cursor, and how many there are.
struct ReferenceMap {
  fileprivate var content: Int
  fileprivate var end: Int
  fileprivate var count: Int
}

extension LinkDecoder {
  /// The map at the cursor, where it has neither a shape nor anything but references; nil for any other value.
  fileprivate func referenceMap() throws -> ReferenceMap? {
    guard state.depth < RecordFormat.maximumDepth,
      let header = try ContainerHeader.read(
        state.base, state.cursor, end: state.frame.end, small: BodyTag.mapSmall, large: BodyTag.mapLarge),
      header.second == 0
    else { return nil }
    var map = ReferenceMap(content: header.content, end: header.end, count: 0)
    var at = map.content
    while at < map.end {
      // Damage is reported by the code that reads on.
      guard (try? BodyScanner.readKey(state.base, &at, end: map.end)) != nil, at < map.end,
        BodyTag.isReference(state.base.byte(at: at)),
        let next = try? BodyScanner.skipValue(state.base, at, end: map.end)
      else { return nil }
      at = next
      map.count += 1
    }
    return map
  }

  fileprivate func textEntries(_ map: ReferenceMap) throws -> (keys: [String], targets: LinkTargets)? {
    var texts: [String] = []
    texts.reserveCapacity(map.count)
    let targets = try targets(map) { text in
      guard let text = try? state.string(text) else { return false }
      texts.append(text)
      return true
    }
    return targets.map { (texts, $0) }
  }

  fileprivate func numberEntries(_ map: ReferenceMap) throws -> (keys: [Int], targets: LinkTargets)? {
    var numbers: [Int] = []
    numbers.reserveCapacity(map.count)
    let targets = try targets(map) { text in
      guard let text = try? state.string(text), let number = Int(text), String(number) == text else {
        return false
      }
      numbers.append(number)
      return true
    }
    return targets.map { (numbers, $0) }
  }

  /// Notes the targets of a map's entries; nil, and nothing was read, where a key is not what it should be.
  private func targets(_ map: ReferenceMap, _ takeKey: (Range<Int>) -> Bool) throws -> LinkTargets? {
    let walk = walk
    let first = walk.fills.targets.count
    let start = state.cursor
    var at = map.content
    for _ in 0..<map.count {
      let key = try BodyScanner.readKey(state.base, &at, end: map.end)
      guard takeKey(key) else {
        walk.fills.dropTargets(from: first)
        state.cursor = start
        return nil
      }
      state.cursor = at
      walk.fills.appendTarget(state.number(ofReference: try state.readReferenceIndex()))
      at = state.cursor
    }
    state.cursor = map.end
    return LinkTargets(
      first: first, count: UInt32(truncatingIfNeeded: map.count), path: state.notedPath())
  }
}
