#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

// What stored objects say of a field that was found by made-up ones: of a text or a number by which a type's code decides what a
// key means, these do not show it.

extension FieldSearch {
  /// Whether a stored object has another value in the property than its record has in a field.
  func isDenied(_ field: StoredField) -> Bool {
    // Where no case is told by its raw value alone, objects are asked anyway. Values of the library's own types are made up.
    if field.readsUnknownCases || TypeFacts.of(unwrapped(Value.self)).object.kind == .own { return false }
    return isDenied(at: field.path.keys) { object, found in
      guard let value = Probed(object[keyPath: keyPath]) else { return true }
      guard let found, found != .null else { return !field.absentIsNull || value == .scalar(.null) }
      switch (value, found) {
      case (.scalar(let value), _):
        guard let stored = FieldValue(found) else { return true }
        // Only the object is asked about a value of another kind.
        return value == stored || value != .null && !value.isComparable(to: stored)
      case (.elements(let elements), .array(let stored)):
        let all = stored.compactMap { FieldValue($0) }
        // Sets are in no order.
        return all.count < stored.count || Set(all) == Set(elements)
      default: return true
      }
    }
  }

  /// Whether a stored object has a value where its record has none in a field, or the other way round.
  func isNilDenied(_ field: StoredField) -> Bool {
    isDenied(at: field.path.keys) { object, found in
      guard let isNil = isNil(object) else { return true }
      if let found, found != .null { return !isNil }
      return isNil || !field.absentIsNull
    }
  }

  /// Whether a stored object has another case than the key names that its record has at a path.
  func isCaseDenied(at path: [String]) -> Bool {
    isDenied(at: path) { object, found in
      KeyedCase.name(of: object[keyPath: keyPath]) == found?.keys.first
    }
  }

  /// Whether a stored object has other scalars than its record has at a path.
  func areDenied(at path: [String], _ leaves: [[String]]) -> Bool {
    isDenied(at: path) { object, found in
      let scalars = GraphEncoder.leaves(of: object[keyPath: keyPath], leaves)
      guard let found, found != .null else { return scalars == nil }
      let stored = leaves.compactMap { leaf -> FieldValue? in
        guard case .some(let value?) = found.found(at: leaf[...]) else { return nil }
        return FieldValue(value)
      }
      return stored.count < leaves.count || scalars == stored
    }
  }

  /// Whether one of the stored objects of the present version does not agree with what its record has at a path.
  ///
  /// - Parameter agrees: gets an object, and what stands there; nil where nothing does.
  private func isDenied(at path: [String], unless agrees: (Root, RecordValue?) -> Bool) -> Bool {
    // An index needs the field, whatever objects make of it.
    if !ProbeContext.current.usesSurveys || holdsReferences(Value.self) { return false }
    // It is asked for each property, and must not take longer than finding the field.
    return storedObjects(5_000).contains { object, record in
      guard let found = record.content(ofVersion: version)?.found(at: path[...]) else { return false }
      return !agrees(object, found)
    }
  }
}

extension RecordValue {
  /// What stands behind the version of an object; nil where it is of another version.
  func content(ofVersion version: Int) -> RecordValue? {
    guard case .versioned(let number, let content) = self else { return version == 0 ? self : nil }
    return number == version ? content : nil
  }

  /// What stands at a path: nil within where nothing does. Nil where the way leads through something else than maps.
  func found(at path: ArraySlice<String>) -> RecordValue?? {
    guard let key = path.first else { return .some(self) }
    switch self {
    case .null: return .some(nil)
    case .map(let fields):
      guard let value = fields[key] else { return .some(nil) }
      return value.found(at: path.dropFirst())
    default: return nil
    }
  }
}

extension FieldValue {
  /// Nil for what is no scalar, and for references.
  fileprivate init?(_ value: RecordValue) {
    switch value {
    case .null: self = .null
    case .bool(let value): self = .bool(value)
    case .integer(let value): self = .number(.integer(value))
    case .wideInteger(let value): self = .number(FieldNumber(value))
    case .unsignedInteger(let value): self = .number(FieldNumber(value))
    case .float(let value): self = .number(.double(Double(value)))
    case .double(let value): self = .number(.double(value))
    case .decimal(let value): self = .number(.decimal(value))
    case .date(let value): self = .date(value.timeIntervalSinceReferenceDate)
    case .uuid(let value): self = .uuid(withUnsafeBytes(of: value.uuid) { Array($0) })
    case .data(let value): self = .data(Array(value))
    case .string(let value): self = .text(value)
    case .array, .map, .reference, .versioned, .withSyncStatus: return nil
    }
  }
}
