internal import Foundation
internal import GarageCoding

/// Reads dates as GarageStorage wrote them, and what else stands differently in its JSON.
final class LegacyDates: ForeignReading {
  private let strategy: JSONDecoder.DateDecodingStrategy?

  /// - Parameter strategy: that of the app; nil where it had none of its own.
  init(_ strategy: JSONDecoder.DateDecodingStrategy?) { self.strategy = strategy }

  func date(text: String) throws -> Date {
    if strategy != nil { return try decode(JSONEncoder().encode([text])) }
    if let date = ForeignDate.date(text) { return date }
    throw noDate("\"\(text)\"")
  }

  func date(number: Double) throws -> Date {
    if strategy != nil { return try decode(JSONEncoder().encode([number])) }
    throw noDate("\(number)")
  }

  private func noDate(_ value: String) -> DecodingError {
    DecodingError.dataCorrupted(
      DecodingError.Context(
        codingPath: [],
        debugDescription: """
          \(value) is no date in GarageStorage's form, yyyy-MM-dd'T'HH:mm:ssZZZZZ. If the app had another \
          strategy, set the importer's dateDecodingStrategy.
          """))
  }

  /// Foundation's decoder knows its strategies best, those that are closures included.
  private func decode(_ json: Data) throws -> Date {
    let decoder = JSONDecoder()
    if let strategy { decoder.dateDecodingStrategy = strategy }
    return try decoder.decode([Date].self, from: json)[0]
  }
}
