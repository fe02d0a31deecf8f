internal import Foundation
internal import GarageCoding

/// Turns payloads into values that the decoder reads: those of `Codable` objects, whose references are plain
/// text, and those of mapped objects, which say what they refer to.
struct LegacyPayload {
  let types: LegacyTypes
  let decrypt: ((String) throws -> Data)?

  /// Texts in a payload that may be identifiers: no more than this many are looked at.
  private static let textLimit = 10_000

  /// - Returns: the value, and the texts in it.
  func value(of text: String) throws -> (value: ForeignValue, texts: [String]) {
    var texts: [String] = []
    let json = try LegacyJSON(plain(text))
    guard case .object = json else { throw LegacyPayloadError(reason: "its data are no JSON object") }
    return (try value(json, &texts), texts)
  }

  private func plain(_ text: String) throws -> [UInt8] {
    guard let decrypt else { return Array(text.utf8) }
    do { return [UInt8](try decrypt(text)) } catch {
      throw LegacyPayloadError(reason: "its data cannot be decrypted (\(error))")
    }
  }

  private func value(_ json: LegacyJSON, _ texts: inout [String]) throws -> ForeignValue {
    switch json {
    case .null: return .null
    case .bool(let value): return .bool(value)
    case .number(let text):
      note(text, &texts)
      return LegacyPayload.number(text)
    case .string(let text):
      note(text, &texts)
      return .string(text)
    case .array(let elements): return .array(try elements.map { try value($0, &texts) })
    case .object(let fields):
      if let special = try special(json, &texts) { return special }
      return .map(try fields.map { ($0.key, try value($0.value, &texts)) })
    }
  }

  private func note(_ text: String, _ texts: inout [String]) {
    if texts.count < LegacyPayload.textLimit { texts.append(text) }
  }

  /// Integers as such, other numbers in decimal as long as that holds them exactly.
  private static func number(_ text: String) -> ForeignValue {
    if let integer = Int128(text) { return .integer(integer) }
    let digits = text.utf8.prefix { $0 != UInt8(ascii: "e") && $0 != UInt8(ascii: "E") }
      .filter { (0x30...0x39).contains($0) }
    let double = Double(text) ?? 0
    if digits.count <= 34, double == 0 || (1e-60...1e60).contains(abs(double)),
      let decimal = Decimal(string: text)
    {
      return .decimal(decimal)
    }
    return .double(double)
  }

  // MARK: - What mapped objects hold

  private func special(_ json: LegacyJSON, _ texts: inout [String]) throws -> ForeignValue? {
    guard let type = json["gs_type"]?.string else { return nil }
    if type == "gs_transformableType" { return try transformable(json) }
    guard let identifier = json["gs_identifier"]?.text else { return nil }
    guard identifier == "kGSAnonymousObject" else { return reference(type, identifier) }
    guard let data = json["kGSAnonymousDataKey"]?.string else {
      throw LegacyPayloadError(reason: "an anonymous \(type) in it has no data")
    }
    let object = try value(LegacyJSON(plain(data)), &texts)
    let number = json["gs_syncStatus"]?.text.flatMap { Int($0) }
    guard let status = number.flatMap({ SyncStatus(rawValue: $0) }), case .map = object else { return object }
    return .inline(object, status)
  }

  private func transformable(_ json: LegacyJSON) throws -> ForeignValue {
    let kind = json["gs_transformableType"]?.string ?? "nothing"
    guard kind == "gs_transformableDate" else {
      throw LegacyPayloadError(reason: "a value in it is of a kind that is not known, \(kind)")
    }
    guard let text = json["gs_transformableData"]?.text, let date = LegacyDates.date(iso8601: text) else {
      throw LegacyPayloadError(
        reason: "a date in it is no date: \(json["gs_transformableData"]?.text ?? "nothing")")
    }
    return .date(date)
  }

  /// What is not to be found among the types is left to the property, which knows its own.
  private func reference(_ typeName: String, _ identifier: String) -> ForeignValue {
    guard let known = types.type(named: typeName), known.isIdentified,
      let identity = try? TypeDescription.identity(of: known.type, id: identifier)
    else { return .string(identifier) }
    return .reference(identity, known.type)
  }
}
