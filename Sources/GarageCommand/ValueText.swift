#if Command
  import Foundation
  import GarageStorage

  /// A stored value as an indented tree for people.
  struct ValueText {
    /// Names the type of a reference.
    let typeName: (RecordIdentity) -> String
    /// What stands behind a reference, where it is to be shown; nil where it is not.
    let expand: (RecordIdentity) throws -> [String]?

    /// The lines of a value, the first without its key.
    func lines(_ value: RecordValue) throws -> [String] {
      switch value {
      case .map(let fields):
        if fields.isEmpty { return ["{}"] }
        return try [""] + fields.flatMap { try indented(Output.quotedIfOdd($0.key) + ":", $0.value) }
      case .array(let elements):
        if elements.isEmpty { return ["[]"] }
        if let line = short(elements) { return [line] }
        return try [""] + elements.enumerated().flatMap { try indented("[\($0.offset)]", $0.element) }
      case .reference(let identity, let kind):
        let identifier = identity.identifier.description.debugDescription
        let line = "→ \(Output.quotedIfOdd(typeName(identity))) \(identifier) (\(kind))"
        return try [line] + (expand(identity) ?? []).map { "  " + $0 }
      case .versioned(let version, let value):
        var lines = try lines(value)
        lines[0] = "(version \(version)) " + lines[0]
        return lines
      case .withSyncStatus(let status, let value):
        var lines = try lines(value)
        lines[0] = "(\(status)) " + lines[0]
        return lines
      default: return [Self.text(value)]
      }
    }

    private func indented(_ key: String, _ value: RecordValue) throws -> [String] {
      let lines = try lines(value)
      let first = lines[0].isEmpty ? key : "\(key) \(lines[0])"
      return ["  " + first] + lines.dropFirst().map { "  " + $0 }
    }

    /// Numbers and short text in one line.
    private func short(_ elements: [RecordValue]) -> String? {
      var texts: [String] = []
      for element in elements {
        switch element {
        case .map, .array, .reference, .versioned, .withSyncStatus: return nil
        default: texts.append(Self.text(element))
        }
      }
      let line = "[" + texts.joined(separator: ", ") + "]"
      return line.count <= 80 ? line : nil
    }

    private static func text(_ value: RecordValue) -> String {
      switch value {
      case .null: "nil"
      case .bool(let value): "\(value)"
      case .integer(let value): "\(value)"
      case .wideInteger(let value): "\(value)"
      case .unsignedInteger(let value): "\(value)"
      case .float(let value): "\(value)"
      case .double(let value): "\(value)"
      case .date(let value): JSONValue.text(of: value)
      case .uuid(let value): value.uuidString
      case .decimal(let value): "\(value)"
      // Escaped, so that no text of a store can steer a terminal.
      case .string(let value): value.debugDescription
      case .data(let value):
        "\(value.count) bytes"
          + (value.isEmpty ? "" : ": " + value.prefix(24).map { String(format: "%02x", $0) }.joined())
          + (value.count > 24 ? "…" : "")
      default: ""
      }
    }
  }
#endif
