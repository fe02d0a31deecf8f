internal import GarageCoding

/// A way to what a query finds: stretches of one index, or of several whose finds are put together.
struct IndexPlan {
  /// A stretch of the values of one index.
  struct Stretch {
    var lower: [UInt8]
    var upper: [UInt8]
    /// Whether every entry there that is not cut answers the whole condition with yes.
    var isExact: Bool
    /// Whether all entries there have the same values.
    var isPoint: Bool

    /// Whether no value that stands there is cut: all are nil, truth values, numbers or dates, whose bytes are too few, or equal
    /// to one that is not.
    var isOfUncutKind: Bool {
      if isPoint && isExact { return true }
      guard let first = lower.first, let last = upper.first else { return false }
      let kinds = OrderedBytes.Kind.null...OrderedBytes.Kind.date
      // Behind the last of a kind the next one begins.
      return kinds.contains(first) && last >= first
        && (kinds.contains(last) || upper == [kinds.upperBound + 1])
    }
  }

  /// How much of an index is read, in numbers that mean nothing but which is less: from ``whole`` the others are taken.
  enum Cost {
    /// All of it.
    static let whole = 1000
    /// What it takes off that a field has one value.
    static let oneValue = 200
    /// One of some values.
    static let someValues = 150
    /// A value between two, which mostly is a short stretch.
    static let bounded = 100
    /// A value before or behind one.
    static let halfBounded = 50
    /// A value that the record has to be asked for.
    static let uncertain = 10
    /// That there is but one entry.
    static let unique = 500
    /// From here on a plan leads to more than a short list in the order of another index.
    static let long = 850

    /// Of one value in an index of one field.
    static func ofOneValue(isUnique: Bool) -> Int { whole - oneValue - (isUnique ? unique : 0) }
  }

  /// Stretches of one index, in its order.
  struct Scan {
    var item: IndexCatalog.Item
    var stretches: [Stretch]
    /// How much of the index is read, as far as the condition tells: the less the better.
    var cost: Int
    /// Which of the terms that have to hold at once confine it.
    var terms: Set<Int>
    /// Where it is read for its order: what stands in all its entries before the values that make the order.
    var fixedValues: [UInt8] = []

    /// Whether no entry in one of the stretches has values that are cut.
    func isUncut(_ stretch: Stretch) -> Bool {
      item.definition.components.count == 1 && stretch.isOfUncutKind
    }
  }

  /// More indexes beside the only scan are not looked at.
  static let maximumOtherCount = 2

  var scans: [Scan]
  /// Scans that lead to all that is found as the only one of `scans` does, but are confined by other terms: what one of them
  /// leaves out is not found.
  var others: [Scan] = []

  var cost: Int { scans.reduce(0) { max($0, $1.cost) } + scans.count }
}

extension IndexPlan {
  /// The way to what has one value in a field, where that is the whole condition and an index of this field alone leads there:
  /// what ``QueryPlanner`` finds, too, in several times the time.
  static func toEqual(
    _ path: FieldPath, _ value: FieldValue, absentIsNull: Bool, _ items: [IndexCatalog.Item]
  )
    -> IndexPlan?
  {
    switch value {
    case .null, .bool: return nil
    case .number(let number) where number.isNaN: return nil
    default: if value.isNaN { return nil }
    }
    var found: Int?
    for index in items.indices
    where items[index].definition.isOfOneField && items[index].definition.components[0].path == path {
      if found == nil || items[index].definition.isUnique { found = index }
    }
    guard let found else { return nil }
    let kind = OrderedBytes.kind(of: value)
    let kinds = items[found].kinds
    if kinds.hasAbsent(in: 0) && !absentIsNull { return nil }
    for other in OrderedBytes.Kind.false...OrderedBytes.Kind.other
    where other != kind && kinds.has(other, in: 0) {
      return nil
    }
    let bytes = ValueRanges.bytes(value)
    if bytes.count > OrderedBytes.uncutByteCount { return nil }
    let stretch = Stretch(lower: bytes, upper: ValueRanges.behind(bytes), isExact: true, isPoint: true)
    let cost = Cost.ofOneValue(isUnique: items[found].definition.isUnique)
    return IndexPlan(scans: [Scan(item: items[found], stretches: [stretch], cost: cost, terms: [0])])
  }
}
