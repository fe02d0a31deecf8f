internal import GarageCoding

// The operators that make conditions of key paths. There is one for each form that the right side may have, so that the
// compiler finds the one meant at once.

/// Whether a property has that value: `\.name == "Sam"`, `\.nickname == nil`.
public func == <Root: Codable, Value: Equatable & Codable>(
  property: KeyPath<Root, Value>, value: Value
) -> Condition<Root> {
  .equal(property, value, "==")
}

/// Whether a property has another value: `\.name != "Sam"`.
public func != <Root: Codable, Value: Equatable & Codable>(
  property: KeyPath<Root, Value>, value: Value
) -> Condition<Root> {
  !.equal(property, value, "==")
}

/// Whether a property is less than a value.
public func < <Root: Codable, Value: Comparable & Codable>(
  property: KeyPath<Root, Value>, value: Value
) -> Condition<Root> {
  .ordered(property, value, "<", { .isLess($0, orEqual: false) }, <)
}

/// Whether a property is at most a value.
public func <= <Root: Codable, Value: Comparable & Codable>(
  property: KeyPath<Root, Value>, value: Value
) -> Condition<Root> {
  .ordered(property, value, "<=", { .isLess($0, orEqual: true) }, <=)
}

/// Whether a property is more than a value.
public func > <Root: Codable, Value: Comparable & Codable>(
  property: KeyPath<Root, Value>, value: Value
) -> Condition<Root> {
  .ordered(property, value, ">", { .isGreater($0, orEqual: false) }, >)
}

/// Whether a property is at least a value.
public func >= <Root: Codable, Value: Comparable & Codable>(
  property: KeyPath<Root, Value>, value: Value
) -> Condition<Root> {
  .ordered(property, value, ">=", { .isGreater($0, orEqual: true) }, >=)
}

/// Whether a property has a value that is less. Nil is not.
public func < <Root: Codable, Value: Comparable & Codable>(
  property: KeyPath<Root, Value?>, value: Value
) -> Condition<Root> {
  .ordered(property, value, "<", { .isLess($0, orEqual: false) }) { $0.map { $0 < value } ?? false }
}

/// Whether a property has a value that is at most that. Nil is not.
public func <= <Root: Codable, Value: Comparable & Codable>(
  property: KeyPath<Root, Value?>, value: Value
) -> Condition<Root> {
  .ordered(property, value, "<=", { .isLess($0, orEqual: true) }) { $0.map { $0 <= value } ?? false }
}

/// Whether a property has a value that is more. Nil is not.
public func > <Root: Codable, Value: Comparable & Codable>(
  property: KeyPath<Root, Value?>, value: Value
) -> Condition<Root> {
  .ordered(property, value, ">", { .isGreater($0, orEqual: false) }) { $0.map { $0 > value } ?? false }
}

/// Whether a property has a value that is at least that. Nil is not.
public func >= <Root: Codable, Value: Comparable & Codable>(
  property: KeyPath<Root, Value?>, value: Value
) -> Condition<Root> {
  .ordered(property, value, ">=", { .isGreater($0, orEqual: true) }) { $0.map { $0 >= value } ?? false }
}

// MARK: - Ranges

/// Whether a property is in a range: `\.age == 18...65`.
public func == <Root: Codable, Value: Comparable & Codable>(
  property: KeyPath<Root, Value>, range: ClosedRange<Value>
) -> Condition<Root> {
  property >= range.lowerBound && property <= range.upperBound
}

/// Whether a property is in a range: `\.age == 18..<65`.
public func == <Root: Codable, Value: Comparable & Codable>(
  property: KeyPath<Root, Value>, range: Range<Value>
) -> Condition<Root> {
  property >= range.lowerBound && property < range.upperBound
}

/// Whether a property has a value, and that is in a range.
public func == <Root: Codable, Value: Comparable & Codable>(
  property: KeyPath<Root, Value?>, range: ClosedRange<Value>
) -> Condition<Root> {
  property >= range.lowerBound && property <= range.upperBound
}

/// Whether a property has a value, and that is in a range.
public func == <Root: Codable, Value: Comparable & Codable>(
  property: KeyPath<Root, Value?>, range: Range<Value>
) -> Condition<Root> {
  property >= range.lowerBound && property < range.upperBound
}

// MARK: - Matches

/// Whether a property is what a match looks for: `\.name == .hasPrefix("S")`.
public func == <Root: Codable, Value: Codable>(
  property: KeyPath<Root, Value>, match: ValueMatch<Value>
) -> Condition<Root> {
  Condition(
    .comparison(
      Condition.Comparison(
        text: "\(nameOf(property)) == \(match.text)", field: { StoredField.of(property, in: $0) },
        test: match.test,
        holds: { match.holds($0[keyPath: property]) })))
}

/// Whether a property is not what a match looks for.
public func != <Root: Codable, Value: Codable>(
  property: KeyPath<Root, Value>, match: ValueMatch<Value>
) -> Condition<Root> {
  !(property == match)
}

/// A property as conditions and plans write it: `\.address.zip`.
func nameOf<Root, Value>(_ property: KeyPath<Root, Value>) -> String {
  let text = "\(property)"
  // Swift puts the type's name before it.
  return text.firstIndex(of: ".").map { "\\" + text[$0...] } ?? text
}

/// A constant as conditions and plans write it.
func constantText(_ value: some Any) -> String {
  switch value {
  case let text as String: String(reflecting: text)
  case let optional as any OptionalObject: optional.object.map { constantText($0) } ?? "nil"
  default: "\(value)"
  }
}

extension Condition {
  fileprivate static func equal<Value: Equatable & Codable>(
    _ property: KeyPath<Root, Value>, _ value: Value, _ name: String
  ) -> Condition {
    Condition(
      .comparison(
        Comparison(
          text: "\(nameOf(property)) \(name) \(constantText(value))",
          field: { StoredField.of(property, in: $0) },
          test: { try FieldTest.equality(with: value) }, holds: { $0[keyPath: property] == value })))
  }

  fileprivate static func ordered<Property: Codable, Value: Comparable & Codable>(
    _ property: KeyPath<Root, Property>, _ value: Value, _ name: String,
    _ test: @escaping (FieldConstant) -> FieldTest, _ holds: @escaping (Property) -> Bool
  ) -> Condition {
    Condition(
      .comparison(
        Comparison(
          text: "\(nameOf(property)) \(name) \(constantText(value))",
          field: { StoredField.of(property, in: $0) },
          test: {
            guard case .ordered = FieldComparability(Value.self) else { return nil }
            return try GraphEncoder().fieldValue(of: value).map { test(FieldConstant($0)) }
          },
          holds: { holds($0[keyPath: property]) })))
  }

  fileprivate static func ordered<Value: Comparable & Codable>(
    _ property: KeyPath<Root, Value>, _ value: Value, _ name: String,
    _ test: @escaping (FieldConstant) -> FieldTest, _ holds: @escaping (Value, Value) -> Bool
  ) -> Condition {
    ordered(property, value, name, test) { holds($0, value) }
  }
}

extension FieldTest {
  /// Whether a field equals a value; nil where only the value's type can tell.
  static func equality<Value: Codable>(with value: Value) throws -> FieldTest? {
    if case .none = FieldComparability(Value.self) { return nil }
    return try GraphEncoder().fieldValue(of: value).map { .equals(FieldConstant($0)) }
  }
}
