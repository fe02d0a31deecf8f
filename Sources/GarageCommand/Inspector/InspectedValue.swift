#if Command && Inspector
  import Foundation
  import GarageStorage

  /// A stored value as the page gets it: a tree whose leaves are text, so that no digit and no order is lost on the way.
  struct InspectedValue: Encodable, Sendable {
    struct Field: Encodable, Sendable {
      var key: String
      var value: InspectedValue
    }

    /// How many elements or fields of one container the page gets, and how many characters or bytes of one leaf.
    static let maximumCount = 500
    static let maximumTextCount = 100_000
    static let maximumDataCount = 256

    var kind: String
    /// The text of a leaf; for data hexadecimal digits.
    var text: String?
    /// How many characters, bytes, elements or fields there are, if not all of them are here. For data it is always set.
    var count: Int?
    var elements: [InspectedValue]?
    var fields: [Field]?
    /// The target of a reference.
    var target: InspectedIdentity?
    /// The value behind a version or a sync status.
    var inner: [InspectedValue]?

    init(_ value: RecordValue, names: TypeNames) {
      switch value {
      case .null: self.init(kind: "nil", text: "nil")
      case .bool, .integer, .wideInteger, .unsignedInteger, .float, .double, .date, .uuid, .decimal:
        let leaf = ValueLeaf(value)
        self.init(kind: leaf?.kind ?? "", text: leaf?.text)
      case .string(let value):
        let start = String(value.prefix(Self.maximumTextCount))
        self.init(kind: "string", text: start)
        if start.utf8.count < value.utf8.count { count = value.count }
      case .data(let value):
        let start = value.prefix(Self.maximumDataCount).map { String(format: "%02x", $0) }.joined()
        self.init(kind: "data", text: start)
        count = value.count
      case .array(let values):
        self.init(kind: "array", text: nil)
        elements = values.prefix(Self.maximumCount).map { InspectedValue($0, names: names) }
        count = values.count > Self.maximumCount ? values.count : nil
      case .map(let values):
        self.init(kind: "map", text: nil)
        fields = values.prefix(Self.maximumCount).map {
          Field(key: $0.key, value: InspectedValue($0.value, names: names))
        }
        count = values.count > Self.maximumCount ? values.count : nil
      case .reference(let identity, let kind):
        self.init(kind: "reference", text: "\(kind)")
        target = InspectedIdentity(identity, names: names)
      case .versioned(let version, let value):
        self.init(kind: "version", text: "\(version)")
        inner = [InspectedValue(value, names: names)]
      case .withSyncStatus(let status, let value):
        self.init(kind: "syncStatus", text: "\(status)")
        inner = [InspectedValue(value, names: names)]
      }
    }

    private init(kind: String, text: String?) {
      self.kind = kind
      self.text = text
    }

    /// The same for a cell of a table, which is a single line.
    static func cell(_ value: RecordValue, names: TypeNames) -> InspectedValue {
      func note(_ kind: String, _ count: Int, _ what: String) -> InspectedValue {
        InspectedValue(kind: kind, text: "\(count) \(what)\(count == 1 ? "" : "s")")
      }
      switch value {
      case .string(let text): return InspectedValue(kind: "string", text: String(text.prefix(120)))
      case .data(let data): return note("data", data.count, "byte")
      case .array(let elements): return note("array", elements.count, "element")
      case .map(let fields): return note("map", fields.count, "field")
      case .versioned(_, let inner), .withSyncStatus(_, let inner): return cell(inner, names: names)
      default: return InspectedValue(value, names: names)
      }
    }
  }

  /// The identity by which the page finds an object.
  struct InspectedIdentity: Encodable, Sendable {
    /// The name of the identity space.
    var type: String
    /// The identifier's bytes in hexadecimal, by which the page asks for the object.
    var key: String
    /// The identifier for people.
    var id: String

    init(_ identity: RecordIdentity, names: TypeNames) {
      self.init(type: names[identity], identity.identifier)
    }

    init(type: String, _ identifier: Identifier) {
      self.type = type
      key = identifier.bytes.map { String(format: "%02x", $0) }.joined()
      id = "\(identifier)"
    }
  }

  /// Names types, and remembers the names for the duration of a transaction.
  final class TypeNames {
    private let ask: (RecordIdentity) -> String
    private var known: [UInt64: String] = [:]

    init(_ reader: some GarageReading) { ask = reader.listedName }

    subscript(identity: RecordIdentity) -> String {
      if let name = known[identity.tag] { return name }
      let name = ask(identity)
      known[identity.tag] = name
      return name
    }
  }
#endif
