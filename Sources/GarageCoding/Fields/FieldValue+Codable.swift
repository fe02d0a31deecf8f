// How a value stands in other formats than a record, such as a cursor in JSON: an array of its kind and itself.

extension FieldValue: Codable {
  private enum Kind: String, Codable {
    case null, bool, integer, double, wide, decimal, date, text, uuid, data, reference
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    switch self {
    case .null: try container.encode(Kind.null)
    case .bool(let value):
      try container.encode(Kind.bool)
      try container.encode(value)
    case .number(.integer(let value)):
      try container.encode(Kind.integer)
      // As text, because not every reader of JSON takes 64 bits.
      try container.encode("\(value)")
    case .number(.double(let value)):
      try container.encode(Kind.double)
      try container.encode("\(value.bitPattern)")
    case .number(.wide(let value)):
      try container.encode(Kind.wide)
      try container.encode((value.isNegative ? "-" : "") + "\(value.magnitude)")
    case .number(.decimal(let value)):
      try container.encode(Kind.decimal)
      try container.encode(DecimalText.text(of: value))
    case .date(let seconds):
      try container.encode(Kind.date)
      try container.encode("\(seconds.bitPattern)")
    case .text(let text):
      try container.encode(Kind.text)
      try container.encode(text)
    case .uuid(let bytes):
      try container.encode(Kind.uuid)
      try container.encode(bytes)
    case .data(let bytes):
      try container.encode(Kind.data)
      try container.encode(bytes)
    case .reference(let identity):
      try container.encode(Kind.reference)
      try container.encode("\(identity.tag)")
      try container.encode(identity.identifier.bytes)
    }
  }

  package init(from decoder: any Decoder) throws {
    var container = try decoder.unkeyedContainer()
    let kind = try container.decode(Kind.self)
    func number<N>(_ number: N?) throws -> N {
      if let number { return number }
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "It is no \(kind.rawValue).")
    }
    switch kind {
    case .null: self = .null
    case .bool: self = .bool(try container.decode(Bool.self))
    case .integer: self = .number(.integer(try number(Int64(container.decode(String.self)))))
    case .double:
      self = .number(.double(Double(bitPattern: try number(UInt64(container.decode(String.self))))))
    case .wide:
      let text = try container.decode(String.self)
      self = .number(
        text.hasPrefix("-") ? FieldNumber(try number(Int128(text))) : FieldNumber(try number(UInt128(text))))
    case .decimal: self = .number(.decimal(try number(DecimalText.number(container.decode(String.self)))))
    case .date: self = .date(Double(bitPattern: try number(UInt64(container.decode(String.self)))))
    case .text: self = .text(try container.decode(String.self))
    case .uuid: self = .uuid(try container.decode([UInt8].self))
    case .data: self = .data(try container.decode([UInt8].self))
    case .reference:
      let tag = try number(UInt64(container.decode(String.self)))
      let identifier = Identifier(bytes: try container.decode([UInt8].self))
      self = .reference(RecordIdentity(tag: tag, identifier: try number(identifier)))
    }
  }
}
