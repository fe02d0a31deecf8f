internal import GarageCoding
internal import GarageDriver

// The ends of a query that give properties of objects, mostly without decoding these.

extension Query {
  /// One property of each object found, in the order of the query.
  ///
  /// - Throws: as ``retrieveAll()``.
  public func values<Value: Codable>(_ property: KeyPath<Root, Value>) throws -> [Value] {
    var values: [Value] = []
    try forEachValue(property) { values.append($0) }
    return values
  }

  /// Two properties of each object found, in the order of the query.
  ///
  /// - Throws: as ``retrieveAll()``.
  public func values<First: Codable, Second: Codable>(
    _ first: KeyPath<Root, First>, _ second: KeyPath<Root, Second>
  ) throws -> [(First, Second)] {
    var values: [(First, Second)] = []
    let (first, second) = (QueryColumn(first), QueryColumn(second))
    try run { run in
      try run.forEachMatch(keepsObjects: false) { key, record, known in
        if let left = try first.value(run, key, record, known),
          let right = try second.value(run, key, record, known)
        {
          values.append((left, right))
        }
        return .continue
      }
    }
    return values
  }

  func forEachValue<Value: Codable>(
    _ property: KeyPath<Root, Value>, _ visit: (Value) throws -> Void
  ) throws {
    let column = QueryColumn(property)
    try run { run in
      try run.forEachMatch(keepsObjects: false) { key, record, known in
        if let value = try column.value(run, key, record, known) { try visit(value) }
        return .continue
      }
    }
  }

  /// The different values that a property has among the objects found, in the order in which they are found first.
  ///
  /// - Throws: as ``retrieveAll()``.
  public func distinct<Value: Hashable & Codable>(_ property: KeyPath<Root, Value>) throws -> [Value] {
    if sortKeys.isEmpty, let groups = try groups(property, counting: false) { return groups.map(\.value) }
    var (known, values) = (Set<Value>(), [Value]())
    try forEachValue(property) { if known.insert($0).inserted { values.append($0) } }
    return values
  }

  /// How many of the objects found have each value of a property. Nil is a value of its own.
  ///
  /// - Throws: as ``retrieveAll()``.
  public func countByValue<Value: Hashable & Codable>(
    _ property: KeyPath<Root, Value>
  ) throws -> [Value: Int] {
    var counts: [Value: Int] = [:]
    if let groups = try groups(property, counting: true) {
      for (value, count) in groups { counts[value, default: 0] += count }
      return counts
    }
    try unlessLimited.forEachValue(property) { counts[$0, default: 0] += 1 }
    return counts
  }

  /// The query without its order, where that decides nothing about what is found.
  private var unlessLimited: Query { maximumCount == nil ? unsorted : self }
}

// MARK: - Least, greatest, sum

extension Query {
  /// The least value of a property among the objects found; nil where none is found. NaN does not count.
  ///
  /// - Throws: as ``retrieveAll()``.
  public func min<Value: Comparable & Codable>(_ property: KeyPath<Root, Value>) throws -> Value? {
    if let found = try extremeByIndex(property, .ascending) { return found }
    return try extreme(property, { $0 }, <)
  }

  /// The same for a property that may be nil, which does not count.
  ///
  /// - Throws: as ``retrieveAll()``.
  public func min<Value: Comparable & Codable>(_ property: KeyPath<Root, Value?>) throws -> Value? {
    if let found = try extremeByIndex(property, .ascending) { return found }
    return try extreme(property, { $0 }, <)
  }

  /// The greatest value of a property among the objects found; nil where none is found. NaN does not count.
  ///
  /// - Throws: as ``retrieveAll()``.
  public func max<Value: Comparable & Codable>(_ property: KeyPath<Root, Value>) throws -> Value? {
    if let found = try extremeByIndex(property, .descending) { return found }
    return try extreme(property, { $0 }, >)
  }

  /// The same for a property that may be nil, which does not count.
  ///
  /// - Throws: as ``retrieveAll()``.
  public func max<Value: Comparable & Codable>(_ property: KeyPath<Root, Value?>) throws -> Value? {
    if let found = try extremeByIndex(property, .descending) { return found }
    return try extreme(property, { $0 }, >)
  }

  private func extreme<Property: Codable, Value: Comparable>(
    _ property: KeyPath<Root, Property>, _ value: (Property) -> Value?, _ isBetter: (Value, Value) -> Bool
  ) throws -> Value? {
    var best: Value?
    try unlessLimited.forEachValue(property) { found in
      // What is not equal to itself compares with nothing.
      guard let found = value(found), found == found else { return }
      if best.map({ isBetter(found, $0) }) ?? true { best = found }
    }
    return best
  }

  /// The sum of a property over the objects found; 0 where none is found.
  ///
  /// - Throws: ``GarageError/sumOutOfRange(type:property:)`` where integers add up to more than their type holds; else as
  ///   ``retrieveAll()``.
  public func sum<Value: Numeric & Codable>(_ property: KeyPath<Root, Value>) throws -> Value {
    try sum(property) { $0 }
  }

  /// The same for a property that may be nil, which does not count.
  ///
  /// - Throws: as for a property that may not.
  public func sum<Value: Numeric & Codable>(_ property: KeyPath<Root, Value?>) throws -> Value {
    try sum(property) { $0 }
  }

  private func sum<Property: Codable, Value: Numeric>(
    _ property: KeyPath<Root, Property>, _ value: (Property) -> Value?
  ) throws -> Value {
    if Property.self == Int.self {
      guard let sum = try unlessLimited.integerSum(property) else {
        throw GarageError.sumOutOfRange(type: "\(Root.self)", property: nameOf(property))
      }
      return Sameness.generic(sum, as: Value.self)
    }
    var sum = Value.zero
    try unlessLimited.forEachValue(property) { found in
      guard let found = value(found) else { return }
      guard let next = checkedSum(sum, found) else {
        throw GarageError.sumOutOfRange(type: "\(Root.self)", property: nameOf(property))
      }
      sum = next
    }
    return sum
  }

  /// The sum of a property that is an `Int`; nil where that does not hold it.
  private func integerSum<Property: Codable>(_ property: KeyPath<Root, Property>) throws -> Int? {
    var sum = 0
    var isTooLarge = false
    let column = QueryColumn(property)
    try run { run in
      try run.forEachMatch(keepsObjects: false) { key, record, known in
        guard let integer = try column.integer(run, key, record, known) else { return .continue }
        (sum, isTooLarge) = sum.addingReportingOverflow(integer)
        return isTooLarge ? .stop : .continue
      }
    }
    return isTooLarge ? nil : sum
  }

  /// The mean of a property over the objects found; nil where none is found.
  ///
  /// - Throws: as ``retrieveAll()``.
  public func average<Value: Numeric & Codable>(_ property: KeyPath<Root, Value>) throws -> Double? {
    try average(property) { $0 }
  }

  /// The same for a property that may be nil, which does not count.
  ///
  /// - Throws: as ``retrieveAll()``.
  public func average<Value: Numeric & Codable>(_ property: KeyPath<Root, Value?>) throws -> Double? {
    try average(property) { $0 }
  }

  /// By sums in `Double` that keep what rounding loses (Neumaier, 1974).
  private func average<Property: Codable, Value: Numeric & Codable>(
    _ property: KeyPath<Root, Property>, _ value: (Property) -> Value?
  ) throws -> Double? {
    var (sum, lost, count) = (0.0, 0.0, 0)
    try unlessLimited.forEachValue(property) { found in
      guard let found = value(found),
        case .number(let number)? = try GraphEncoder.fieldValue(of: found)
      else { return }
      let next = number.approximation
      let total = sum + next
      lost += sum.magnitude >= next.magnitude ? (sum - total) + next : (next - total) + sum
      sum = total
      count += 1
    }
    return count == 0 ? nil : (lost.isFinite ? sum + lost : sum) / Double(count)
  }
}

/// The sum of two numbers; nil where their type does not hold it.
private func checkedSum<Value: Numeric>(_ left: Value, _ right: Value) -> Value? {
  func checked<N: FixedWidthInteger>(_ left: N) -> Value? {
    guard let right = right as? N else { return nil }
    let (sum, isTooLarge) = left.addingReportingOverflow(right)
    return isTooLarge ? nil : sum as? Value
  }
  if let left = left as? any FixedWidthInteger { return checked(left) }
  return left + right
}
