#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The content of a record as a tree of plain values. ``Evolving/upgrade(_:from:)`` rewrites it, and it can be read without the
/// Swift types that were parked.
///
/// ```swift
/// record.rename("surname", to: "name")
/// record["age"] = 0
/// record["address"]?["zip"] = .string("10115")
/// ```
/// A map has the coding keys of the type, as text, but only those that have a value: a value that `encodeIfPresent` left out
/// has no key. Integers have no width, and arrays hold their elements however these are packed in the record. An object with an
/// identity of its own is a ``reference(_:_:)``, and not part of the tree.
public enum RecordValue: Sendable, Hashable {
  /// A nil that was encoded as null.
  case null
  /// A truth value.
  case bool(Bool)
  /// An integer.
  case integer(Int64)
  /// An integer that does not fit in `Int64`. (Indirect, because Swift 6.3 on Linux miscompiles an enum with 16-byte
  /// alignment.)
  indirect case wideInteger(Int128)
  /// An integer that fits only in `UInt128`.
  indirect case unsignedInteger(UInt128)
  /// A floating-point number of 4 bytes.
  case float(Float)
  /// A floating-point number of 8 bytes.
  case double(Double)
  /// A date at full precision.
  case date(Date)
  /// A UUID.
  case uuid(UUID)
  /// A decimal number.
  case decimal(Decimal)
  /// Bytes.
  case data(Data)
  /// Text. A `URL` is stored as its text as well.
  case string(String)
  /// An array or set, or a dictionary whose keys are not text: keys and values in turn.
  case array([RecordValue])
  /// An object or dictionary.
  case map(RecordFields)
  /// An object with a record of its own, and how it is loaded.
  case reference(RecordIdentity, ReferenceKind)
  /// An inline value of an ``Evolving`` type, with the version in which it was encoded (never 0).
  indirect case versioned(Int, RecordValue)
  /// An inline value of a ``Syncable`` type, with its status. A version stands inside the status.
  indirect case withSyncStatus(SyncStatus, RecordValue)

  /// An integer of any type.
  public init(integer: some FixedWidthInteger) {
    if let narrow = Int64(exactly: integer) {
      self = .integer(narrow)
    } else if let wide = Int128(exactly: integer) {
      self = .wideInteger(wide)
    } else {
      // An integer that does not fit in Int128 is positive and larger.
      self = .unsignedInteger(UInt128(truncatingIfNeeded: integer))
    }
  }

  /// A reference to the object of this type whose `id` is `identifier`, whether it is parked or not.
  ///
  /// - Throws: ``GraphCodingError`` if the type or the `id` cannot name a record.
  public static func reference(to type: any Codable.Type, identifier: some Hashable) throws -> RecordValue {
    .reference(try TypeDescription.identity(of: type, converting: identifier), .eager)
  }
}

// MARK: - Maps and arrays

extension RecordValue {
  /// The fields of a map; nil for any other value. A version and a sync status around the map are skipped.
  public var fields: RecordFields? {
    get {
      switch self {
      case .map(let fields): fields
      case .versioned(_, let value), .withSyncStatus(_, let value): value.fields
      default: nil
      }
    }
    set {
      let value: RecordValue = newValue.map { .map($0) } ?? .null
      switch self {
      case .versioned(let version, _): self = .versioned(version, value)
      case .withSyncStatus(let status, var inner):
        inner.fields = newValue
        self = .withSyncStatus(status, inner)
      default: self = value
      }
    }
  }

  /// The keys of a map, in order; empty for any other value.
  public var keys: [String] { fields?.keys ?? [] }

  /// The value under a key of a map; nil if there is none, or if this is no map.
  ///
  /// Setting nil removes the field. Setting a field of null makes it a map. Setting a field of any other value that is no map
  /// changes nothing.
  public subscript(key: String) -> RecordValue? {
    get { fields?[key] }
    set {
      switch self {
      case .map(var fields):
        // Released here, so that the fields are not shared while they are changed.
        self = .null
        fields[key] = newValue
        self = .map(fields)
      case .versioned(let version, var value):
        value[key] = newValue
        self = .versioned(version, value)
      case .withSyncStatus(let status, var value):
        value[key] = newValue
        self = .withSyncStatus(status, value)
      case .null: if let newValue { self = .map([key: newValue]) }
      default: break
      }
    }
  }

  /// The element of an array at an index; nil beyond the end, or if this is no array.
  ///
  /// Setting nil removes the element. Setting an element beyond the end changes nothing.
  public subscript(index: Int) -> RecordValue? {
    get {
      guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
      return elements[index]
    }
    set {
      guard case .array(var elements) = self, elements.indices.contains(index) else { return }
      self = .null
      if let newValue { elements[index] = newValue } else { elements.remove(at: index) }
      self = .array(elements)
    }
  }

  /// Gives a field of a map another key. A field that already has that key is replaced. If there is no field to rename, nothing
  /// happens.
  public mutating func rename(_ key: String, to newKey: String) {
    guard var fields else { return }
    fields.rename(key, to: newKey)
    self.fields = fields
  }

  /// Removes a field of a map and returns its value; nil if there is none.
  @discardableResult
  public mutating func remove(_ key: String) -> RecordValue? {
    let value = self[key]
    if value != nil { self[key] = nil }
    return value
  }
}

// MARK: - The value

extension RecordValue {
  /// Whether it is null.
  public var isNull: Bool { self == .null }

  /// The truth value; nil for any other value.
  public var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }

  /// The integer, if it fits in `Int`; nil for any other value.
  public var integerValue: Int? { if case .integer(let value) = self { Int(exactly: value) } else { nil } }

  /// The number as a double, for an integer or decimal the nearest one; nil for any other value.
  public var doubleValue: Double? {
    switch self {
    case .double(let value): value
    case .float(let value): Double(value)
    case .integer(let value): Double(value)
    case .wideInteger(let value): Double(value)
    case .unsignedInteger(let value): Double(value)
    case .decimal(let value): Double("\(value)")
    default: nil
    }
  }

  /// The text; nil for any other value.
  public var stringValue: String? { if case .string(let value) = self { value } else { nil } }

  /// The date; nil for any other value.
  public var dateValue: Date? { if case .date(let value) = self { value } else { nil } }

  /// The UUID; nil for any other value.
  public var uuidValue: UUID? { if case .uuid(let value) = self { value } else { nil } }

  /// The bytes; nil for any other value.
  public var dataValue: Data? { if case .data(let value) = self { value } else { nil } }

  /// The elements of an array; nil for any other value.
  public var arrayValue: [RecordValue]? { if case .array(let value) = self { value } else { nil } }
}

extension RecordValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// Text.
  public init(stringLiteral value: String) { self = .string(value) }
  /// An integer.
  public init(integerLiteral value: Int) { self = .integer(Int64(value)) }
  /// A double.
  public init(floatLiteral value: Double) { self = .double(value) }
  /// A truth value.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// An array.
  public init(arrayLiteral elements: RecordValue...) { self = .array(elements) }
  /// A map. If keys are equal, the last one counts.
  public init(dictionaryLiteral elements: (String, RecordValue)...) {
    var fields = RecordFields()
    for (key, value) in elements { fields[key] = value }
    self = .map(fields)
  }
}
