internal import GarageCoding
internal import GarageDriver

// The order of identifiers, in which all records stand, serves as an index that every store has: one of the property that is
// the identifier, if that is a number, a text or a UUID.

extension ValueRanges {
  /// The range of the identifiers of all objects that may satisfy a condition, in the form of keys behind their tag; nil if
  /// they may be anywhere.
  init?(identifiersOf node: FilterNode) {
    switch node {
    case .field(let field):
      guard field.isIdentifier, field.isSameInSubclasses, let ranges = ValueRanges.identifiers(field.test)
      else { return nil }
      self = ranges
    case .object, .not: return nil
    case .both(let left, let right):
      let (left, right) = (ValueRanges(identifiersOf: left), ValueRanges(identifiersOf: right))
      guard let one = left ?? right else { return nil }
      self = if let left, let right { left.intersection(right) } else { one }
    case .either(let left, let right):
      guard let left = ValueRanges(identifiersOf: left), let right = ValueRanges(identifiersOf: right) else {
        return nil
      }
      self = left.union(right)
    }
  }

  private static func identifiers(_ test: FieldTest) -> ValueRanges? {
    switch test {
    case .equals(let constant): identifiers(of: [constant])
    case .isOneOf(let constants): identifiers(of: constants)
    case .isLess(let constant, let orEqual):
      identifier(constant.value).map { identifier in
        let end = isCut(identifier) ? behind(cut(identifier)) : orEqual ? identifier + [0] : identifier
        return ValueRanges([Range(lower: [identifier[0]], upper: end, isExact: false)])
      }
    case .isGreater(let constant, let orEqual):
      identifier(constant.value).map { identifier in
        let start = isCut(identifier) ? cut(identifier) : orEqual ? identifier : identifier + [0]
        return ValueRanges([Range(lower: start, upper: [identifier[0] + 1], isExact: false)])
      }
    case .hasPrefix(let text):
      identifier(.text(text)).map { ValueRanges([beginning(with: cut($0), isExact: false)]) }
    case .isNull, .isThere, .equalsIgnoringCase, .text, .containsElement: nil
    }
  }

  private static func identifiers(of constants: [FieldConstant]) -> ValueRanges? {
    var points: [Range] = []
    for constant in constants {
      guard let bytes = identifier(constant.value), let identifier = Identifier(bytes: bytes) else {
        return nil
      }
      let key = identifier.keyBytes
      points.append(Range(lower: key, upper: key + [0], isExact: false, isPoint: true))
    }
    return ValueRanges(points.sorted { isLess($0.lower, $1.lower) }).union(.none)
  }

  /// The whole identifier that a value stands for; nil if it stands for none.
  private static func identifier(_ value: FieldValue) -> [UInt8]? {
    var writer = IdentifierWriter()
    switch value {
    case .number(.integer(let number)): writer.write(integer: number)
    case .number(.wide(let number)):
      guard let magnitude = UInt64(exactly: number.magnitude), !number.isNegative else { return nil }
      writer.write(integer: magnitude)
    case .text(let text): writer.write(string: text)
    case .uuid(let bytes): return [IdentifierKind.uuid.rawValue] + bytes
    case .null, .bool, .number, .date, .data, .reference: return nil
    }
    return Array(writer.bytes)
  }

  /// Whether an identifier that begins like this may be cut in keys, so that its place does not tell what comes behind.
  private static func isCut(_ identifier: [UInt8]) -> Bool { identifier.count > Identifier.cutByteCount }

  private static func cut(_ identifier: [UInt8]) -> [UInt8] {
    Array(identifier.prefix(Identifier.cutByteCount))
  }
}

extension QueryRun {
  /// Finds out whether the order of identifiers leads to the results.
  func findIdentifiers(_ way: inout IndexWay) throws {
    let isOrder = sortFields.first.map { $0?.isIdentifier ?? false } ?? false
    let ranges = filter.flatMap { ValueRanges(identifiersOf: $0.node) }
    guard ranges != nil || isOrder, !objectKeys.hidesIdentifiers, subclasses.isEmpty else { return }
    let tags = try access.presentTags(of: facts)
    // Objects that were identified by their content, before their type had an identifier, still are.
    guard tags.count == 1, try !hasDigests(tags[0]) else { return }
    way.tags = tags
    way.identifiers = ranges
    way.isOrderOfIdentifiers = isOrder
  }

  private func hasDigests(_ tag: UInt64) throws -> Bool {
    let kind = IdentifierKind.digest.rawValue
    let range = StorageKeyRange(
      from: KeyLayout.record(tag: tag, [kind]).bytes, to: KeyLayout.record(tag: tag, [kind + 1]).bytes)
    var isThere = false
    try access.transaction.scanKeys(range, .forward) { _ in
      isThere = true
      return .stop
    }
    return isThere
  }

  /// Lends the records with these identifiers, in their order.
  ///
  /// - Parameter first: identifiers up to this one are skipped.
  func forEachRecord(
    in ranges: ValueRanges, behind first: [UInt8]?, _ visit: (RawSpan, RawSpan) throws -> ScanStep
  ) throws {
    for range in ranges.ranges {
      if let first, !ValueRanges.isLess(first, range.lower), range.isPoint { continue }
      if range.isPoint {
        let key = KeyLayout.record(tag: way.tags[0], range.lower).bytes
        let step = try access.transaction.withValue(for: key.span.bytes) { record in
          guard let record else { return ScanStep.continue }
          return try visit(key.span.bytes, record)
        }
        if step == .stop { return }
        continue
      }
      var range = recordRange(range)
      if let first {
        let start = KeyLayout.record(tag: way.tags[0], first).bytes + [0]
        if range.lowerBound.lexicographicallyPrecedes(start) { range.lowerBound = start }
        if range.isEmpty { continue }
      }
      var isEnd = false
      try access.transaction.scan(range, .forward) { key, record in
        isEnd = try visit(key, record) == .stop
        return isEnd ? .stop : .continue
      }
      if isEnd { return }
    }
  }

  private func isFound(_ key: RawSpan) throws -> Bool {
    try access.transaction.withValue(for: key) { record in
      guard let record else { return false }
      return try isMatch(key, record)
    }
  }

  private func recordRange(_ range: ValueRanges.Range) -> StorageKeyRange {
    let tag = way.tags[0]
    return StorageKeyRange(
      from: KeyLayout.record(tag: tag, range.lower).bytes, to: KeyLayout.record(tag: tag, range.upper).bytes)
  }

  /// The keys of the results, if these are sorted by identifier, in ascending or descending order. Nil if identifiers are cut,
  /// because their order is not that of the keys.
  func keysInOrderOfIdentifiers() throws -> KeyList? {
    let isAscending = query.sortKeys[0].isAscending
    let start = start.map { KeyLayout.record(tag: way.tags[0], $0.identifier).bytes }
    let limit = query.maximumCount ?? .max
    // Longer identifiers stand among those that are cut and begin alike.
    let uncutCount = KeyLayout.identifierOffset + Identifier.cutByteCount
    if let start, start.count > uncutCount { return nil }
    var keys = KeyList()
    var isCut = false
    func take(_ key: RawSpan) -> ScanStep {
      isCut = key.byteCount > uncutCount
      if isCut { return .stop }
      keys.append(key)
      return keys.count == limit ? .stop : .continue
    }
    if let plan = way.plan, let point = onlyPoint(of: plan, wantsFirst: query.maximumCount != nil) {
      var block = RecordBlock(first: query.maximumCount ?? 16)
      var patience = plan.others.isEmpty ? Int.max : self.patience
      func takeBlock() throws -> ScanStep {
        try forEachFound(in: &block) { take($0) }
      }
      try forEachKey(
        ofPoint: point, isAscending ? .forward : .backward, behind: self.start?.identifier
      ) { key, isKnown in
        if isKnown && block.isEmpty { return take(key) }
        patience -= 1
        if patience <= 0 { return .stop }
        if !asksForMany { return try isKnown || isFound(key) ? take(key) : .continue }
        block.append(key, isKnown)
        return block.isFull ? try takeBlock() : .continue
      }
      if !block.isEmpty { _ = try takeBlock() }
      if isCut { return nil }
      if patience > 0 || keys.count == limit { return keys }
      keys = KeyList()
    }
    if way.plan != nil || way.identifiers?.ranges.allSatisfy(\.isPoint) ?? false {
      var all = KeyList()
      try forEachUnsorted(keepsObjects: false) { key, _, _ in
        all.append(key)
        return .continue
      }
      for key in isAscending ? all.all : all.all.reversed() {
        let bytes = key.bytes
        if let start, bytes == start || bytes.lexicographicallyPrecedes(start) == isAscending { continue }
        if take(bytes.span.bytes) == .stop { break }
      }
      return isCut ? nil : keys
    }
    var ranges = way.identifiers?.ranges.map { recordRange($0) } ?? [KeyLayout.records(tag: way.tags[0])]
    if !isAscending { ranges.reverse() }
    for var range in ranges {
      if let start, isAscending, range.lowerBound.lexicographicallyPrecedes(start + [0]) {
        range.lowerBound = start + [0]
      }
      if let start, !isAscending, range.upperBound.map({ start.lexicographicallyPrecedes($0) }) ?? true {
        range.upperBound = start
      }
      if range.isEmpty { continue }
      var isEnd = false
      try access.transaction.scan(range, isAscending ? .forward : .backward) { key, record in
        // A cut identifier may stand in the place of another one, whether it is a result or not.
        isCut = key.byteCount > uncutCount
        isEnd = try isCut || isMatch(key, record) && take(key) == .stop
        return isEnd ? .stop : .continue
      }
      if isEnd { break }
    }
    return isCut ? nil : keys
  }
}
