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
  /// How deep it nests. Asking it recurses as deep.
  let depth: Int

  init(_ comparison: ObjectComparison<Root>) { (node, depth) = (.comparison(comparison), 1) }

  private init(_ node: ConditionNode, depth: Int) {
    // One that is refused in any case (`maximumDepth`) is not kept: to release it would recurse as deep as it nests.
    self.node = depth > Condition.maximumDepth ? .comparison(LeftOutComparison()) : node
    self.depth = depth
  }
}

/// What a condition is made of. Not generic: generic code asks the runtime for each type that it uses, and that takes a
/// noticeable part of the time in which an object is found.
indirect enum ConditionNode {
  case comparison(Comparison)
  case both(ConditionNode, ConditionNode)
  case either(ConditionNode, ConditionNode)
  case not(ConditionNode)
}

/// What is asked of one property, or of the object as a whole. An abstract class, so that a comparison takes one allocation; as
/// a struct of closures it would take one for each closure.
class Comparison {
  /// As it is written, for ``QueryPlan``. Made when asked for: to print a key path takes longer than to find an object.
  func text() -> String { "" }
  /// Finds out where the property stands in records, of the type itself or of a subclass.
  func field(_ type: any Decodable.Type) -> StoredField? { nil }
  /// The test of the field's bytes; nil where only the object can be asked.
  func test() throws -> FieldTest? { nil }
  /// Where the comparison is decided by the bytes of several fields: their tests, and whether all of them have to hold or one
  /// of them. Nil where it is not.
  func parts(_ type: any Decodable.Type) throws -> ComparisonParts? { nil }
  /// The property and the constant, where the comparison asks whether they are equal and the constant is of one of the
  /// commonest types; else nil.
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

/// Stands where a condition nested so deep that it is refused.
private final class LeftOutComparison: Comparison {
  override func text() -> String { "…" }
}

extension Condition {
  /// Whether both hold.
  public static func && (left: Condition, right: Condition) -> Condition {
    Condition(.both(left.node, right.node), depth: max(left.depth, right.depth) + 1).balanced
  }

  /// Whether one of them holds, or both.
  public static func || (left: Condition, right: Condition) -> Condition {
    Condition(.either(left.node, right.node), depth: max(left.depth, right.depth) + 1).balanced
  }

  /// Whether the condition does not hold.
  public static prefix func ! (condition: Condition) -> Condition {
    // The opposite of the opposite is the condition itself.
    if case .not(let inner) = condition.node { return Condition(inner, depth: condition.depth - 1) }
    return Condition(.not(condition.node), depth: condition.depth + 1)
  }

  /// The same with less nesting, where it nests deep: in `a || b || c` each term is put together with all before it.
  private var balanced: Condition {
    guard depth > Condition.usualDepth, depth <= Condition.maximumDepth else { return self }
    let node = node.balanced
    return Condition(node, depth: node.depth)
  }

  private static var usualDepth: Int { 64 }
  /// Conditions that nest deeper are refused, because asking them recurses and threads may have a stack of half a megabyte.
  static var maximumDepth: Int { 256 }
}

extension ConditionNode {
  fileprivate var depth: Int {
    switch self {
    case .comparison: 1
    case .both(let left, let right), .either(let left, let right): Swift.max(left.depth, right.depth) + 1
    case .not(let inner): inner.depth + 1
    }
  }

  /// The same, with the terms of a row of one operator put together by halves.
  fileprivate var balanced: ConditionNode {
    let isBoth: Bool
    switch self {
    case .comparison, .not: return self
    case .both: isBoth = true
    case .either: isBoth = false
    }
    // No recursion: this is where it may be deep.
    var (terms, rest) = ([] as [ConditionNode], [self])
    while let node = rest.popLast() {
      switch node {
      case .both(let left, let right) where isBoth: rest += [right, left]
      case .either(let left, let right) where !isBoth: rest += [right, left]
      default: terms.append(node)
      }
    }
    func joined(_ terms: ArraySlice<ConditionNode>) -> ConditionNode {
      if terms.count == 1 { return terms[terms.startIndex] }
      let middle = terms.startIndex + terms.count / 2
      let (left, right) = (joined(terms[..<middle]), joined(terms[middle...]))
      return isBoth ? .both(left, right) : .either(left, right)
    }
    return joined(terms[...])
  }
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
