internal import Foundation
internal import GarageCoding

/// Turns payloads into values that the decoder reads: those of `Codable` objects, whose references are plain
/// text, and those of mapped objects, which say what they refer to.
struct LegacyPayload {
  let types: LegacyTypes
  let decrypt: ((String) throws -> Data)?

  /// What is found in a payload beside its value.
  struct Notes {
    /// Texts in the payload that may be identifiers, up to a limit.
    var texts: [String] = []
    /// Names of classes of anonymous objects in the payload that no type of the app has.
    var strangers: Set<String> = []

    private static let textLimit = 10_000

    mutating func note(_ text: String) { if texts.count < Notes.textLimit { texts.append(text) } }
  }

  /// - Returns: the value, and the notes made on the way.
  func value(of text: String) throws -> (value: ForeignValue, notes: Notes) {
    var notes = Notes()
    let json = try LegacyJSON(plain(text))
    guard case .object = json else { throw LegacyPayloadError(reason: "its data are no JSON object") }
    return (try value(json, &notes), notes)
  }

  private func plain(_ text: String) throws -> [UInt8] {
    guard let decrypt else { return Array(text.utf8) }
    do { return [UInt8](try decrypt(text)) } catch {
      throw LegacyPayloadError(reason: "its data cannot be decrypted (\(error))")
    }
  }

  private func value(_ json: LegacyJSON, _ notes: inout Notes) throws -> ForeignValue {
    switch json {
    case .null: return .null
    case .bool(let value): return .bool(value)
    case .number(let text):
      notes.note(text)
      return LegacyNumber.value(of: text)
    case .string(let text):
      notes.note(text)
      return .string(text)
    case .array(let elements): return .array(try elements.map { try value($0, &notes) })
    case .object(let fields):
      if let special = try special(json, &notes) { return special }
      return .map(try fields.map { ($0.key, try value($0.value, &notes)) })
    }
  }

  // MARK: - The content of mapped objects

  private func special(_ json: LegacyJSON, _ notes: inout Notes) throws -> ForeignValue? {
    guard let type = json["gs_type"]?.string else { return nil }
    if type == "gs_transformableType" { return try transformable(json) }
    guard let identifier = json["gs_identifier"]?.text else { return nil }
    guard identifier == "kGSAnonymousObject" else { return reference(type, identifier) }
    guard let data = json["kGSAnonymousDataKey"]?.string else {
      throw LegacyPayloadError(reason: "an anonymous \(type) in it has no data")
    }
    var object = try value(LegacyJSON(plain(data)), &notes)
    if let known = types.type(named: type) {
      if let type = known.type as? any MappableObject.Type { object = try object.naming(type) }
    } else {
      notes.strangers.insert(type)
    }
    let number = json["gs_syncStatus"]?.text.flatMap { Int($0) }
    guard let status = number.flatMap({ SyncStatus(rawValue: $0) }), case .map = object else { return object }
    return .inline(object, status)
  }

  private func transformable(_ json: LegacyJSON) throws -> ForeignValue {
    let kind = json["gs_transformableType"]?.string ?? "nothing"
    guard kind == "gs_transformableDate" else {
      throw LegacyPayloadError(reason: "a value in it is of a kind that is not known, \(kind)")
    }
    guard let text = json["gs_transformableData"]?.text, let date = ForeignDate.date(text) else {
      throw LegacyPayloadError(
        reason: "a date in it is no date: \(json["gs_transformableData"]?.text ?? "nothing")")
    }
    return .date(date)
  }

  /// A reference. If its type is not among the known types, it is left to the property, which knows its own type.
  private func reference(_ typeName: String, _ identifier: String) -> ForeignValue {
    guard let known = types.type(named: typeName), known.isIdentified,
      let identity = try? TypeDescription.identity(of: known.type, id: identifier)
    else { return .string(identifier) }
    return .reference(identity, known.type)
  }
}
