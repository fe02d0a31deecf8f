/// A case of an enum without raw values and payloads, as the compiler has it written: an empty map under the case's name.
enum KeyedCase {
  /// The name of a case, or of the case in an optional; nil for any other value, and for a case that is written otherwise.
  static func name(of value: some Encodable) -> String? {
    guard TypeAddress(unwrapped(type(of: value))).plainCaseCount != nil,
      let fields = try? stored(value).fields, fields.count == 1, let name = fields.keys.first,
      let inner = fields[name]?.fields, inner.isEmpty
    else { return nil }
    return name
  }

  private static func stored(_ value: some Encodable) throws -> RecordValue {
    try [UInt8]().withUnsafeBytes { nothing in
      let key = CheckedKey(nothing)
      let bytes = try GraphEncoder().encode(value: value, key: key, fullKey: nil).bytes
      return try RecordValue(valueUnder: key, bytes.span.bytes) { _ in nil }
    }
  }

  /// The name of the case with that number.
  static func name(_ number: Int, of type: Any.Type) -> String? {
    (TypeAddress(type).plainCase(number, of: type) as? any Encodable).flatMap { name(of: $0) }
  }

  private static let memo = TypeMemo<Bool>()

  /// Whether all cases are read from their names, and from nothing else.
  static func areReadBack(_ type: Any.Type) -> Bool {
    func find<T: Decodable & Encodable>(_ type: T.Type) -> Bool {
      func read(_ name: String) -> T? { try? StoredDecoder.decode(type, .map([name: .map([:])])) }
      let count = TypeAddress(type).plainCaseCount ?? 0
      return read("no case's name") == nil
        && (0..<count).allSatisfy { number in
          guard let name = name(number, of: type) else { return false }
          return read(name).flatMap { KeyedCase.name(of: $0) } == name
        }
    }
    return memo.answer(for: type) { (type as? any (Decodable & Encodable).Type).map { find($0) } ?? false }
  }
}
