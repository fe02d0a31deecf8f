/// Why bytes are no record, or no body. Code that knows the record turns it into
/// ``GraphCodingError/corrupt(type:identifier:reason:)``.
struct DamagedBytes: Error {
  var reason: String
  var offset: Int
}

extension DamagedBytes {
  /// There is no value that begins with this byte.
  static func unknownTag(_ tag: UInt8, _ offset: Int) -> DamagedBytes {
    DamagedBytes(reason: "there is no value with the first byte \(tag)", offset: offset)
  }
}

extension RecordKey {
  /// An error about damaged bytes, with the name of the object added; any other error unchanged.
  func naming(_ error: any Error, _ type: String) -> any Error {
    switch error {
    case let damage as DamagedBytes:
      GraphCodingError.corrupt(
        type: type, identifier: text, reason: "\(damage.reason) (byte \(damage.offset))")
    case let unknown as UnknownVersion where unknown.version == 0:
      GraphCodingError.corrupt(type: type, identifier: text, reason: "it has no format version")
    case let unknown as UnknownVersion:
      GraphCodingError.newerFormat(type: type, identifier: text, version: unknown.version)
    default: error
    }
  }
}

extension ParsedRecord {
  /// Reads a record, whose errors name the object.
  static func with<R>(
    tag: UInt64, _ keyIdentifier: RawSpan, _ record: RawSpan, _ typeName: String,
    _ body: (ParsedRecord, UnsafeRawBufferPointer) throws -> R
  ) throws -> R {
    try keyIdentifier.withUnsafeBytes { identifier in
      try record.withUnsafeBytes { record in
        let key = RecordKey(tag: tag, identifier: identifier)
        do {
          return try body(ParsedRecord(key, record), record)
        } catch {
          throw key.naming(error, typeName)
        }
      }
    }
  }
}
