#if Command
  import Foundation
  import GarageStorage

  /// A stored value as JSON. A value that JSON has no form for is an object with one key that begins with a dollar.
  enum JSONValue: Encodable {
    case null
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      switch self {
      case .null: try container.encodeNil()
      case .bool(let value): try container.encode(value)
      case .integer(let value): try container.encode(value)
      case .double(let value): try container.encode(value)
      case .string(let value): try container.encode(value)
      case .array(let value): try container.encode(value)
      case .object(let value): try container.encode(value)
      }
    }

    /// - Parameter typeName: names the type of a reference.
    init(_ value: RecordValue, typeName: (RecordIdentity) -> String) {
      switch value {
      case .null: self = .null
      case .bool(let value): self = .bool(value)
      case .integer(let value): self = .integer(value)
      case .wideInteger(let value): self = .object(["$integer": .string("\(value)")])
      case .unsignedInteger(let value): self = .object(["$integer": .string("\(value)")])
      case .float(let value): self = JSONValue(number: Double(value), "\(value)")
      case .double(let value): self = JSONValue(number: value, "\(value)")
      case .date(let value): self = .object(["$date": .string(Self.text(of: value))])
      case .uuid(let value): self = .object(["$uuid": .string(value.uuidString)])
      case .decimal(let value): self = .object(["$decimal": .string("\(value)")])
      case .data(let value): self = .object(["$data": .string(value.base64EncodedString())])
      case .string(let value): self = .string(value)
      case .array(let elements): self = .array(elements.map { JSONValue($0, typeName: typeName) })
      case .map(let fields):
        var object: [String: JSONValue] = [:]
        for (key, value) in fields { object[key] = JSONValue(value, typeName: typeName) }
        self = .object(object)
      case .reference(let identity, let kind):
        self = .object([
          "$reference": .object([
            "type": .string(typeName(identity)), "id": .string("\(identity.identifier)"),
            "kind": .string("\(kind)"),
          ])
        ])
      case .versioned(let version, let value):
        self = .object(["$version": .integer(Int64(version)), "$value": JSONValue(value, typeName: typeName)])
      case .withSyncStatus(let status, let value):
        self = .object(["$syncStatus": .string("\(status)"), "$value": JSONValue(value, typeName: typeName)])
      }
    }

    /// JSON has no infinities and no NaN.
    private init(number: Double, _ text: String) {
      self = number.isFinite ? .double(number) : .object(["$number": .string(text)])
    }

    static func text(of date: Date) -> String {
      date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
  }
#endif
