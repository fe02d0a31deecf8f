import Foundation

@testable import GarageStorage

/// An object with indexes of every form.
struct Fellow: Codable, Identifiable, Equatable, Indexed {
  struct Address: Codable, Equatable {
    var zip: String
  }

  var id: Int
  var email: String?
  var age = 0
  var lastName = "Doe"
  var firstName = "Jo"
  var shelf = 0
  var place: Int?
  var tags: [String] = []
  var address = Address(zip: "10115")

  static var indexes: [Index<Fellow>] {
    [
      Index(\.age), Index(\.email, .unique), Index(\.lastName, \.firstName), Index(\.shelf, \.place, .unique),
      Index(each: \.tags), Index("zip", \.address.zip), Index("any name", \.lastName, .caseInsensitive),
    ]
  }
}

extension Garage {
  /// Declares indexes of a type that declares none by itself, and makes them.
  func make<Root>(_ indexes: [Index<Root>]) throws {
    try indexing.declare(indexes)
    try buildIndexes()
  }
}

/// Indexes of every kind of property of a specimen.
func specimenIndexes(_ backend: Backend, _ random: inout SeededGenerator) -> [Index<Specimen>] {
  let open: [Index<Specimen>] = [
    Index(\.id, .readable), Index(\.age, .readable), Index(\.small, .readable), Index(\.huge, .readable),
    Index(\.weight, .readable), Index(\.ratio, .readable), Index(\.price, .readable),
    Index(\.name, .readable), Index("any", \.name, .caseInsensitive, .readable),
    Index(\.nickname, .readable), Index(\.isDone, .readable), Index(\.born, .readable),
    Index(\.seen, .readable), Index(\.token, .readable), Index(\.link, .readable), Index(\.blob, .readable),
    Index(\.state, .readable), Index(\.rank, .readable), Index(\.address.zip, .readable),
    Index(\.address.floor, .readable), Index("second", \.second?.zip, .readable),
    Index(each: \.tags, .readable), Index(each: \.marks, .readable),
    Index(\.owner, .readable), Index(\.isDone, \.age, .readable), Index(\.state, \.name, .readable),
    Index(\.address.floor, \.weight, \.name, .readable), Index(\.name, \.nickname, .readable),
    Index(\.seen, \.small, .readable),
  ]
  let hashed: [Index<Specimen>] = [
    Index(\.age, .hashed), Index(\.name, .hashed), Index(\.nickname, .hashed),
    Index(\.state, \.rank, .hashed),
    Index(each: \.tags, .hashed), Index(\.price, .hashed),
  ]
  let share = Int.random(in: 1...10, using: &random)
  return (open + hashed).filter { _ in Int.random(in: 0..<10, using: &random) < share }
}
