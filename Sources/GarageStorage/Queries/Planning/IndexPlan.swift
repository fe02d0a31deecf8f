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

    /// Whether no value in the stretch is cut: either all are nil, truth values, numbers or dates, which are too short to be
    /// cut, or all are equal to one that is not cut.
    var isOfUncutKind: Bool {
      if isPoint && isExact { return true }
      guard let first = lower.first, let last = upper.first else { return false }
      let kinds = OrderedBytes.Kind.null...OrderedBytes.Kind.date
      // Behind the last of a kind the next one begins.
      return kinds.contains(first) && last >= first
        && (kinds.contains(last) || upper == [kinds.upperBound + 1])
    }
  }

  /// How much of an index is read. The numbers have no unit and can only be compared: a cost is ``whole``, less what the fields
  /// of the index take off it.
  enum Cost {
    /// The whole index is read.
    static let whole = 1000
    /// Taken off for a field that has to have one value.
    static let oneValue = 200
    /// Taken off for a field that has to have one of some values.
    static let someValues = 150
    /// Taken off for a field whose value has to be between two others, which mostly is a short stretch.
    static let bounded = 100
    /// Taken off for a field whose value has to be before or behind another one.
    static let halfBounded = 50
    /// Taken off for a field whose records have to be asked, and whose stretch of values is open at one end.
    static let uncertain = 10
    /// Taken off where there is one entry at most.
    static let unique = 500
    /// A plan that costs more leads to more records than a short list in the order of another index does.
    static let long = 850

    /// Of one value in an index of one field.
    static func ofOneValue(isUnique: Bool) -> Int { whole - oneValue - (isUnique ? unique : 0) }
  }

  /// Stretches of one index, in its order.
  struct Scan {
    var item: IndexCatalog.Item
    var stretches: [Stretch]
    /// How much of the index is read, as far as the condition tells (``Cost``): the less the better.
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
  /// The way to the objects that have one value in a field, where that is the whole condition and an index of this field alone
  /// leads there. ``QueryPlanner`` finds the same, in several times the time.
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
