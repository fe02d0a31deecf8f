#if Command
  import Foundation
  import GarageStorage

  /// A stored value without values inside it, as text that says all of it.
  struct ValueLeaf: Equatable, Sendable {
    /// Its kind: another text of the same kind stands for another value of that kind.
    var kind: String
    var text: String

    /// Nil for null, data, references, and values with others inside.
    init?(_ value: RecordValue) {
      switch value {
      case .bool(let value): (kind, text) = ("bool", "\(value)")
      case .integer(let value): (kind, text) = ("integer", "\(value)")
      case .wideInteger(let value): (kind, text) = ("integer", "\(value)")
      case .unsignedInteger(let value): (kind, text) = ("integer", "\(value)")
      case .float(let value): (kind, text) = ("float", "\(value)")
      case .double(let value): (kind, text) = ("double", "\(value)")
      case .date(let value): (kind, text) = ("date", JSONValue.text(of: value))
      case .uuid(let value): (kind, text) = ("uuid", value.uuidString)
      case .decimal(let value): (kind, text) = ("decimal", "\(value)")
      case .string(let value): (kind, text) = ("string", value)
      case .null, .data, .array, .map, .reference, .versioned, .withSyncStatus: return nil
      }
    }

    init(kind: String, text: String) { (self.kind, self.text) = (kind, text) }

    /// The value that the text stands for; nil if it stands for none.
    var value: RecordValue? {
      switch kind {
      case "bool": Bool(text).map { .bool($0) }
      case "integer":
        Int128(text).map { RecordValue(integer: $0) } ?? UInt128(text).map { RecordValue(integer: $0) }
      case "float": Float(text).map { .float($0) }
      case "double": Double(text).map { .double($0) }
      case "decimal": Self.decimal(text).map { .decimal($0) }
      case "date": Self.date(text).map { .date($0) }
      case "uuid": UUID(uuidString: text).map { .uuid($0) }
      case "string": .string(text)
      default: nil
      }
    }

    /// Foundation would accept a text that only begins with a number.
    private static func decimal(_ text: String) -> Decimal? {
      guard text.allSatisfy({ "0123456789+-.eE".contains($0) }), Double(text) != nil else { return nil }
      return Decimal(string: text)
    }

    private static func date(_ text: String) -> Date? {
      (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
        ?? (try? Date(text, strategy: Date.ISO8601FormatStyle()))
    }
  }
#endif
