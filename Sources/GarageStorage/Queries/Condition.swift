internal import GarageCoding

/// What is asked of an object: a comparison of one property, or several put together with `&&`, `||` and `!`.
///
/// ```swift
/// let isAdult: Condition<Person> = \.age >= 18
/// let query = garage.query(Person.self).where(isAdult && \.name == .hasPrefix("S"))
/// ```
/// It is a value, to be kept, combined, and used in any garage. What it means for an object is what the same Swift
/// expression means; a property without value (nil) is equal to nil alone, and neither less nor more than anything.
public struct Condition<Root: Codable> {
  let node: ConditionNode

  init(_ comparison: ObjectComparison<Root>) { node = .comparison(comparison) }

  private init(_ node: ConditionNode) { self.node = node }
}

/// What a condition is made of. Not generic: generic code asks the runtime for each type that it uses, which takes a part of the
/// time in which an object is found.
indirect enum ConditionNode {
  case comparison(Comparison)
  case both(ConditionNode, ConditionNode)
  case either(ConditionNode, ConditionNode)
  case not(ConditionNode)
}

/// What is asked of one property, or of the object as a whole. Only subclasses are made: one object for each comparison, and
/// not one for each closure that a comparison would take.
class Comparison {
  /// As it is written, for ``QueryPlan``. Made when asked for: to print a key path takes longer than to find an object.
  func text() -> String { "" }
  /// Finds out where the property stands in records, of the type itself or of a subclass.
  func field(_ type: any Decodable.Type) -> StoredField? { nil }
  /// The question to its bytes; nil where only objects can be asked.
  func test() throws -> FieldTest? { nil }
  /// The questions to the bytes of several fields, and whether they are to be answered with yes at once or one of them, where it
  /// takes more than one.
  func parts(_ type: any Decodable.Type) throws -> ComparisonParts? { nil }
  /// The property and its value, where it has to be equal to a value of one of the commonest types.
  var equality: (property: AnyKeyPath, value: FieldValue)? { nil }
}

/// What a comparison asks of fields.
indirect enum ComparisonParts {
  case field(StoredField, FieldTest)
  case all([ComparisonParts])
  case any([ComparisonParts])
}

/// A comparison that objects of a type can be asked, too.
class ObjectComparison<Root: Codable>: Comparison {
  func holds(_ object: Root) throws -> Bool { false }
}

extension Condition {
  /// Whether both hold.
  public static func && (left: Condition, right: Condition) -> Condition {
    Condition(.both(left.node, right.node))
  }

  /// Whether one of them holds, or both.
  public static func || (left: Condition, right: Condition) -> Condition {
    Condition(.either(left.node, right.node))
  }

  /// Whether the condition does not hold.
  public static prefix func ! (condition: Condition) -> Condition { Condition(.not(condition.node)) }
}

extension Condition: CustomStringConvertible {
  /// The condition as it was written.
  public var description: String { node.description }
}

extension ConditionNode: CustomStringConvertible {
  var description: String {
    switch self {
    case .comparison(let comparison): comparison.text()
    case .both(let left, let right): "\(left.inner) && \(right.inner)"
    case .either(let left, let right): "\(left.inner) || \(right.inner)"
    case .not(let node): "!(\(node))"
    }
  }

  /// In parentheses, where it is itself put together.
  private var inner: String {
    switch self {
    case .both, .either: "(\(self))"
    default: description
    }
  }
}
