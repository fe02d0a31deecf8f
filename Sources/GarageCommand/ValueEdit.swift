#if Command
  import GarageStorage

  /// Changes a leaf of a stored value to another one of the same kind.
  struct ValueEdit: Decodable, Sendable {
    /// A key of a map, or a position in an array.
    enum Step: Decodable, Sendable, Equatable {
      case key(String)
      case index(Int)

      init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let index = try? container.decode(Int.self) {
          self = .index(index)
        } else {
          self = .key(try container.decode(String.self))
        }
      }
    }

    /// The reason why the change is refused.
    enum Refusal: Error, CustomStringConvertible {
      case gone
      case identifying
      case notALeaf
      case changed
      case unreadable(ValueLeaf)

      var description: String {
        switch self {
        case .gone: "There is no such field, or not any more. Look at the object again."
        case .identifying: "This is what the object is found by: it cannot be changed."
        case .notALeaf: "Only text, numbers, truth values, dates and UUIDs can be changed."
        case .changed: "This was changed meanwhile, and is not what you saw. Look at the object again."
        case .unreadable(let leaf): "\(leaf.text.debugDescription) is none of kind \(leaf.kind)."
        }
      }
    }

    var path: [Step]
    /// The text of the leaf when it was read.
    var before: String
    var kind: String
    var text: String

    /// Makes the change in the content of an object.
    ///
    /// - Throws: ``Refusal``; nothing is changed then.
    func apply(to value: inout RecordValue, of identifier: Identifier) throws {
      // A class may have the `id` from a superclass, whose fields stand under this key.
      if path.last == .key("id"), path.dropLast().allSatisfy({ $0 == .key("super") }) {
        throw Refusal.identifying
      }
      if path.count == 1, value["id"] == nil, before == "\(identifier)" { throw Refusal.identifying }
      try Self.replace(in: &value, path[...]) { old in
        guard let leaf = ValueLeaf(old) else { throw Refusal.notALeaf }
        if leaf != ValueLeaf(kind: kind, text: before) { throw Refusal.changed }
        // A date has more digits than are shown.
        if text == before { return old }
        let wanted = ValueLeaf(kind: kind, text: text)
        guard let new = wanted.value else { throw Refusal.unreadable(wanted) }
        return new
      }
    }

    /// The value at a path. Versions and sync statuses on the way are skipped.
    ///
    /// - Throws: ``Refusal/gone``.
    static func value(at path: [Step], in value: RecordValue) throws -> RecordValue {
      var (value, found) = (value, RecordValue.null)
      try replace(in: &value, path[...]) {
        found = $0
        return $0
      }
      return found
    }

    private static func replace(
      in value: inout RecordValue, _ path: ArraySlice<Step>, _ change: (RecordValue) throws -> RecordValue
    ) throws {
      switch (value, path.first) {
      case (.versioned(let version, var inner), _):
        try replace(in: &inner, path, change)
        value = .versioned(version, inner)
      case (.withSyncStatus(let status, var inner), _):
        try replace(in: &inner, path, change)
        value = .withSyncStatus(status, inner)
      case (.map(var fields), .key(let key)?):
        guard var field = fields[key] else { throw Refusal.gone }
        try replace(in: &field, path.dropFirst(), change)
        fields[key] = field
        value = .map(fields)
      case (.array(var elements), .index(let index)?):
        guard elements.indices.contains(index) else { throw Refusal.gone }
        try replace(in: &elements[index], path.dropFirst(), change)
        value = .array(elements)
      case (_, nil): value = try change(value)
      default: throw Refusal.gone
      }
    }
  }
#endif
