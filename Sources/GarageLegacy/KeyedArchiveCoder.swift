internal import Foundation

#if !canImport(Darwin)
  /// The coder from which `init(coder:)` of the user's classes reads: one object of an archive.
  ///
  /// `NSKeyedUnarchiver` would do, but on these platforms it ends the process if a field has another class than the one asked
  /// for. Here such a field counts as missing.
  final class KeyedArchiveCoder: NSCoder {
    private let archive: KeyedArchive
    private let fields: PropertyListValue
    private let depth: Int

    init(_ archive: KeyedArchive, _ fields: PropertyListValue, depth: Int) {
      self.archive = archive
      self.fields = fields
      self.depth = depth
    }

    override var allowsKeyedCoding: Bool { true }
    override var requiresSecureCoding: Bool { true }

    override func containsValue(forKey key: String) -> Bool { fields[key] != nil }

    override func decodeObject(forKey key: String) -> Any? {
      switch fields[key] {
      case .reference(let place): try? archive.object(place, depth: depth + 1)
      case .string(let text): NSString(string: text)
      case .data(let data): NSData(data: data)
      case .array(let elements):
        try? NSArray(
          array: elements.map { element in
            guard let place = element.reference else { throw KeyedArchive.Fault.damaged }
            return try archive.object(place, depth: depth + 1)
          })
      case nil: nil
      default: number(key)
      }
    }

    override func decodeObject<Decoded: NSObject & NSCoding>(of type: Decoded.Type, forKey key: String)
      -> Decoded?
    {
      decodeObject(of: [type], forKey: key) as? Decoded
    }

    override func decodeObject(of classes: [AnyClass]?, forKey key: String) -> Any? {
      guard let object = decodeObject(forKey: key) as? NSObject else { return nil }
      guard let classes else { return object }
      if classes.contains(where: { object.isKind(of: $0) }) { return object }
      // A mutable class may be asked for, too.
      let copy = (object as? any NSMutableCopying)?.mutableCopy() as? NSObject
      return copy.flatMap { copy in classes.contains { copy.isKind(of: $0) } ? copy : nil }
    }

    override func decodePropertyList(forKey key: String) -> Any? { decodeObject(forKey: key) }

    override func withDecodedUnsafeBufferPointer<R>(
      forKey key: String, body: (UnsafeBufferPointer<UInt8>?) throws -> R
    ) rethrows -> R {
      guard let data = decodeObject(forKey: key) as? NSData else { return try body(nil) }
      return try [UInt8](data as Data).withUnsafeBufferPointer { try body($0) }
    }

    // A keyed archive has no values without a key.
    override func decodeObject() -> Any? { nil }
    override func decodeData() -> Data? { nil }

    private func number(_ key: String) -> NSNumber? {
      switch fields[key] {
      case .bool(let value): NSNumber(value: value)
      case .integer(let value): NSNumber(value: value)
      case .unsigned(let value): NSNumber(value: value)
      case .real(let value): NSNumber(value: value)
      case .reference(let place): (try? archive.object(place, depth: depth + 1)) as? NSNumber
      default: nil
      }
    }

    override func decodeBool(forKey key: String) -> Bool { number(key)?.boolValue ?? false }
    override func decodeDouble(forKey key: String) -> Double { number(key)?.doubleValue ?? 0 }
    override func decodeFloat(forKey key: String) -> Float { Float(decodeDouble(forKey: key)) }
    override func decodeInt64(forKey key: String) -> Int64 {
      switch fields[key] {
      case .real(let value): Int64(exactly: value.rounded(.towardZero)) ?? 0
      default: number(key).flatMap { $0 as? Int64 } ?? 0
      }
    }
    override func decodeInteger(forKey key: String) -> Int { Int(decodeInt64(forKey: key)) }
    override func decodeInt32(forKey key: String) -> Int32 { Int32(exactly: decodeInt64(forKey: key)) ?? 0 }
    override func decodeCInt(forKey key: String) -> Int32 { decodeInt32(forKey: key) }
  }
#endif
