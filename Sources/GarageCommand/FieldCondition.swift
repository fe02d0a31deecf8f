#if Command
  import Foundation
  import GarageStorage

  /// A condition on the stored fields of an object: `age >= 18 and name starts with "A"`.
  ///
  /// ```
  /// condition   all { or all }
  /// all         one { and one }
  /// one         not one | ( condition ) | field operator constant | field is [not] nil
  /// operator    = == != < <= > >= | starts with | ends with | contains
  /// field       keys with dots between them, such as address.city
  /// constant    a number, "text", true, false, nil
  /// ```
  /// Dates are compared with text in the form that `garage get` shows; so are UUIDs and the identifiers in references.
  indirect enum FieldCondition {
    case any([FieldCondition])
    case all([FieldCondition])
    case not(FieldCondition)
    case comparison([String], Operator, Constant)

    enum Operator: String, CaseIterable {
      case equal = "="
      case notEqual = "!="
      case less = "<"
      case lessOrEqual = "<="
      case greater = ">"
      case greaterOrEqual = ">="
      case startsWith = "starts with"
      case endsWith = "ends with"
      case contains = "contains"
    }

    enum Constant {
      case null
      case bool(Bool)
      /// A number written without point and exponent. Large ones have no exact double.
      case integer(Int128)
      case number(Double)
      case text(String)
    }

    /// Reads a condition.
    ///
    /// - Throws: ``CommandFailure``, which names the place where the text is no condition.
    init(_ text: String) throws {
      var parser = try ConditionParser(text)
      self = try parser.condition()
      try parser.expectEnd()
    }

    /// Whether the condition holds for the content of an object.
    func holds(for value: RecordValue) -> Bool {
      switch self {
      case .any(let parts): parts.contains { $0.holds(for: value) }
      case .all(let parts): parts.allSatisfy { $0.holds(for: value) }
      case .not(let part): !part.holds(for: value)
      case .comparison(let path, let comparison, let constant):
        Self.holds(Self.field(path[...], of: value), comparison, constant)
      }
    }

    /// The value at a path, without its version and status; nil if there is none.
    private static func field(_ path: ArraySlice<String>, of value: RecordValue) -> RecordValue? {
      if let key = path.first { return value.fields?[key].flatMap { field(path.dropFirst(), of: $0) } }
      switch value {
      case .versioned(_, let inner), .withSyncStatus(_, let inner): return field(path, of: inner)
      default: return value
      }
    }

    private static func holds(_ value: RecordValue?, _ comparison: Operator, _ constant: Constant) -> Bool {
      if case .array(let elements) = value, comparison == .contains {
        return elements.contains { holds($0, .equal, constant) }
      }
      switch comparison {
      case .notEqual: return !holds(value, .equal, constant)
      case .startsWith, .endsWith, .contains:
        guard case .text(let part) = constant, let text = value.flatMap(text) else { return false }
        if comparison == .startsWith { return text.hasPrefix(part) }
        return comparison == .endsWith ? text.hasSuffix(part) : text.contains(part)
      default: break
      }
      if case .null = constant { return comparison == .equal && (value == nil || value == .null) }
      guard let order = order(value, constant) else { return false }
      switch comparison {
      case .equal: return order == 0
      case .less: return order < 0
      case .lessOrEqual: return order <= 0
      case .greater: return order > 0
      default: return order >= 0
      }
    }

    /// Negative, zero or positive as the value is before, equal to or behind the constant; nil if the two cannot be compared.
    private static func order(_ value: RecordValue?, _ constant: Constant) -> Int? {
      guard let value else { return nil }
      switch constant {
      case .null: return nil
      case .bool(let bool): return value.boolValue.map { $0 == bool ? 0 : $0 ? 1 : -1 }
      case .integer(let number):
        switch value {
        case .integer(let value): return order(of: value, number)
        case .wideInteger(let value): return order(of: value, number)
        case .unsignedInteger(let value): return order(of: value, number)
        default: return order(value, .number(Double(number)))
        }
      case .number(let number):
        // Compared as people write it: a number of 4 bytes differs from the number of 8 bytes with the same text.
        if case .float(let value) = value { return order(value, Float(number)) }
        return value.doubleValue.flatMap { order($0, number) }
      case .text(let text):
        return self.text(value).map { $0 == text ? 0 : $0 < text ? -1 : 1 }
      }
    }

    private static func order(of one: some BinaryInteger, _ other: Int128) -> Int {
      one == other ? 0 : one < other ? -1 : 1
    }

    private static func order<N: BinaryFloatingPoint>(_ one: N, _ other: N) -> Int? {
      one == other ? 0 : one < other ? -1 : one > other ? 1 : nil
    }

    private static func text(_ value: RecordValue) -> String? {
      switch value {
      case .string(let text): text
      case .date(let date): JSONValue.text(of: date)
      case .uuid(let uuid): uuid.uuidString
      case .reference(let identity, _): "\(identity.identifier)"
      default: nil
      }
    }
  }

  /// Reads a condition, word by word.
  private struct ConditionParser {
    private enum Word: Equatable {
      case name(String)
      case sign(String)
      case integer(Int128)
      case number(Double)
      case text(String)
    }

    private var words: [Word] = []
    private var place = 0
    /// How deeply conditions are nested here.
    private var depth = 0
    /// A limit, because reading and evaluating each level takes stack memory.
    private static let maximumDepth = 200
    private let source: String

    init(_ source: String) throws {
      self.source = source
      var rest = Substring(source)
      while let first = rest.first {
        if first.isWhitespace {
          rest.removeFirst()
        } else if first == "\"" || first == "'" {
          rest.removeFirst()
          var text = ""
          while let next = rest.first, next != first {
            rest.removeFirst()
            text.append(next == "\\" ? rest.popFirst() ?? "\\" : next)
          }
          guard rest.popFirst() != nil else { throw failure("the text \(text.debugDescription) has no end") }
          words.append(.text(text))
        } else if let sign = ["==", "!=", "<=", ">=", "=", "<", ">", "(", ")"].first(where: rest.hasPrefix) {
          rest.removeFirst(sign.count)
          words.append(.sign(sign == "==" ? "=" : sign))
        } else if first.isNumber || first == "-" || first == "+" {
          let digits = rest.prefix { $0.isNumber || "+-.eE".contains($0) }
          rest.removeFirst(digits.count)
          if let integer = Int128(digits) {
            words.append(.integer(integer))
          } else if let number = Double(digits) {
            words.append(.number(number))
          } else {
            throw failure("'\(digits)' is no number")
          }
        } else {
          let name = rest.prefix { !$0.isWhitespace && !"()=<>!\"'".contains($0) }
          if name.isEmpty { throw failure("'\(first)' has no meaning") }
          rest.removeFirst(name.count)
          words.append(.name(String(name)))
        }
      }
    }

    private func failure(_ reason: String) -> CommandFailure {
      CommandFailure(
        message: "The condition cannot be read: \(reason). One is: age >= 18 and name starts with \"A\".",
        status: CommandFailure.usageStatus)
    }

    private mutating func take(_ word: String) -> Bool {
      guard place < words.count, words[place] == .name(word) || words[place] == .sign(word) else {
        return false
      }
      place += 1
      return true
    }

    func expectEnd() throws {
      if place < words.count { throw failure("something follows its end") }
    }

    mutating func condition() throws -> FieldCondition {
      var parts = [try all()]
      while take("or") || take("||") { parts.append(try all()) }
      return parts.count == 1 ? parts[0] : .any(parts)
    }

    private mutating func all() throws -> FieldCondition {
      var parts = [try one()]
      while take("and") || take("&&") { parts.append(try one()) }
      return parts.count == 1 ? parts[0] : .all(parts)
    }

    private mutating func one() throws -> FieldCondition {
      depth += 1
      defer { depth -= 1 }
      if depth > Self.maximumDepth {
        throw failure("more than \(Self.maximumDepth) brackets or 'not' stand in each other")
      }
      if take("not") { return .not(try one()) }
      if take("(") {
        let inner = try condition()
        guard take(")") else { throw failure("a bracket is not closed") }
        return inner
      }
      guard place < words.count, case .name(let field) = words[place] else {
        throw failure("a field is missing")
      }
      place += 1
      let path = field.split(separator: ".").map(String.init)
      if take("is") {
        let isNot = take("not")
        guard take("nil") || take("null") else { throw failure("behind 'is' stands nil, or not nil") }
        return .comparison(path, isNot ? .notEqual : .equal, .null)
      }
      guard let comparison = takeOperator() else { throw failure("behind \(field) an operator is missing") }
      return .comparison(path, comparison, try constant())
    }

    private mutating func takeOperator() -> FieldCondition.Operator? {
      if take("starts") || take("ends") {
        let isStart = words[place - 1] == .name("starts")
        return take("with") ? (isStart ? .startsWith : .endsWith) : nil
      }
      return FieldCondition.Operator.allCases.first { take($0.rawValue) }
    }

    private mutating func constant() throws -> FieldCondition.Constant {
      guard place < words.count else { throw failure("a constant is missing at its end") }
      defer { place += 1 }
      switch words[place] {
      case .text(let text): return .text(text)
      case .integer(let number): return .integer(number)
      case .number(let number): return .number(number)
      case .name("true"): return .bool(true)
      case .name("false"): return .bool(false)
      case .name("nil"), .name("null"): return .null
      case .name(let name), .sign(let name): throw failure("'\(name)' is no constant: text stands in quotes")
      }
    }
  }
#endif
