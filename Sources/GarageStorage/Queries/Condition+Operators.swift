#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif
internal import GarageCoding
internal import Synchronization

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
  Condition(MatchComparison(property, match))
}

/// Whether a property is not what a match looks for.
public func != <Root: Codable, Value: Codable>(
  property: KeyPath<Root, Value>, match: ValueMatch<Value>
) -> Condition<Root> {
  !(property == match)
}

/// A property as conditions and plans write it: `\.address.zip`.
func nameOf<Root, Value>(_ property: KeyPath<Root, Value>) -> String {
  // For a computed property Swift prints the address of its getter, `<computed 0x000055d5 (Int)>`. It tells nobody anything,
  // and is another one in the next process.
  let parts = "\(property)".components(separatedBy: "<computed 0x")
  let text = parts.dropFirst().reduce(parts[0]) { $0 + "<computed" + $1.drop { $0.isHexDigit } }
  // Swift puts the type's name in front of the path, and a question mark behind an optional chain: nobody writes these.
  let path = text.firstIndex(of: ".").map { "\\" + text[$0...] } ?? text
  return path.hasSuffix("?") ? String(path.dropLast()) : path
}

extension Condition {
  fileprivate static func equal<Value: Equatable & Codable>(
    _ property: KeyPath<Root, Value>, _ value: Value, _ name: StaticString
  ) -> Condition {
    Condition(EqualComparison(property, value, name))
  }

  fileprivate static func ordered<Property: Codable, Value: Comparable & Codable>(
    _ property: KeyPath<Root, Property>, _ value: Value, _ name: StaticString,
    _ test: @escaping (FieldConstant) -> FieldTest, _ holds: @escaping (Property) -> Bool
  ) -> Condition {
    Condition(OrderedComparison(property, value, name, test, holds))
  }

  fileprivate static func ordered<Value: Comparable & Codable>(
    _ property: KeyPath<Root, Value>, _ value: Value, _ name: StaticString,
    _ test: @escaping (FieldConstant) -> FieldTest, _ holds: @escaping (Value, Value) -> Bool
  ) -> Condition {
    ordered(property, value, name, test) { holds($0, value) }
  }
}

/// Whether a property equals a value.
private final class EqualComparison<Root: Codable, Value: Equatable & Codable>: ObjectComparison<Root> {
  private let property: KeyPath<Root, Value>
  private let value: Value
  private let name: StaticString

  init(_ property: KeyPath<Root, Value>, _ value: Value, _ name: StaticString) {
    (self.property, self.value, self.name) = (property, value, name)
  }

  override func text() -> String { "\(nameOf(property)) \(name) \(constantText(value))" }
  override func field(_ type: any Decodable.Type) -> StoredField? {
    asksForNil
      ? StoredField.ofOptional(property, in: type) : StoredField.of(property, in: type)?.comparable
  }
  override func test() throws -> FieldTest? { try asksForNil ? .isNull : FieldTest.equality(with: value) }
  override func parts(_ type: any Decodable.Type) throws -> ComparisonParts? {
    ComparisonParts(property, value, type)
  }
  /// Whether the property is to be nil, and its values are none that are compared by their bytes.
  private var asksForNil: Bool {
    guard case .none = FieldComparability(Value.self), let optional = value as? any OptionalObject else {
      return false
    }
    return optional.object == nil
  }
  override func holds(_ object: Root) -> Bool { object[keyPath: property] == value }
  override var equality: (property: AnyKeyPath, value: FieldValue)? {
    FieldValue.ofCommonType(value).map { (property, $0) }
  }
}

/// Whether a property comes before or behind a value.
private final class OrderedComparison<Root: Codable, Property: Codable, Value: Comparable & Codable>:
  ObjectComparison<Root>
{
  private let property: KeyPath<Root, Property>
  private let value: Value
  private let name: StaticString
  private let makeTest: (FieldConstant) -> FieldTest
  private let isOrdered: (Property) -> Bool

  init(
    _ property: KeyPath<Root, Property>, _ value: Value, _ name: StaticString,
    _ makeTest: @escaping (FieldConstant) -> FieldTest, _ isOrdered: @escaping (Property) -> Bool
  ) {
    (self.property, self.value, self.name) = (property, value, name)
    (self.makeTest, self.isOrdered) = (makeTest, isOrdered)
  }

  override func text() -> String { "\(nameOf(property)) \(name) \(constantText(value))" }
  override func field(_ type: any Decodable.Type) -> StoredField? {
    StoredField.of(property, in: type)?.comparable
  }
  override func test() throws -> FieldTest? {
    guard case .ordered = FieldComparability(Value.self) else {
      guard case .equatable = FieldComparability(Value.self), let cases = orderedCases else { return nil }
      return .isOneOf(
        try cases.compactMap { try GraphEncoder.fieldValue(of: $0).map { FieldConstant($0) } })
    }
    return try GraphEncoder.fieldValue(of: value).map { makeTest(FieldConstant($0)) }
  }
  override func parts(_ type: any Decodable.Type) throws -> ComparisonParts? {
    guard StoredField.isKeyedCase(Value.self), let cases = orderedCases else { return nil }
    let parts = cases.compactMap { ComparisonParts(property, $0, type) }
    return parts.count == cases.count ? .any(parts) : nil
  }
  /// The cases of an enum for which the comparison holds, however the enum orders them; nil for any other type.
  private var orderedCases: [Property]? {
    EnumCases.all(of: unwrapped(Property.self))?.compactMap { $0 as? Property }.filter(isOrdered)
  }
  override func holds(_ object: Root) -> Bool { isOrdered(object[keyPath: property]) }
}

/// Whether a property is what a match looks for.
private final class MatchComparison<Root: Codable, Value: Codable>: ObjectComparison<Root> {
  private let property: KeyPath<Root, Value>
  private let match: ValueMatch<Value>
  private let writtenText = Mutex<String?>(nil)

  init(_ property: KeyPath<Root, Value>, _ match: ValueMatch<Value>) {
    (self.property, self.match) = (property, match)
  }

  /// Written once: each field of each of many values asks for it.
  override func text() -> String {
    writtenText.withLock { written in
      let text = written ?? "\(nameOf(property)) == \(match.text())"
      written = text
      return text
    }
  }
  override func field(_ type: any Decodable.Type) -> StoredField? {
    StoredField.of(property, in: type)?.comparable
  }
  override func test() throws -> FieldTest? { try match.test() }
  override func parts(_ type: any Decodable.Type) throws -> ComparisonParts? {
    if let tests = try match.elementTests(), tests.count > 1, let field = field(type) {
      return .any(tests.map { .field(field, $0) })
    }
    guard let values = match.values else { return nil }
    var parts: [ComparisonParts] = []
    for value in values {
      guard let part = ComparisonParts(property, value, type) else { return nil }
      parts.append(part)
    }
    return .any(parts)
  }
  override func holds(_ object: Root) -> Bool { match.holds(object[keyPath: property]) }
}

extension FieldTest {
  /// Whether a field equals a value; nil where only the value's type can tell.
  static func equality<Value: Codable>(with value: Value) throws -> FieldTest? {
    if case .none = FieldComparability(Value.self) { return nil }
    guard let found = try GraphEncoder.fieldValue(of: value) else { return nil }
    return try equality(with: found, as: Value.self)
  }

  /// Whether a field equals a scalar that stands for a value of a type, or for a part of it.
  fileprivate static func equality(with found: FieldValue, as type: Any.Type) throws -> FieldTest {
    let names = try FieldValue.names(of: found, as: type)
    if names.count == 1 { return .equals(FieldConstant(found)) }
    return .isOneOf(OneOfConstants(names.map { FieldConstant($0) }))
  }
}

extension FieldValue {
  /// What records may hold where a property has this value: the value itself; if it is a reference, also the same reference
  /// under each other tag of its target's type.
  ///
  /// - Parameter type: that of the value, or of a value that it is a part of.
  static func names(of value: FieldValue, as type: Any.Type) throws -> [FieldValue] {
    guard case .reference(let identity) = value else { return [value] }
    let tags = try tags(besides: identity.tag, ofTargetOf: unwrapped(type))
    return [value] + tags.map { .reference(RecordIdentity(tag: $0, identifier: identity.identifier)) }
  }

  private static func tags(besides tag: UInt64, ofTargetOf type: Any.Type) throws -> [UInt64] {
    let facts: [RecordTypeFacts]
    if let reference = type as? any LazyReference.Type {
      guard let target = reference.target as? any Codable.Type else { return [] }
      facts = [try RecordTypeFacts.of(target)]
    } else {
      // The reference is a part of the value, whose type is not known here. Its target's tag is.
      facts = (try? RecordTypeFacts.all(withTag: tag)) ?? []
    }
    var tags: [UInt64] = []
    for facts in facts where facts.tags.contains(tag) {
      for other in facts.tags where other != tag && !tags.contains(other) { tags.append(other) }
    }
    return tags
  }
}

extension ComparisonParts {
  /// What decides whether a property equals a value that is no scalar: the tests of all its scalars; for a case of an enum that
  /// is written as a key, whether that key is there. Nil for a value that neither decides.
  fileprivate init?<Root: Codable, Value: Codable>(
    _ property: KeyPath<Root, Value>, _ value: Value, _ type: any Decodable.Type
  ) {
    if StoredField.isKeyedCase(Value.self) {
      guard let field = StoredField.ofCase(property, value, in: type) else { return nil }
      self = .field(field, .isThere)
    } else {
      guard let fields = StoredField.ofScalars(property, value, in: type) else { return nil }
      var parts: [ComparisonParts] = []
      for (field, scalar) in fields {
        guard let test = try? FieldTest.equality(with: scalar, as: Value.self) else { return nil }
        parts.append(.field(field, test))
      }
      self = .all(parts)
    }
  }
}
