import Foundation

/// The object that everything is measured with: 12-character id, address of three strings, three dates, three
/// tags, one and two references. Peers know no references, so all of them hold identifiers.
struct Person: Codable, Identifiable, Equatable, Sendable {
  var id: String
  var name: String
  var age: Int
  var birthdate: Date
  var address: Address
  var dates: [Date]
  var tags: [String]
  var partner: String
  var friends: [String]
}

struct Address: Codable, Equatable, Sendable {
  var street: String
  var city: String
  var country: String
}

extension Person {
  /// `count` people in the order of their identifiers, the same in every run; other ones for another seed.
  ///
  /// - Parameter batch: a number below 36⁴ that the identifiers begin with, so that those of a later batch
  ///   come after those of earlier ones.
  static func make(_ count: Int, seed: UInt64, batch: Int? = nil) -> [Person] {
    var random = SplitMix(state: seed)
    let beginning = batch.map { batch in
      [46656, 1296, 36, 1].map { letters[batch / $0 % 36] }
    }
    let ids = Set((0..<count).map { _ in identifier(beginning ?? [], &random) }).sorted()
    precondition(ids.count == count, "two identifiers of a sample are equal")
    return ids.map { make($0, ids, &random) }
  }

  private static func make(_ id: String, _ ids: [String], _ random: inout SplitMix) -> Person {
    // Eighths of a second: every coder here keeps them exactly.
    func date() -> Date {
      Date(
        timeIntervalSinceReferenceDate: Double(Int.random(in: -7_000_000_000...7_000_000_000, using: &random))
          / 8)
    }
    func friend() -> String { ids.randomElement(using: &random)! }
    return Person(
      id: id,
      name: "\(firstNames.randomElement(using: &random)!) \(lastNames.randomElement(using: &random)!)",
      age: Int.random(in: 18...99, using: &random), birthdate: date(),
      address: Address(
        street: "\(Int.random(in: 1...99, using: &random)) \(streets.randomElement(using: &random)!)",
        city: cities.randomElement(using: &random)!, country: countries.randomElement(using: &random)!),
      dates: [date(), date(), date()],
      tags: (0..<3).map { _ in tags.randomElement(using: &random)! },
      partner: friend(), friends: [friend(), friend()])
  }

  private static func identifier(_ beginning: [UInt8], _ random: inout SplitMix) -> String {
    let rest = (beginning.count..<12).map { _ in letters.randomElement(using: &random)! }
    return String(decoding: beginning + rest, as: UTF8.self)
  }

  private static let letters = Array("0123456789abcdefghijklmnopqrstuvwxyz".utf8)
  private static let firstNames = [
    "Sam", "Rosie", "Frodo", "Meriadoc", "Peregrin", "Éowyn", "Arwen", "Bilbo",
  ]
  private static let lastNames = ["Gamgee", "Cotton", "Baggins", "Brandybuck", "Took", "Maggot", "Proudfoot"]
  private static let streets = [
    "Bagshot Row", "Hill Lane", "Water Street", "South Farthing", "Green Dragon Way",
  ]
  private static let cities = ["Hobbiton", "Bywater", "Michel Delving", "Bree", "Minas Tirith", "Edoras"]
  private static let countries = ["Shire", "Gondor", "Rohan", "Eriador"]
  private static let tags = ["gardener", "mayor", "ring-bearer", "traveller", "cook", "writer", "farmer"]
}

/// SplitMix64 (Steele, Lea, Flood 2014): the same numbers in every run.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
