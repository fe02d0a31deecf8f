#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

// The value of a typed key: a record without identity and time.

/// A value that is kept under a key of its own, encoded and ready to be written.
public struct EncodedValue: Sendable {
  /// The objects that the value refers to, as records of their own, and every tag and shape that they and the value name.
  public var graph: EncodedGraph
  /// The bytes that are kept under the key.
  public var bytes: [UInt8]
}

/// The bytes under a typed key are not those that were written there.
package enum ValueDamage: Error {
  case corrupt(reason: String)
  /// Written by a newer version of the library.
  case newerFormat(version: Int)
}

extension GraphEncoder {
  /// Encodes a value that is kept under a key of its own, with the graph of everything it refers to.
  ///
  /// - Parameters:
  ///   - fullKey: the whole key, if the store's key is cut.
  ///   - dates: how the dates of the objects are encoded. Those of the value itself are always exact.
  /// - Throws: ``GraphCodingError``, `EncodingError`, and the errors of the objects' `encode(to:)`.
  package func encode<T: Encodable>(
    value: T, key: CheckedKey, fullKey: [UInt8]?, dates: DateEncodingStrategy = .deferredToDate
  ) throws -> EncodedValue {
    try EncodingCore.withCore(userInfo: userInfo) { core in
      try self.value(value, key: key, fullKey: fullKey, dates: dates, core)
    }
  }

  func value<T: Encodable>(
    _ value: T, key: CheckedKey, fullKey: [UInt8]?, dates: DateEncodingStrategy = .deferredToDate,
    _ core: EncodingCore
  ) throws -> EncodedValue {
    let body = try core.body(of: HeldValue(value: value))
    let bytes = core.builder.pointee.valueRecord(body, key: key, fullKey: fullKey, core.graph)
    core.setDateStrategy(dates)
    return EncodedValue(graph: try encodeRecords(core, rootCount: 0) { _ in body }, bytes: bytes)
  }
}

/// A value as a container holds it: an object with an identity becomes a reference.
struct HeldValue<T> {
  let value: T
}

extension HeldValue: Encodable where T: Encodable {
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(value)
  }
}

extension HeldValue: Decodable where T: Decodable {
  init(from decoder: any Decoder) throws { value = try decoder.singleValueContainer().decode(T.self) }
}

extension GraphDecodingSession {
  /// The value that is kept under a key of its own, complete with everything that it refers to.
  ///
  /// - Parameter fullKey: the whole key, if the store's key is cut.
  /// - Throws: ``ValueDamage``; the errors of decoding the value and the records that it refers to.
  package func value<T: Decodable>(
    _ type: T.Type, key: CheckedKey, fullKey: [UInt8]?, record: RawSpan
  ) throws -> T {
    try record.withUnsafeBytes { record in
      try ValueDamage.naming {
        let parsed = try ParsedRecord(valueUnder: key, record)
        if let fullKey {
          guard let full = parsed.wholeIdentifier, record[full].elementsEqual(fullKey) else {
            throw DamagedBytes(reason: "it holds another key's value", offset: 1)
          }
        }
        return try value(type, parsed, key: key)
      }
    }
  }
}

extension RecordSummary {
  /// The whole key of a typed key's value that is kept under a cut key.
  ///
  /// - Throws: ``ValueDamage``.
  package static func fullKey(key: CheckedKey, record: RawSpan) throws -> [UInt8] {
    try record.withUnsafeBytes { record in
      try ValueDamage.naming {
        guard let full = try ParsedRecord(valueUnder: key, record).wholeIdentifier else {
          throw DamagedBytes(reason: "its whole key is missing", offset: 1)
        }
        return Array(record[full])
      }
    }
  }
}

extension ValueDamage {
  /// Runs `body`. Its errors about damaged bytes become ``ValueDamage``.
  static func naming<R>(_ body: () throws -> R) throws -> R {
    do {
      return try body()
    } catch let damage as DamagedBytes {
      throw ValueDamage.corrupt(reason: "\(damage.reason) (byte \(damage.offset))")
    } catch let unknown as UnknownVersion {
      if unknown.version == 0 { throw ValueDamage.corrupt(reason: "it has no format version") }
      throw ValueDamage.newerFormat(version: unknown.version)
    }
  }
}
