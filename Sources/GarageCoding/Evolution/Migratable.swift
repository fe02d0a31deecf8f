#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A property whose value is `Codable`, and used to be an anonymous mapped object.
///
/// ```swift
/// struct Order: Codable, Identifiable {
///   var id: String
///   @Migratable var address: Address?     // was a MappableObject without identifyingAttribute
/// }
/// ```
/// In a garage an anonymous mapped object stands inline, as a `Codable` value does. So a value whose coding keys are the mapped
/// keys is read as it is. `Migratable` also reads the form in stores of GarageStorage: a dictionary with the object's own JSON
/// text under `kGSAnonymousDataKey`, with its dates and references. Text that the app encrypted is not read. The value is
/// always written as itself, with any coder. A missing optional is nil.
@propertyWrapper
public struct Migratable<Value: Codable> {
  /// The value.
  public var wrappedValue: Value

  /// A property with this value.
  public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
}

extension Migratable where Value: ExpressibleByNilLiteral {
  /// A property that is nil until it is set, so that an initializer need not mention it.
  public init() { wrappedValue = nil }
}

extension Migratable: Equatable where Value: Equatable {}
extension Migratable: Hashable where Value: Hashable {}
extension Migratable: Sendable where Value: Sendable {}

extension Migratable: Codable {
  /// Reads the value, or the anonymous mapped object that it was.
  ///
  /// - Throws: `DecodingError` if it is neither.
  public init(from decoder: any Decoder) throws {
    guard let text = AnonymousObject.text(decoder) else {
      wrappedValue = try decoder.singleValueContainer().decode(Value.self)
      return
    }
    if let own = decoder as? ValueDecoder {
      let value = try AnonymousObject.value(text, decoder.codingPath)
      wrappedValue = try own.readOwn { state in try state.read(Value.self, from: value) }
    } else {
      let decoder = JSONDecoder()
      decoder.dateDecodingStrategy = .custom { try AnonymousObject.date(String(from: $0), $0.codingPath) }
      wrappedValue = try decoder.decode(Value.self, from: Data(text.utf8))
    }
  }

  /// Writes the value as itself.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(wrappedValue)
  }
}

extension KeyedDecodingContainer {
  /// Chosen by synthesized `init(from:)`: an optional that the data lacks is nil.
  public func decode<Value>(_ type: Migratable<Value?>.Type, forKey key: Key) throws -> Migratable<Value?> {
    try decodeIfPresent(type, forKey: key) ?? Migratable(wrappedValue: nil)
  }
}

extension KeyedEncodingContainer {
  /// Chosen by synthesized `encode(to:)`: a nil is left out.
  public mutating func encode<Value>(_ value: Migratable<Value?>, forKey key: Key) throws {
    try encodeIfPresent(value.wrappedValue, forKey: key)
  }
}

/// The form that GarageStorage gave a mapped object without identifier.
private enum AnonymousObject {
  private static let dataKey = "kGSAnonymousDataKey"

  /// The object's JSON text; nil if the decoder reads something else.
  static func text(_ decoder: any Decoder) -> String? {
    guard let container = try? decoder.container(keyedBy: PathKey.self) else { return nil }
    return try? container.decodeIfPresent(String.self, forKey: PathKey(stringValue: dataKey))
  }

  /// The date in a text, in GarageStorage's form or in any other form of ISO 8601.
  static func date(_ text: String, _ path: [any CodingKey]) throws -> Date {
    if let date = ForeignDate.date(text) ?? (try? Date(text, strategy: .iso8601)) { return date }
    throw DecodingError.dataCorrupted(
      DecodingError.Context(codingPath: path, debugDescription: "\"\(text)\" is no date."))
  }

  /// The value of a JSON text.
  static func value(_ text: String, _ path: [any CodingKey]) throws -> RecordValue {
    do {
      return try JSONDecoder().decode(JSONTree.self, from: Data(text.utf8)).value
    } catch {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(
          codingPath: path,
          debugDescription:
            "The text under \(dataKey) is no JSON of GarageStorage's. If the app encrypted it, import the store with its key.",
          underlyingError: error))
    }
  }

  /// Any JSON.
  private struct JSONTree: Decodable {
    var value: RecordValue

    init(from decoder: any Decoder) throws {
      if let container = try? decoder.container(keyedBy: PathKey.self) {
        var fields = RecordFields()
        for key in container.allKeys where try !container.decodeNil(forKey: key) {
          fields[key.stringValue] = try container.decode(JSONTree.self, forKey: key).value
        }
        value = try AnonymousObject.special(fields, decoder.codingPath) ?? .map(fields)
      } else if var container = try? decoder.unkeyedContainer() {
        var elements: [RecordValue] = []
        while !container.isAtEnd { elements.append(try container.decode(JSONTree.self).value) }
        value = .array(elements)
      } else {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
          value = .null
        } else if let bool = try? container.decode(Bool.self) {
          value = .bool(bool)
        } else if let integer = try? container.decode(Int64.self) {
          value = .integer(integer)
        } else if let double = try? container.decode(Double.self) {
          value = .double(double)
        } else {
          value = .string(try container.decode(String.self))
        }
      }
    }
  }

  /// The special meaning of a dictionary: a date, an object with an identifier, or an anonymous one. Nil if it has none.
  private static func special(_ fields: RecordFields, _ path: [any CodingKey]) throws -> RecordValue? {
    if fields["gs_transformableType"] == "gs_transformableDate",
      let text = fields["gs_transformableData"]?.stringValue
    {
      return .date(try date(text, path))
    }
    if let text = fields[dataKey]?.stringValue { return try value(text, path) }
    if let type = fields["gs_type"]?.stringValue, let identifier = fields["gs_identifier"]?.stringValue {
      let named = try Identifier(identifier, canonical: canonicalBytes)
      return .reference(RecordIdentity(tag: TypeTag(name: type).digest, identifier: named), .eager)
    }
    return nil
  }
}
