internal import Foundation
internal import GarageCoding

/// What a property may match beside being equal to a value: `\.name == .hasPrefix("S")`, `\.state == .oneOf([.new, .open])`.
public struct ValueMatch<Value: Codable> {
  /// As it is written, for ``QueryPlan``. Made when asked for, because there may be many values.
  let text: () -> String
  let test: () throws -> FieldTest?
  let holds: (Value) -> Bool
  /// For ``oneOf(_:)``: the values one of which it has to be.
  var values: [Value]?
  /// For an element: the tests one of which has to hold, one for each form in which records may have the element. Nil where only
  /// objects can tell.
  var elementTests: () throws -> [FieldTest]? = { nil }
}

extension ValueMatch where Value: Equatable {
  /// Is one of these values. Where there are none, nothing matches.
  public static func oneOf(_ values: some Sequence<Value>) -> ValueMatch {
    let values = Array(values)
    return ValueMatch(
      text: { ".oneOf([\(values.map { constantText($0) }.joined(separator: ", "))])" },
      test: {
        if case .none = FieldComparability(Value.self) { return nil }
        var constants: [FieldConstant] = []
        for value in values {
          guard let constant = try GraphEncoder.fieldValue(of: value) else { return nil }
          constants += try FieldValue.names(of: constant, as: Value.self).map { FieldConstant($0) }
        }
        return .isOneOf(constants)
      },
      holds: { values.contains($0) }, values: values)
  }
}

/// Text, or an optional of it.
public protocol TextValue: Codable {
  /// The text; nil where there is none.
  var text: String? { get }
}

extension String: TextValue {
  /// Itself.
  public var text: String? { self }
}

extension Optional: TextValue where Wrapped == String {
  /// Itself.
  public var text: String? { self }
}

extension ValueMatch where Value: TextValue {
  /// Begins with this text, as `String.hasPrefix` has it. Nil does not.
  public static func hasPrefix(_ prefix: String) -> ValueMatch {
    ValueMatch(
      text: { ".hasPrefix(\(constantText(prefix)))" }, test: { .hasPrefix(prefix) },
      holds: { $0.text?.hasPrefix(prefix) ?? false })
  }

  /// Ends with this text. Nil does not.
  public static func hasSuffix(_ suffix: String) -> ValueMatch {
    text("hasSuffix", suffix, isAtEnd: true) { $0.hasSuffix(suffix) }
  }

  /// Has this text in it, as Foundation's `contains` has it: no text has the empty one. Nil does not.
  public static func contains(_ part: String) -> ValueMatch {
    text("contains", part, isAtEnd: false) { $0.contains(part) }
  }

  /// Is this text, where no difference is made between upper and lower case (`lowercased()`). Nil is not.
  public static func caseInsensitive(_ other: String) -> ValueMatch {
    let lower = other.lowercased()
    return ValueMatch(
      text: { ".caseInsensitive(\(constantText(other)))" }, test: { .equalsIgnoringCase(lower) },
      holds: { $0.text.map { $0.lowercased() == lower } ?? false })
  }

  private static func text(
    _ name: String, _ constant: String, isAtEnd: Bool, _ holds: @escaping @Sendable (String) -> Bool
  ) -> ValueMatch {
    let part = PlainPart(constant, isAtEnd: isAtEnd)
    return ValueMatch(
      text: { ".\(name)(\(constantText(constant)))" }, test: { .text(holds, part) },
      holds: { $0.text.map(holds) ?? false })
  }
}

extension ValueMatch where Value: Sequence, Value.Element: Equatable & Codable {
  /// Has an element that is equal to this one.
  public static func contains(_ element: Value.Element) -> ValueMatch {
    containsElement(element) { $0.contains(element) }
  }
}

extension ValueMatch {
  /// Has a value, and that has an element that is equal to this one.
  public static func contains<Elements: Sequence>(_ element: Elements.Element) -> ValueMatch
  where Value == Elements?, Elements.Element: Equatable & Codable {
    containsElement(element) { $0?.contains(element) ?? false }
  }

  private static func containsElement<Element: Equatable & Codable>(
    _ element: Element, holds: @escaping (Value) -> Bool
  ) -> ValueMatch {
    let tests: () throws -> [FieldTest]? = {
      if case .none = FieldComparability(Element.self) { return nil }
      guard let found = try GraphEncoder.fieldValue(of: element) else { return nil }
      // Records have one nil, and an optional of an optional has two.
      if case .null = found, isOptionalOfOptional(Element.self) { return nil }
      return try FieldValue.names(of: found, as: Element.self).map { .containsElement(FieldConstant($0)) }
    }
    return ValueMatch(
      text: { ".contains(\(constantText(element)))" },
      test: {
        guard let tests = try tests(), tests.count == 1 else { return nil }
        return tests[0]
      },
      holds: holds, elementTests: tests)
  }
}
