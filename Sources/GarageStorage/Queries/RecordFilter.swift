internal import GarageCoding

/// What a condition asks. Not generic: generic code asks the runtime for each type that it uses, and planning would use many.
indirect enum FilterNode {
  case field(FilterField)
  /// A comparison that only the object can answer, as it was written.
  case object(text: () -> String)
  case both(FilterNode, FilterNode)
  case either(FilterNode, FilterNode)
  case not(FilterNode)
}

/// A comparison that is made with bytes.
struct FilterField {
  let path: FieldPath
  let test: FieldTest
  let absentIsNull: Bool
  /// As it was written.
  let text: () -> String
  /// Whether the field stands in the same place in the records of all subclasses, and means the same where it is missing.
  let isSameInSubclasses: Bool
  /// Whether this is one of several tests that stand for one comparison as it was written.
  var isPart = false
  /// Whether it is what objects are identified by.
  var isIdentifier = false
}

/// A condition made ready to be asked of many records: from their bytes as far as these tell, else of the objects.
final class RecordFilter<Root: Codable> {
  let node: FilterNode
  private let condition: ConditionNode

  /// - Parameter subclasses: the classes whose objects may be met.
  /// - Throws: what encoding the constants throws.
  init(_ condition: ConditionNode, subclasses: [any Decodable.Type]) throws {
    self.condition = condition
    node = try RecordFilter.node(condition, subclasses)
  }

  private static func node(
    _ condition: ConditionNode, _ subclasses: [any Decodable.Type]
  ) throws -> FilterNode {
    switch condition {
    case .comparison(let comparison):
      guard let test = try comparison.test(), let field = comparison.field(Root.self) else {
        guard let parts = try comparison.parts(Root.self), subclasses.isEmpty else {
          return .object(text: comparison.text)
        }
        return node(parts, of: comparison, isAlone: true)
      }
      let isSame = subclasses.allSatisfy { field.isSame(as: comparison.field($0)) }
      return .field(
        FilterField(
          path: field.path, test: test, absentIsNull: field.absentIsNull,
          text: comparison.text, isSameInSubclasses: isSame, isIdentifier: field.isIdentifier))
    case .both(let left, let right): return .both(try node(left, subclasses), try node(right, subclasses))
    case .either(let left, let right): return .either(try node(left, subclasses), try node(right, subclasses))
    case .not(let inner): return .not(try node(inner, subclasses))
    }
  }

  /// - Parameter isAlone: whether these parts are all that stands for the comparison.
  private static func node(
    _ parts: ComparisonParts, of comparison: Comparison, isAlone: Bool
  ) -> FilterNode {
    switch parts {
    case .field(let field, let test):
      return .field(
        FilterField(
          path: field.path, test: test, absentIsNull: field.absentIsNull, text: comparison.text,
          isSameInSubclasses: true, isPart: !isAlone))
    case .all(let parts): return join(parts, of: comparison) { .both($0, $1) }
    case .any(let parts): return join(parts, of: comparison) { .either($0, $1) }
    }
  }

  private static func join(
    _ parts: [ComparisonParts], of comparison: Comparison, _ join: (FilterNode, FilterNode) -> FilterNode
  ) -> FilterNode {
    var nodes = parts.map { node($0, of: comparison, isAlone: parts.count == 1) }
    if nodes.isEmpty { return .object(text: comparison.text) }
    // By halves: there may be thousands, and whoever goes through them descends into each join.
    while nodes.count > 1 {
      nodes = stride(from: 0, to: nodes.count, by: 2).map { place in
        place + 1 < nodes.count ? join(nodes[place], nodes[place + 1]) : nodes[place]
      }
    }
    return nodes[0]
  }

  /// The comparisons, as they were written, that are made with bytes, and those that take objects.
  var texts: (ofFields: [String], ofObjects: [String]) {
    func texts(_ node: FilterNode) -> (ofFields: [String], ofObjects: [String]) {
      switch node {
      case .field(let field): return ([field.text()], [])
      case .object(let text): return ([], [text()])
      case .both(let left, let right), .either(let left, let right):
        let (left, right) = (texts(left), texts(right))
        return (left.ofFields + right.ofFields, left.ofObjects + right.ofObjects)
      case .not(let inner): return texts(inner)
      }
    }
    let (ofFields, ofObjects) = texts(node)
    var once: [String] = []
    for text in ofFields where !once.contains(text) { once.append(text) }
    return (once, ofObjects)
  }

  /// Whether a part of it takes objects.
  var asksObjects: Bool { RecordFilter.asksObjects(node) }

  private static func asksObjects(_ node: FilterNode) -> Bool {
    switch node {
    case .field: false
    case .object: true
    case .both(let left, let right), .either(let left, let right): asksObjects(left) || asksObjects(right)
    case .not(let inner): asksObjects(inner)
    }
  }

  /// The condition, to be asked of the bytes of records.
  func question() -> FieldQuestion { RecordFilter.question(node) }

  /// The same of the records of a subclass.
  func question(ofSubclass type: any Decodable.Type) -> FieldQuestion {
    RecordFilter.question(condition, ofSubclass: type)
  }

  private static func question(
    _ condition: ConditionNode, ofSubclass type: any Decodable.Type
  ) -> FieldQuestion {
    switch condition {
    case .comparison(let comparison):
      // The constants were encoded when the filter was made, so they can be encoded again.
      guard let test = try? comparison.test(), let field = comparison.field(type) else { return .ofObject() }
      return .of(FieldLookup(field.path), test, absentIsNull: field.absentIsNull)
    case .both(let left, let right):
      return .both(question(left, ofSubclass: type), question(right, ofSubclass: type))
    case .either(let left, let right):
      return .either(question(left, ofSubclass: type), question(right, ofSubclass: type))
    case .not(let inner): return .not(question(inner, ofSubclass: type))
    }
  }

  private static func question(_ node: FilterNode) -> FieldQuestion {
    switch node {
    case .field(let field): .of(FieldLookup(field.path), field.test, absentIsNull: field.absentIsNull)
    case .object: .ofObject()
    case .both(let left, let right): .both(question(left), question(right))
    case .either(let left, let right): .either(question(left), question(right))
    case .not(let inner): .not(question(inner))
    }
  }

  /// Whether an object satisfies the condition.
  func holds(_ object: Root) throws -> Bool { try RecordFilter.holds(condition, object) }

  private static func holds(_ node: ConditionNode, _ object: Root) throws -> Bool {
    switch node {
    case .comparison(let comparison): try comparison.ofObjects(Root.self).holds(object)
    case .both(let left, let right): try holds(left, object) && holds(right, object)
    case .either(let left, let right): try holds(left, object) || holds(right, object)
    case .not(let inner): try !holds(inner, object)
    }
  }
}
