internal import Foundation
internal import GarageCoding

/// Reads dates as GarageStorage wrote them, and other values that its JSON has in another form.
final class LegacyDates: ForeignReading {
  private let strategy: JSONDecoder.DateDecodingStrategy?

  /// - Parameter strategy: the app's own strategy; nil if it had none.
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

  /// Decodes with Foundation's decoder, which handles all strategies, including closures.
  private func decode(_ json: Data) throws -> Date {
    let decoder = JSONDecoder()
    if let strategy { decoder.dateDecodingStrategy = strategy }
    return try decoder.decode([Date].self, from: json)[0]
  }
}
