import Foundation

/// Foundation's JSON coders, as what the graph coder is compared with.
enum JSON {
  static func encode(_ value: some Encodable) throws -> Data {
    let encoder = JSONEncoder()
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "+inf", negativeInfinity: "-inf", nan: "nan")
    encoder.outputFormatting = .sortedKeys
    return try encoder.encode(value)
  }

  static func decode<T: Decodable>(_ type: T.Type, _ data: Data) throws -> T {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "+inf", negativeInfinity: "-inf", nan: "nan")
    return try decoder.decode(type, from: data)
  }

  static func copy<T: Codable>(_ value: T) throws -> T { try decode(T.self, encode(value)) }
}

/// Whether an error of ours is the one that JSON throws. For numbers that do not fit JSON names no path, and a null
/// that is no Bool is a mismatch to it: there ours say more.
func isSame(_ ours: String, asJSONs json: String) -> Bool {
  if json == "dataCorrupted at " { return ours.hasPrefix("dataCorrupted at value") }
  return ours == json
    || ours == json.replacingOccurrences(of: "typeMismatch", with: "valueNotFound") && json.hasSuffix("null")
}

/// The kind of a decoding error and the path it names.
func summary(_ error: any Error) -> String {
  func text(_ path: [any CodingKey]) -> String { path.map(\.stringValue).joined(separator: ".") }
  return switch error {
  case DecodingError.keyNotFound(let key, let context):
    "keyNotFound \(key.stringValue) at \(text(context.codingPath))"
  case DecodingError.typeMismatch(_, let context): "typeMismatch at \(text(context.codingPath))"
  case DecodingError.valueNotFound(_, let context): "valueNotFound at \(text(context.codingPath))"
  case DecodingError.dataCorrupted(let context): "dataCorrupted at \(text(context.codingPath))"
  case EncodingError.invalidValue(_, let context): "invalidValue at \(text(context.codingPath))"
  default: "\(error)"
  }
}
