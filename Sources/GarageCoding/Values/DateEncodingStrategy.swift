#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

// Dates in other forms than a garage's own, which is exact. The strategies are those of Foundation's JSON coders; they write
// the same values as these, as values of a body.
//
// Without a strategy, writing costs one branch for each date. Reading costs none: a date in the garage's own form is read at
// once, whatever the strategy is. Dates that identify something are always exact: identifiers and digests never come here, keys
// of dictionaries turn the strategy off, and a date in the identifier of its record keeps its own form, so that the object has
// the same `id` when it is read back.

/// How dates are encoded: one of the strategies of `JSONEncoder`.
public typealias DateEncodingStrategy = JSONEncoder.DateEncodingStrategy

/// How dates are decoded: one of the strategies of `JSONDecoder`.
public typealias DateDecodingStrategy = JSONDecoder.DateDecodingStrategy

// MARK: - Writing

extension EncodingCore {
  /// Lets a strategy write dates until the graph is done.
  func setDateStrategy(_ strategy: DateEncodingStrategy) {
    if case .deferredToDate = strategy { return }
    dateStrategy = strategy
    state.hasDateStrategy = true
  }
}

extension EncoderPointer {
  /// Writes a date by the strategy, if there is one for it.
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
      // If the closure encodes a date, that is written exactly: otherwise it would come back here without end.
      try withExactDates {
        try withFrame { serial in try encode(date, ValueEncoder(state: self, serial: serial)) }
      }
    #if canImport(Darwin)
      case .formatted(let formatter): try write(formatter.string(from: date))
    #endif
    default: write(date: date.timeIntervalSinceReferenceDate)
    }
  }

  /// Runs `body`, which then writes dates in their own form.
  func withExactDates<R>(_ body: () throws -> R) rethrows -> R {
    let before = hasDateStrategy
    hasDateStrategy = false
    defer { hasDateStrategy = before }
    return try body()
  }
}

extension EncodingCore {
  /// Whether the identifier of the record under construction holds this date. If the same eight bytes are found there by
  /// chance, that does no harm, because a date in its own form is read under every strategy.
  fileprivate func isInIdentifier(_ date: Date) -> Bool {
    guard let entry = currentEntry else { return false }
    var writer = IdentifierWriter()
    writer.write(date: date)
    let exact = state.canonical(date.timeIntervalSinceReferenceDate).bitPattern.littleEndian
    let identifier = graph.pointee.identities.identifier(of: entry)
    // The date may be the identifier, in the form of keys, or stand somewhere in a canonical body.
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
      // Another type, for instance a property wrapper, may have called the date's own `encode(to:)`, and now asks for the date
      // as its single value.
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
      // In Foundation for Linux `formatted` is such a closure.
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
