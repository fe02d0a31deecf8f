#if Command
  import Foundation
  import GarageStorage

  /// A stored value as an indented tree for people.
  struct ValueText {
    /// Names the type of a reference.
    let typeName: (RecordIdentity) -> String

    struct Line {
      /// How far it is indented, in steps.
      var indentation = 0
      var text: String
      /// The object whose reference stands in it.
      var reference: RecordIdentity?

      /// The line, behind as many spaces as it is indented by, and more steps.
      func text(behind steps: Int = 0) -> String {
        String(repeating: "  ", count: indentation + steps) + text
      }
    }

    /// The lines of a value, the first without its key.
    func lines(_ value: RecordValue) -> [Line] {
      switch value {
      case .map(let fields):
        if fields.isEmpty { return [Line(text: "{}")] }
        return [Line(text: "")] + fields.flatMap { indented(Output.quotedIfOdd($0.key) + ":", $0.value) }
      case .array(let elements):
        if elements.isEmpty { return [Line(text: "[]")] }
        if let line = short(elements) { return [Line(text: line)] }
        return [Line(text: "")] + elements.enumerated().flatMap { indented("[\($0.offset)]", $0.element) }
      case .reference(let identity, let kind):
        let identifier = identity.identifier.description.debugDescription
        return [
          Line(
            text: "→ \(Output.quotedIfOdd(typeName(identity))) \(identifier) (\(kind))", reference: identity)
        ]
      case .versioned(let version, let value):
        var lines = lines(value)
        lines[0].text = "(version \(version)) " + lines[0].text
        return lines
      case .withSyncStatus(let status, let value):
        var lines = lines(value)
        lines[0].text = "(\(status)) " + lines[0].text
        return lines
      default: return [Line(text: Self.text(value))]
      }
    }

    private func indented(_ key: String, _ value: RecordValue) -> [Line] {
      var lines = lines(value)
      lines[0].text = lines[0].text.isEmpty ? key : "\(key) \(lines[0].text)"
      for index in lines.indices { lines[index].indentation += 1 }
      return lines
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
