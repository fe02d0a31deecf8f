import GarageStorage
import Testing

/// Anonymous mapped objects that an attempt has read that failed afterwards are nobody's: what is wrong with the objects that
/// they would hold is not told.
@Suite struct AbandonedMappedTests {
  private struct Sailor: Codable, Identifiable, Equatable {
    var id: Int
    var name: String
  }
  private struct Dog: Codable, Identifiable, Equatable {
    var id: Int
    var legs: Int
  }

  private final class Boat: MappableObject {
    var captain = Sailor(id: 0, name: "")
    var crew: [Sailor] = []
    var mate: Sailor?
    var masts = 0
    init() {}
    convenience init(_ captain: Sailor, _ masts: Int) {
      self.init()
      (self.captain, crew, mate, self.masts) = (captain, [captain], captain, masts)
    }
    static var objectMapping: ObjectMapping {
      let mapping = ObjectMapping(for: Boat.self)
      mapping.add("captain", \Boat.captain)
      mapping.add("crew", \Boat.crew)
      mapping.add("mate", \Boat.mate)
      mapping.add("masts", \Boat.masts)
      return mapping
    }
  }

  /// Has the keys of a boat, other objects, and another `masts`.
  private struct Kennel: Codable, Equatable {
    var captain: Dog
    var crew: [Dog]
    var mate: Dog?
    var masts: String
    init(_ dog: Dog) { (captain, crew, mate, masts) = (dog, [dog], dog, "none") }
  }

  /// The attempt fails within the boat.
  private enum Berth: Codable {
    case boat(Boat)
    case kennel(Kennel)
    init(from decoder: any Decoder) throws {
      if let boat = try? Boat(from: decoder) {
        self = .boat(boat)
      } else {
        self = .kennel(try Kennel(from: decoder))
      }
    }
    func encode(to encoder: any Encoder) throws {
      switch self {
      case .boat(let boat): try boat.encode(to: encoder)
      case .kennel(let kennel): try kennel.encode(to: encoder)
      }
    }
  }

  /// Has the keys of a boat with other objects, and none that a boat would refuse.
  private struct Shed: Codable, Equatable {
    var captain: Dog
    var crew: [Dog]
  }
  private struct Moored: Codable {
    var inside: Boat
    var length: Int
  }
  private struct Built: Codable, Equatable {
    var inside: Shed
    var length: String
  }

  /// The attempt fails behind the boat.
  private enum Site: Codable {
    case moored(Moored)
    case built(Built)
    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let moored = try? container.decode(Moored.self) {
        self = .moored(moored)
      } else {
        self = .built(try container.decode(Built.self))
      }
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      switch self {
      case .moored(let moored): try container.encode(moored)
      case .built(let built): try container.encode(built)
      }
    }
  }

  private struct Harbour: Codable, Identifiable {
    var id: Int
    var berths: [Berth]
    var sites: [Site]
  }

  private let sailor = Sailor(id: 3, name: "Sam")
  private let dog = Dog(id: 1, legs: 4)

  private func harbour(_ id: Int) -> Harbour {
    let kennel = Berth.kennel(Kennel(dog))
    let built = Site.built(Built(inside: Shed(captain: dog, crew: [dog]), length: "long"))
    let moored = Site.moored(Moored(inside: Boat(sailor, 2), length: 9))
    return Harbour(
      id: id, berths: [kennel, .boat(Boat(sailor, 1)), kennel], sites: [built, moored, built])
  }

  private func check(_ harbour: Harbour?, _ location: SourceLocation = #_sourceLocation) {
    guard let harbour, harbour.berths.count == 3, harbour.sites.count == 3,
      case .kennel(let first) = harbour.berths[0], case .boat(let boat) = harbour.berths[1],
      case .kennel(let last) = harbour.berths[2], case .built(let built) = harbour.sites[0],
      case .moored(let moored) = harbour.sites[1], case .built = harbour.sites[2]
    else {
      Issue.record("another case", sourceLocation: location)
      return
    }
    #expect(first == Kennel(dog) && last == first && built.length == "long", sourceLocation: location)
    for found in [boat, moored.inside] {
      #expect(
        found.captain == sailor && found.crew == [sailor] && found.mate == sailor, sourceLocation: location)
    }
  }

  @Test(arguments: Backend.allCases)
  func theNextAttemptIsRead(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    try garage.parkAll((1...20).map(harbour))
    try garage.close()
    garage = try place.garage()
    check(try garage.retrieve(Harbour.self, identifier: 7))
    let all = try garage.retrieveAll(Harbour.self)
    #expect(all.count == 20)
    for found in all { check(found) }
  }

  /// Who still has the boat gets the error.
  @Test(arguments: Backend.allCases)
  func whatIsKeptIsMissed(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.park(Harbour(id: 1, berths: [.boat(Boat(sailor, 1))], sites: []))
    try garage.delete(sailor)
    #expect(throws: DecodingError.self) { try garage.retrieve(Harbour.self, identifier: 1) }
  }
}
