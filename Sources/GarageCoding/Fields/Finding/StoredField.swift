/// Where the values of one property stand in the records of its type.
package struct StoredField: Sendable {
  package var path: FieldPath
  /// Whether an object whose record lacks the field has nil there, and not a default of its own.
  package var absentIsNull: Bool
  /// Whether it is an enum whose type, or whose object, may read raw values that no case has. The stored value then does not
  /// tell whether the property is equal to a case.
  package var readsUnknownCases = false
  /// Whether it is the field of the stored property `id`, which by Swift's rules identifies objects of the type.
  package var isIdentifier = false

  package init(path: FieldPath, absentIsNull: Bool) {
    self.path = path
    self.absentIsNull = absentIsNull
  }

  /// Whether the field of a subclass stands in the same place, and means the same where it is missing: a subclass may have a
  /// default for what its superclass leaves nil.
  package func isSame(as other: StoredField?) -> Bool {
    other.map { $0.path == path && $0.absentIsNull == absentIsNull } ?? false
  }

  /// Nil where only objects can be compared.
  package var comparable: StoredField? { readsUnknownCases ? nil : self }
}

/// What can be asked of a field's bytes, given the type of its property.
package enum FieldComparability: Sendable {
  /// Equality and order of the bytes' values are those of the Swift values.
  case ordered
  /// Equality is.
  case equatable
  /// Only the type knows.
  case none

  /// - Parameter type: that of a property, of its value where it is optional, or of the elements of a collection.
  package init(_ type: Any.Type) {
    if FieldComparability.isOrdered(type) {
      self = .ordered
      return
    }
    let type = unwrapped(type)
    switch TypeFacts.of(type).object.kind {
    case .data, .url: self = .equatable
    case .own: self = type is any ProbeValue.Type ? .equatable : .none
    default:
      // A case is equal to itself alone, whatever its raw value.
      self =
        FieldComparability.isPlainEnum(type) || PlainEquality.leaves(of: type) == [[]] ? .equatable : .none
    }
  }

  /// Whether the order of the bytes' values is that of the Swift values.
  package static func isOrdered(_ type: Any.Type) -> Bool {
    if type == Int.self || type == String.self { return true }
    let type = unwrapped(type)
    switch TypeFacts.of(type).object.kind {
    case .bool, .string, .double, .float, .int, .int8, .int16, .int32, .int64, .int128, .uint, .uint8,
      .uint16, .uint32, .uint64, .uint128, .date, .decimal, .uuid:
      return true
    case .own: return false
    default: return isPlainEnum(type) && EnumCases.areOrderedAsWritten(type)
    }
  }

  /// The kind of the values that an ordered type is written as (`OrderedBytes.Kind`): that of false for truth values. Nil where it
  /// is not known.
  package static func orderedKind(_ type: Any.Type) -> UInt8? {
    // To ask whether a type is an optional takes longer than all the rest.
    if type == Int.self || type == Double.self { return OrderedBytes.Kind.number }
    if type == String.self { return OrderedBytes.Kind.text }
    let type = unwrapped(type)
    switch TypeFacts.of(type).object.kind {
    case .bool: return OrderedBytes.Kind.false
    case .string: return OrderedBytes.Kind.text
    case .date: return OrderedBytes.Kind.date
    case .uuid: return OrderedBytes.Kind.uuid
    case .double, .float, .int, .int8, .int16, .int32, .int64, .int128, .uint, .uint8, .uint16, .uint32,
      .uint64, .uint128, .decimal:
      return OrderedBytes.Kind.number
    default:
      func ofRawValue<T: RawRepresentable>(_ type: T.Type) -> Any.Type { T.RawValue.self }
      guard isPlainEnum(type), let type = type as? any RawRepresentable.Type else { return nil }
      return orderedKind(ofRawValue(type))
    }
  }

  /// Whether it is stored as a number, a truth value, a date or bytes, or is an enum that has such raw values.
  package static func hasNoText(_ type: Any.Type) -> Bool {
    let type = unwrapped(type)
    switch TypeFacts.of(type).object.kind {
    case .bool, .double, .float, .int, .int8, .int16, .int32, .int64, .int128, .uint, .uint8, .uint16,
      .uint32,
      .uint64, .uint128, .date, .data, .uuid:
      return true
    default:
      func ofRawValue<T: RawRepresentable>(_ type: T.Type) -> Any.Type { T.RawValue.self }
      guard isPlainEnum(type), let type = type as? any RawRepresentable.Type else { return false }
      return hasNoText(ofRawValue(type))
    }
  }

  /// Whether it is an enum without payload that has raw values.
  package static func isPlainEnum(_ type: Any.Type) -> Bool {
    TypeAddress(type).plainCaseCount != nil && type is any RawRepresentable.Type
  }
}

extension FieldPath {
  /// In place of a key: each element of an array.
  package static let element = "[]"
}

/// The type inside an optional; any other type itself.
package func unwrapped(_ type: Any.Type) -> Any.Type {
  var type = type
  while let optional = type as? any OptionalIdentifier.Type { type = optional.wrapped }
  return type
}

/// Whether it is an optional of an optional, which has two nils.
package func isOptionalOfOptional(_ type: Any.Type) -> Bool {
  guard let optional = type as? any OptionalIdentifier.Type else { return false }
  return optional.wrapped is any OptionalIdentifier.Type
}
