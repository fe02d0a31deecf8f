#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

// Dates in other forms than a garage's own, which keeps them exactly. The strategies are those of
// Foundation's JSON coders; what they write is what these write, as values of a body.
//
// Writing branches once for each date where there is no strategy, and reading not at all: a date in the
// garage's own form is read at once, whatever the strategy. What identifies something is always exact:
// identifiers and digests never come here, keys of dictionaries turn the strategy off, and a date that is in
// the identifier of its record keeps its own form, so that the object has the same `id` when it comes back.

/// How dates are encoded: one of the strategies of `JSONEncoder`.
public typealias DateEncodingStrategy = JSONEncoder.DateEncodingStrategy

/// How dates are decoded: one of the strategies of `JSONDecoder`.
public typealias DateDecodingStrategy = JSONDecoder.DateDecodingStrategy

// MARK: - Writing

extension EncodingCore {
  /// Makes dates be written by a strategy, until the graph is done.
  func setDateStrategy(_ strategy: DateEncodingStrategy) {
    if case .deferredToDate = strategy { return }
    dateStrategy = strategy
    state.hasDateStrategy = true
  }
}

extension EncoderPointer {
  /// Writes a date where there is a strategy for it.
  func write(byStrategy date: Date) throws {
    let core = core
    guard hasDateStrategy, !core.isInIdentifier(date) else {
      return write(date: date.timeIntervalSinceReferenceDate)
    }
    switch core.dateStrategy {
    case .secondsSince1970: write(date.timeIntervalSince1970)
    case .millisecondsSince1970: write(1000 * date.timeIntervalSince1970)
    case .iso8601: try write(date.formatted(Date.ISO8601FormatStyle()))
    case .custom(let encode):
      // What the closure encodes as a date is one: nothing comes back here without an end.
      try withExactDates {
        try withFrame { serial in try encode(date, ValueEncoder(state: self, serial: serial)) }
      }
    #if canImport(Darwin)
      case .formatted(let formatter): try write(formatter.string(from: date))
    #endif
    default: write(date: date.timeIntervalSinceReferenceDate)
    }
  }

  /// Runs `body`, which writes dates in their own form.
  func withExactDates<R>(_ body: () throws -> R) rethrows -> R {
    let before = hasDateStrategy
    hasDateStrategy = false
    defer { hasDateStrategy = before }
    return try body()
  }
}

extension EncodingCore {
  /// Whether the identifier of the record under construction holds this date. To find the same eight bytes
  /// there by chance does no harm: a date in its own form is read under every strategy.
  fileprivate func isInIdentifier(_ date: Date) -> Bool {
    guard let entry = currentEntry else { return false }
    var writer = IdentifierWriter()
    writer.write(date: date)
    let exact = state.canonical(date.timeIntervalSinceReferenceDate).bitPattern.littleEndian
    let identifier = graph.pointee.identities.identifier(of: entry)
    // By itself, in the order of keys; or somewhere in a canonical body.
    if compareBytes(identifier, writer.bytes) == 0 { return true }
    guard identifier.first == IdentifierKind.canonical.rawValue, identifier.count > 8 else { return false }
    return (0...(identifier.count - 8)).contains {
      identifier.loadUnaligned(fromByteOffset: $0, as: UInt64.self) == exact
    }
  }
}

// MARK: - Reading

extension DecoderPointer {
  /// Reads a date that is not in its own form.
  @inline(never)
  func readDateByStrategy() throws -> Date {
    if foreign != nil { return try readForeignDate() }
    switch core.dateStrategy {
    case .secondsSince1970: return Date(timeIntervalSince1970: try readNumber())
    case .millisecondsSince1970: return Date(timeIntervalSince1970: try readNumber() / 1000)
    case .iso8601: return try readFormatted("an ISO 8601 date") { try? Date.ISO8601FormatStyle().parse($0) }
    case .custom(let decode): return try readDate(decode)
    #if canImport(Darwin)
      case .formatted(let formatter):
        return try readFormatted("a date in the format of the formatter") { formatter.date(from: $0) }
    #endif
    default:
      // A property wrapper, say, may have called the date's own `encode(to:)`, and asks for it as its single value.
      if frame.kind == .value, frame.serial != 0, cursor == frame.start, try tag() == BodyTag.double {
        return Date(timeIntervalSinceReferenceDate: try readDouble())
      }
      throw DecodingError.dataCorrupted(
        DecodingError.Context(
          codingPath: childPath,
          debugDescription: "A Date was expected, but \(describe(try tag())) was found."))
    }
  }

  private func readNumber() throws -> Double {
    switch try tag() {
    case BodyTag.int8...BodyTag.double, BodyTag.decimal, BodyTag.smallInteger..<BodyTag.shortString:
      return try readDouble()
    default: throw noDate("a number")
    }
  }

  private func readFormatted(_ expected: String, _ parse: (String) -> Date?) throws -> Date {
    switch try tag() {
    case BodyTag.string8, BodyTag.string32, BodyTag.shortString..<BodyTag.smallReference: break
    default: throw noDate(expected)
    }
    let text = try readString()
    if let date = parse(text) { return date }
    throw DecodingError.dataCorrupted(
      DecodingError.Context(
        codingPath: childPath,
        debugDescription: "A Date was expected as \(expected), but \"\(text)\" is none."))
  }

  private func readDate(_ decode: (any Decoder) throws -> Date) throws -> Date {
    let path = childPath
    do {
      return try withFrame { serial in try decode(ValueDecoder(state: self, serial: serial)) }
    } catch DecodingError.typeMismatch(let type, let context) {
      // `formatted` is such a closure in Foundation for Linux.
      throw DecodingError.dataCorrupted(
        DecodingError.Context(
          codingPath: path,
          debugDescription: "A Date was expected as the strategy has it. \(context.debugDescription)",
          underlyingError: DecodingError.typeMismatch(type, context)))
    }
  }

  private func noDate(_ expected: String) -> any Error {
    let tag = (try? tag()) ?? BodyTag.absent
    return DecodingError.dataCorrupted(
      DecodingError.Context(
        codingPath: childPath,
        debugDescription: """
          A Date was expected as \(expected), but \(describe(tag)) was found. Read it with the strategy that it \
          was parked with.
          """))
  }
}
