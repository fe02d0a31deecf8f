internal import GarageCoding
internal import GarageDriver

// The ends of a query that give properties of objects, mostly without decoding these.

extension Query {
  /// One property of each object found, in the order of the query.
  ///
  /// - Throws: as ``retrieveAll()``.
  @inlinable
  public func values<Value: Codable>(_ property: KeyPath<Root, Value>) throws -> [Value] {
    // Inlined for the same reason as `retrieveAll`.
    var values: [Value] = []
    let order = try forEachValue(property) { (value: consuming Value) in values.append(value) }
    values.arrange(order)
    return values
  }

  /// Two properties of each object found, in the order of the query.
  ///
  /// - Throws: as ``retrieveAll()``.
  @inlinable
  public func values<First: Codable, Second: Codable>(
    _ first: KeyPath<Root, First>, _ second: KeyPath<Root, Second>
  ) throws -> [(First, Second)] {
    var values: [(First, Second)] = []
    let order = try forEachPair(first, second) { values.append(($0, $1)) }
    values.arrange(order)
    return values
  }

  /// Hands on two properties of each object found; returns in which order they are to stand, as for ``visitObjects(_:)``.
  @usableFromInline
  func forEachPair<First: Codable, Second: Codable>(
    _ first: KeyPath<Root, First>, _ second: KeyPath<Root, Second>, _ visit: (First, Second) throws -> Void
  ) throws -> [Int]? {
    try run { run in
      let (first, second) = (try run.column(first), try run.column(second))
      return try run.forEachPart { key, record, known in
        var isThere = false
        try first.visit(run, key, record, known) { (left: consuming First) in
          try second.visit(run, key, record, known) { (right: consuming Second) in
            isThere = true
            try visit(left, right)
          }
        }
        return isThere
      }
    }
  }

  /// Hands on one property of each object found; returns in which order they are to stand, as for ``visitObjects(_:)``.
  @usableFromInline
  func forEachValue<Value: Codable>(
    _ property: KeyPath<Root, Value>, _ visit: (consuming Value) throws -> Void
  ) throws -> [Int]? {
    try run { run in
      let column = try run.column(property)
      return try run.forEachPart { key, record, known in
        var isThere = false
        try column.visit(run, key, record, known) { (value: consuming Value) in
          isThere = true
          try visit(value)
        }
        return isThere
      }
    }
  }

  /// The different values that a property has among the objects found, in the order in which they are found first.
  ///
  /// - Throws: as ``retrieveAll()``.
  @inlinable
  public func distinct<Value: Hashable & Codable>(_ property: KeyPath<Root, Value>) throws -> [Value] {
    var (known, values) = (Set<Value>(), [Value]())
    if let groups = try groups(property, counting: false) {
      for (value, _) in groups where known.insert(value).inserted { values.append(value) }
    } else if isUnsorted {
      try forEachValueInAnyOrder(property) { if known.insert($0).inserted { values.append($0) } }
    } else {
      for value in try self.values(property) where known.insert(value).inserted { values.append(value) }
    }
    return values
  }

  /// How many of the objects found have each value of a property. Nil is a value of its own.
  ///
  /// - Throws: as ``retrieveAll()``.
  @inlinable
  public func countByValue<Value: Hashable & Codable>(
    _ property: KeyPath<Root, Value>
  ) throws -> [Value: Int] {
    var counts: [Value: Int] = [:]
    if let groups = try groups(property, counting: true) {
      for (value, count) in groups { counts[value, default: 0] += count }
      return counts
    }
    try forEachValueInAnyOrder(property) { counts[$0, default: 0] += 1 }
    return counts
  }

  /// Hands on one property of each object found, in any order.
  @usableFromInline
  func forEachValueInAnyOrder<Value: Codable>(
    _ property: KeyPath<Root, Value>, _ visit: (consuming Value) throws -> Void
  ) throws { _ = try unlessLimited.forEachValue(property, visit) }

  /// The query without its order, where that decides nothing about what is found.
  var unlessLimited: Query { maximumCount == nil ? unsorted : self }
}

// MARK: - Least, greatest, sum

extension Query {
  /// The least value of a property among the objects found; nil where none is found. NaN does not count.
  ///
  /// - Throws: as ``retrieveAll()``.
  @inlinable
  public func min<Value: Comparable & Codable>(_ property: KeyPath<Root, Value>) throws -> Value? {
    if let found = try extremeByIndex(property, .ascending) { return found }
    if let found = try extremeOfNumbers(property, .ascending, { $0 }) { return found }
    return try extreme(property, { $0 }, <)
  }

  /// The same for a property that may be nil, which does not count.
  ///
  /// - Throws: as ``retrieveAll()``.
  @inlinable
  public func min<Value: Comparable & Codable>(_ property: KeyPath<Root, Value?>) throws -> Value? {
    if let found = try extremeByIndex(property, .ascending) { return found }
    if let found = try extremeOfNumbers(property, .ascending, { $0 }) { return found }
    return try extreme(property, { $0 }, <)
  }

  /// The greatest value of a property among the objects found; nil where none is found. NaN does not count.
  ///
  /// - Throws: as ``retrieveAll()``.
  @inlinable
  public func max<Value: Comparable & Codable>(_ property: KeyPath<Root, Value>) throws -> Value? {
    if let found = try extremeByIndex(property, .descending) { return found }
    if let found = try extremeOfNumbers(property, .descending, { $0 }) { return found }
    return try extreme(property, { $0 }, >)
  }

  /// The same for a property that may be nil, which does not count.
  ///
  /// - Throws: as ``retrieveAll()``.
  @inlinable
  public func max<Value: Comparable & Codable>(_ property: KeyPath<Root, Value?>) throws -> Value? {
    if let found = try extremeByIndex(property, .descending) { return found }
    if let found = try extremeOfNumbers(property, .descending, { $0 }) { return found }
    return try extreme(property, { $0 }, >)
  }

  @inlinable
  func extreme<Property: Codable, Value: Comparable>(
    _ property: KeyPath<Root, Property>, _ value: (Property) -> Value?, _ isBetter: (Value, Value) -> Bool
  ) throws -> Value? {
    var best: Value?
    try forEachValueInAnyOrder(property) { found in
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
    var (integers, others) = (IntegerSum(of: Value.self), OtherSum<Value>())
    try forEachNumber(property) {
      integers.add($0)
    } integer: {
      integers.add($0)
    } double: {
      others.add(double: $0)
    } other: {
      if !integers.add($0) { others.add($0) }
    }
    guard let value = integers.isOfValues ? integers.value(as: Value.self) : others.value else {
      throw sumOutOfRange(property)
    }
    return value
  }

  /// The same for a property that may be nil, which does not count.
  ///
  /// - Throws: as for a property that may not.
  public func sum<Value: Numeric & Codable>(_ property: KeyPath<Root, Value?>) throws -> Value {
    var (integers, others) = (IntegerSum(of: Value.self), OtherSum<Value>())
    try forEachNumber(property) {
      integers.add($0)
    } integer: {
      integers.add($0)
    } double: {
      others.add(double: $0)
    } other: {
      if let found = $0, !integers.add(found) { others.add(found) }
    }
    guard let value = integers.isOfValues ? integers.value(as: Value.self) : others.value else {
      throw sumOutOfRange(property)
    }
    return value
  }

  private func sumOutOfRange<Property>(_ property: KeyPath<Root, Property>) -> GarageError {
    GarageError.sumOutOfRange(type: "\(Root.self)", property: nameOf(property))
  }

  /// The mean of a property over the objects found; nil where none is found.
  ///
  /// - Throws: ``GarageError/invalidQuery(type:reason:)`` where a value is stored as something else than one number, as money
  ///   of units and cents is: take ``sum(_:)-(KeyPath<Root,Value>)`` and ``count()``. Else as ``retrieveAll()``.
  public func average<Value: Numeric & Codable>(_ property: KeyPath<Root, Value>) throws -> Double? {
    var mean = Mean()
    try forEachNumber(property) {
      mean.add($0)
    } integer: {
      mean.add(Double($0))
    } double: {
      mean.add($0)
    } other: {
      if try !mean.add(value: $0) { throw noNumber(property) }
    }
    return mean.value
  }

  /// The same for a property that may be nil, which does not count.
  ///
  /// - Throws: as for a property that may not.
  public func average<Value: Numeric & Codable>(_ property: KeyPath<Root, Value?>) throws -> Double? {
    var mean = Mean()
    try forEachNumber(property) {
      mean.add($0)
    } integer: {
      mean.add(Double($0))
    } double: {
      mean.add($0)
    } other: {
      if let found = $0, try !mean.add(value: found) { throw noNumber(property) }
    }
    return mean.value
  }

  private func noNumber<Property>(_ property: KeyPath<Root, Property>) -> GarageError {
    invalid(
      """
      cannot tell the average of \(nameOf(property)), whose values are not stored as one number each. Take their sum and \
      their count.
      """)
  }
}

/// Numbers that are added up in `Double`, with what rounding loses (Neumaier, 1974).
private struct Mean {
  private var (sum, lost, count) = (0.0, 0.0, 0)

  /// Adds a value; false where it is not stored as a number.
  mutating func add<Value: Numeric & Codable>(value: Value) throws -> Bool {
    let next: Double
    if Value.self == Double.self {
      next = Sameness.known(value, as: Double.self)
    } else if Value.self == Int.self {
      next = Double(Sameness.known(value, as: Int.self))
    } else if Value.self == Float.self {
      next = Double(Sameness.known(value, as: Float.self))
    } else if Value.self == Int64.self {
      next = Double(Sameness.known(value, as: Int64.self))
    } else if Value.self == Int32.self {
      next = Double(Sameness.known(value, as: Int32.self))
    } else {
      switch try GraphEncoder.fieldValue(of: value) {
      case .number(let number)?: next = number.approximation
      // It does not count, as where the property is optional.
      case .null?: return true
      default: return false
      }
    }
    add(next)
    return true
  }

  mutating func add(_ next: Double) {
    let total = sum + next
    lost += sum.magnitude >= next.magnitude ? (sum - total) + next : (next - total) + sum
    sum = total
    count += 1
  }

  /// Adds integers; false, and nothing is added, where their sum is no double.
  mutating func add(_ totals: IntegerTotals) -> Bool {
    guard totals.sum.magnitude <= 1 << 53 else { return false }
    sum = Double(totals.sum)
    count = totals.count
    return true
  }

  var value: Double? { count == 0 ? nil : (lost.isFinite ? sum + lost : sum) / Double(count) }
}

/// Integers of up to 64 bits that are added up in a wider type, in which no sum on the way is too large: it does not matter in
/// which order they come.
private struct IntegerSum {
  /// It would take 2⁶³ of them to exceed it.
  private var sum: Int128 = 0
  private let type: (any FixedWidthInteger.Type)?

  /// - Parameter type: of what values.
  init<Value>(of type: Value.Type) {
    self.type = (type as? any FixedWidthInteger.Type).flatMap { $0.bitWidth <= 64 ? $0 : nil }
  }

  var isOfValues: Bool { type != nil }

  mutating func add(_ number: Int64) { sum += Int128(number) }

  /// Adds all of them; says that this is right.
  mutating func add(_ totals: IntegerTotals) -> Bool {
    sum += totals.sum
    return true
  }

  /// Adds a value; false where it is no such integer.
  mutating func add<Value>(_ value: Value) -> Bool {
    // Most are of these types, and a cast takes longer than the rest.
    if Value.self == Int.self {
      sum += Int128(Sameness.known(value, as: Int.self))
    } else if Value.self == Int64.self {
      sum += Int128(Sameness.known(value, as: Int64.self))
    } else if Value.self == Int32.self {
      sum += Int128(Sameness.known(value, as: Int32.self))
    } else if type != nil, let value = value as? any FixedWidthInteger {
      sum += Int128(value)
    } else {
      return false
    }
    return true
  }

  /// Nil where the type does not hold it.
  func value<Value>(as _: Value.Type) -> Value? {
    func exactly<N: FixedWidthInteger>(_: N.Type) -> N? { N(exactly: sum) }
    return type.flatMap { exactly($0) as? Value }
  }
}

/// Numbers of other types, which are added up in their own.
private struct OtherSum<Value: Numeric> {
  private var sum = Value.zero
  /// How often the sum went beyond the end of its type, less how often it came back. At 0 the sum is right, whatever order the
  /// numbers came in.
  private var overflowCount = 0
  private let isInteger = Value.self is any FixedWidthInteger.Type

  /// Adds a double, where that is their type.
  mutating func add(double number: Double) {
    sum = Sameness.generic(Sameness.known(sum, as: Double.self) + number, as: Value.self)
  }

  mutating func add(_ value: Value) {
    if isInteger, let before = sum as? any FixedWidthInteger {
      addChecked(value, before)
    } else {
      sum += value
    }
  }

  /// Adds an integer of more than 64 bits.
  private mutating func addChecked<N: FixedWidthInteger>(_ value: Value, _ before: N) {
    let number = Sameness.known(value, as: N.self)
    let (after, overflows) = before.addingReportingOverflow(number)
    if overflows { overflowCount += number < 0 ? -1 : 1 }
    sum = Sameness.generic(after, as: Value.self)
  }

  /// Nil where the type does not hold it.
  var value: Value? { overflowCount == 0 ? sum : nil }
}
