internal import GarageCoding
internal import GarageDriver

/// Looks for indexes that serve a query.
struct QueryPlanner {
  let items: [IndexCatalog.Item]
  /// Whether the kinds of values in an index are unknown, because it is seen through unsaved changes.
  let kindsAreUnknown: Bool

  /// More stretches than these are not read one by one.
  private static let maximumStretchCount = 1024

  private func kinds(_ item: IndexCatalog.Item) -> IndexedFields.Kinds { kindsAreUnknown ? .all : item.kinds }

  // MARK: - Finding

  /// The best way to all objects that satisfy a condition; nil if no index leads there.
  func plan(_ node: FilterNode) -> IndexPlan? {
    let terms = QueryPlanner.terms(node)
    let scans = items.flatMap { self.scans($0, terms) }
    if let best = scans.min(by: { $0.cost < $1.cost }) {
      return IndexPlan(scans: [best], others: QueryPlanner.others(beside: best, scans))
    }
    var best: IndexPlan?
    // If a term is satisfied by one of several alternatives, each alternative may have an index of its own.
    for term in terms {
      guard case .either(let left, let right) = term, let first = plan(left), let second = plan(right)
      else { continue }
      var scans = first.scans + second.scans
      // What satisfies one side satisfies the term, but not those beside it.
      for scan in scans.indices where terms.count > 1 {
        for stretch in scans[scan].stretches.indices { scans[scan].stretches[stretch].isExact = false }
      }
      let plan = IndexPlan(scans: scans)
      if best.map({ plan.cost < $0.cost }) ?? true { best = plan }
    }
    return best
  }

  /// The scans that are limited by terms that limit none of the scans before, the best first.
  private static func others(beside best: IndexPlan.Scan, _ scans: [IndexPlan.Scan]) -> [IndexPlan.Scan] {
    var confining = best.terms
    var others: [IndexPlan.Scan] = []
    for scan in scans.sorted(by: { $0.cost < $1.cost }) where others.count < IndexPlan.maximumOtherCount {
      if scan.terms.isSubset(of: confining) { continue }
      confining.formUnion(scan.terms)
      others.append(scan)
    }
    return others
  }

  /// The terms that have to hold at the same time.
  static func terms(_ node: FilterNode) -> [FilterNode] {
    if case .both(let left, let right) = node { return terms(left) + terms(right) }
    return [node]
  }

  /// The stretches of an index to which the terms limit it. Empty if they do not limit it, and more than one if each of two
  /// elements has to satisfy a term of its own.
  private func scans(_ item: IndexCatalog.Item, _ terms: [FilterNode]) -> [IndexPlan.Scan] {
    if !item.definition.isEach { return scan(item, terms, 0..<terms.count).map { [$0] } ?? [] }
    return terms.indices.compactMap { scan(item, terms, $0..<$0 + 1) }
  }

  /// - Parameter places: the places of the terms that may limit it.
  private func scan(_ item: IndexCatalog.Item, _ terms: [FilterNode], _ places: Range<Int>) -> IndexPlan.Scan?
  {
    let definition = item.definition
    if definition.isHashed { return hashedScan(item, terms, places) }
    var answered: Set<Int> = []
    var prefixes: [IndexPlan.Stretch] = [
      IndexPlan.Stretch(lower: [], upper: [], isExact: true, isPoint: true)
    ]
    var found: [IndexPlan.Stretch] = []
    var cost = IndexPlan.Cost.whole
    for field in definition.components.indices {
      guard let ranges = ranges(item, field, terms, places, &answered) else {
        if field == 0 { return nil }
        // Everything that begins with the bytes found so far.
        let isAnswer = answered.count == terms.count
        found += prefixes.map { QueryPlanner.stretch($0.lower, $0.isExact && isAnswer, isPoint: false) }
        prefixes = []
        break
      }
      cost -= QueryPlanner.gain(ranges)
      if prefixes.count * ranges.ranges.count > QueryPlanner.maximumStretchCount { return nil }
      // What the fields behind such a stretch have to be does not limit it further.
      let isAnswer = answered.count == terms.count
      var next: [IndexPlan.Stretch] = []
      for prefix in prefixes {
        for range in ranges.ranges {
          let isExact = prefix.isExact && range.isExact
          if range.isPoint {
            next.append(
              IndexPlan.Stretch(lower: prefix.lower + range.lower, upper: [], isExact: isExact, isPoint: true)
            )
          } else {
            found.append(
              IndexPlan.Stretch(
                lower: prefix.lower + range.lower, upper: prefix.lower + range.upper,
                isExact: isExact && isAnswer, isPoint: false))
          }
        }
      }
      prefixes = next
      if next.isEmpty { break }
    }
    let isAnswer = answered.count == terms.count
    found += prefixes.map { QueryPlanner.stretch($0.lower, $0.isExact && isAnswer, isPoint: true) }
    let stretches = found.map { QueryPlanner.cut($0) }.sorted { ValueRanges.isLess($0.lower, $1.lower) }
    return IndexPlan.Scan(
      item: item, stretches: QueryPlanner.joined(stretches),
      cost: definition.isUnique && found.allSatisfy(\.isPoint) ? cost - IndexPlan.Cost.unique : cost,
      terms: answered)
  }

  private static func gain(_ ranges: ValueRanges) -> Int {
    if ranges.ranges.allSatisfy(\.isPoint) {
      return ranges.ranges.count <= 1 ? IndexPlan.Cost.oneValue : IndexPlan.Cost.someValues
    }
    // A stretch from one value to another of the same kind is likely to be short.
    let isBounded = ranges.ranges.allSatisfy { $0.isPoint || $0.lower.count > 1 && $0.upper.count > 1 }
    if isBounded { return IndexPlan.Cost.bounded }
    // All but some values are most likely nearly all.
    return ranges.ranges.allSatisfy(\.isExact) && !ranges.isToTheEnd
      ? IndexPlan.Cost.halfBounded : IndexPlan.Cost.uncertain
  }

  /// Everything that begins with these bytes.
  private static func stretch(_ lower: [UInt8], _ isExact: Bool, isPoint: Bool) -> IndexPlan.Stretch {
    IndexPlan.Stretch(lower: lower, upper: ValueRanges.behind(lower), isExact: isExact, isPoint: isPoint)
  }

  /// A stretch in the form of keys, in which long values are cut.
  private static func cut(_ stretch: IndexPlan.Stretch) -> IndexPlan.Stretch {
    var stretch = stretch
    let most = OrderedBytes.uncutByteCount
    if stretch.isPoint, stretch.lower.count > most {
      var bytes = OrderedBytes()
      bytes.append(stretch.lower)
      bytes.cut(from: 0)
      stretch.lower = bytes.bytes
      stretch.upper = ValueRanges.behind(bytes.bytes)
      stretch.isExact = false
      return stretch
    }
    if stretch.lower.count > most {
      stretch.lower = Array(stretch.lower.prefix(most))
      (stretch.isExact, stretch.isPoint) = (false, false)
    }
    if stretch.upper.count > most {
      stretch.upper = ValueRanges.behind(Array(stretch.upper.prefix(most)))
      (stretch.isExact, stretch.isPoint) = (false, false)
    }
    return stretch
  }

  /// Stretches in order, joined where they overlap. Cut values that begin alike stand in the same place, and the entries there
  /// would be found once for each of them.
  private static func joined(_ stretches: [IndexPlan.Stretch]) -> [IndexPlan.Stretch] {
    var joined: [IndexPlan.Stretch] = []
    for stretch in stretches {
      guard let last = joined.last, ValueRanges.isLess(stretch.lower, last.upper) else {
        joined.append(stretch)
        continue
      }
      let upper = ValueRanges.isLess(last.upper, stretch.upper) ? stretch.upper : last.upper
      joined[joined.count - 1] = IndexPlan.Stretch(
        lower: last.lower, upper: upper, isExact: false, isPoint: false)
    }
    return joined
  }

  /// What the terms say about one field of an index; nil if they say nothing.
  private func ranges(
    _ item: IndexCatalog.Item, _ field: Int, _ terms: [FilterNode], _ places: Range<Int>,
    _ answered: inout Set<Int>
  ) -> ValueRanges? {
    var found: ValueRanges?
    for place in places {
      guard let ranges = ranges(item, field, terms[place]) else { continue }
      found = found?.intersection(ranges) ?? ranges
      answered.insert(place)
    }
    return found
  }

  private func ranges(_ item: IndexCatalog.Item, _ field: Int, _ node: FilterNode) -> ValueRanges? {
    let component = item.definition.components[field]
    switch node {
    case .field(let test):
      guard test.path == component.path, test.isSameInSubclasses else { return nil }
      return ValueRanges(
        test.test, absentIsNull: test.absentIsNull, component, isEach: item.definition.isEach, kinds(item),
        field)
    case .object: return nil
    case .both(let left, let right):
      let (left, right) = (ranges(item, field, left), ranges(item, field, right))
      guard let left, let right, !item.definition.isEach else { return (left ?? right)?.inexact }
      return left.intersection(right)
    case .either(let left, let right):
      guard let left = ranges(item, field, left), let right = ranges(item, field, right) else { return nil }
      return left.union(right)
    case .not(let inner):
      guard !item.definition.isEach, case .field(let test) = inner else { return nil }
      // A reference to an object that is not there is nil, too.
      let isSure = if case .isNull = test.test { false } else { true }
      return ranges(item, field, inner)?.complement(isSure: isSure)
    }
  }

  // MARK: - Hashed values

  /// The places of the hashes of named values, and of the values that could not be hashed.
  private func hashedScan(
    _ item: IndexCatalog.Item, _ terms: [FilterNode], _ places: Range<Int>
  ) -> IndexPlan.Scan? {
    if kindsAreUnknown { return nil }
    let hash = KeyedHash(key: item.hashKey)
    var answered: Set<Int> = []
    var values: [(bytes: [UInt8], isExact: Bool)] = [([], true)]
    for field in item.definition.components.indices {
      var plain = item
      // Absent values, and values that cannot be told, stand apart: see below.
      plain.kinds.bits[field] &= ~(1 << 31 | 1 << UInt32(OrderedBytes.Kind.other))
      guard let ranges = ranges(plain, field, terms, places, &answered), ranges.ranges.allSatisfy(\.isPoint),
        values.count * ranges.ranges.count <= QueryPlanner.maximumStretchCount
      else { return nil }
      values = values.flatMap { value in
        ranges.ranges.map { (value.bytes + $0.lower, value.isExact && $0.isExact) }
      }
    }
    let isAnswer = answered.count == terms.count
    var stretches = values.map { value in
      let bytes = IndexBatch.hashed(value.bytes, hash)
      return IndexPlan.Stretch(
        lower: bytes, upper: ValueRanges.behind(bytes), isExact: value.isExact && isAnswer, isPoint: true)
    }
    if item.kinds.hasOther || item.kinds.hasAbsent {
      stretches.append(
        QueryPlanner.stretch([OrderedBytes.Kind.other], false, isPoint: false))
    }
    return IndexPlan.Scan(
      item: item, stretches: stretches.sorted { ValueRanges.isLess($0.lower, $1.lower) },
      cost: IndexPlan.Cost.ofOneValue(isUnique: item.definition.isUnique), terms: answered)
  }

  // MARK: - Order

  /// What a query is sorted by, if an index may have that order.
  struct Order {
    let field: StoredField
    let isSameInSubclasses: Bool
    /// The kind of its values (`OrderedBytes.Kind`); nil where it is not known.
    let kind: UInt8?
  }

  /// The stretches of an index that has the results of a query in its order; nil if no index has.
  func ordered(by order: [Order], _ node: FilterNode?) -> IndexPlan.Scan? {
    let terms = node.map { QueryPlanner.terms($0) } ?? []
    var best: IndexPlan.Scan?
    for item in items {
      guard let scan = ordered(item, by: order, terms) else { continue }
      if best.map({ scan.cost < $0.cost }) ?? true { best = scan }
    }
    return best
  }

  private func ordered(
    _ item: IndexCatalog.Item, by order: [Order], _ terms: [FilterNode]
  ) -> IndexPlan.Scan? {
    let definition = item.definition
    let fixed = definition.components.count - order.count
    guard !definition.isHashed, !definition.isEach, fixed >= 0, !item.kinds.hasOther else { return nil }
    for place in order.indices {
      let (field, key) = (fixed + place, order[place])
      guard definition.components[field].path == key.field.path, key.isSameInSubclasses,
        !definition.components[field].ignoresCase, key.field.absentIsNull || !item.kinds.hasAbsent(in: field),
        item.kinds.hasOnly(key.kind, in: field)
      else { return nil }
    }
    var answered: Set<Int> = []
    var prefix: [UInt8] = []
    var isExact = true
    var cost = IndexPlan.Cost.whole
    for field in 0..<fixed {
      guard let ranges = ranges(item, field, terms, 0..<terms.count, &answered), ranges.ranges.count == 1,
        ranges.ranges[0].isPoint
      else { return nil }
      prefix += ranges.ranges[0].lower
      isExact = isExact && ranges.ranges[0].isExact
      cost -= IndexPlan.Cost.oneValue
    }
    var stretches = [QueryPlanner.stretch(prefix, isExact, isPoint: false)]
    if prefix.isEmpty { stretches[0].upper = [0xFF] }
    if let ranges = ranges(item, fixed, terms, 0..<terms.count, &answered) {
      cost -= QueryPlanner.gain(ranges)
      stretches = ranges.ranges.map { range in
        IndexPlan.Stretch(
          lower: prefix + range.lower, upper: prefix + range.upper, isExact: isExact && range.isExact,
          isPoint: false)
      }
    }
    let isAnswer = answered.count == terms.count
    for place in stretches.indices { stretches[place].isExact = stretches[place].isExact && isAnswer }
    return IndexPlan.Scan(
      item: item, stretches: QueryPlanner.joined(stretches.map { QueryPlanner.cut($0) }), cost: cost,
      terms: answered, fixedValues: prefix)
  }
}
