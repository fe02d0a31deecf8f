import Testing

@testable import GarageStorage

/// Unique indexes in hierarchies of classes: they hold in the class that declares them and below.
@Suite struct ClassIndexTests {
  private static let open = Backend.allCases.filter { !$0.isSealed }

  private func isTaken(_ body: () throws -> Void) -> Bool {
    do {
      try body()
      return false
    } catch GarageError.notUnique {
      return true
    } catch {
      Issue.record(error)
      return false
    }
  }

  /// What stands under the same key in another class is none of the index's business.
  @Test(arguments: open, [true, false])
  func siblingsShareNothing(_ backend: Backend, isAutosaved: Bool) throws {
    let garage = try Place(backend).garage([Lorry.self, HeavyLorry.self, Trailer.self])
    garage.isAutosaveEnabled = isAutosaved
    try garage.park(Lorry(1, plate: "A"))
    try garage.park(Trailer(2, plate: "A"))
    try garage.parkAll([Trailer(3, plate: "B"), Trailer(4, plate: "B")])
    try garage.park(Lorry(5, plate: "B"))
    #expect(isTaken { try garage.park(Lorry(6, plate: "A")) })
    #expect(isTaken { try garage.parkAll([Lorry(6, plate: "C"), Lorry(7, plate: "C")]) })
    // Subclasses of the class belong to it.
    #expect(isTaken { try garage.park(HeavyLorry(6, plate: "A")) })
    try garage.park(HeavyLorry(6, plate: "C"))
    #expect(isTaken { try garage.park(Lorry(7, plate: "C")) })
    try garage.save()
    try garage.buildIndexes()
    #expect(try garage.query(Lorry.self).where(\.plate == "A").values(\.id) == [1])
    #expect(try garage.query(Lorry.self).where(\.plate == "C").values(\.id) == [6])
    #expect(try garage.query(Lorry.self).where(\.plate == "A").explain().indexes == ["plate"])
    #expect(try garage.verifyIndexes().isSound)
  }

  /// Many that have the value and do not count hide none that does.
  @Test(arguments: open)
  func manySiblingsHideNobody(_ backend: Backend) throws {
    let garage = try Place(backend).garage([Lorry.self, HeavyLorry.self, Trailer.self])
    try garage.park(Lorry(100, plate: "A"))
    try garage.parkAll((0..<40).map { Trailer($0, plate: "A") })
    #expect(isTaken { try garage.park(Lorry(200, plate: "A")) })
    #expect(isTaken { try garage.parkAll((200..<240).map { Lorry($0, plate: $0 == 220 ? "A" : "\($0)") }) })
    #expect(try garage.count(Lorry.self) == 1)
  }

  /// A garage that has not met the class keeps to it all the same: the definition says which one it is.
  @Test(arguments: open)
  func whoDoesNotKnowTheClassKeepsToIt(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try place.garage([Lorry.self])
    try garage.park(Lorry(1, plate: "A"))
    let other = try place.garage()
    try other.parkAll([Trailer(2, plate: "A"), Trailer(3, plate: "A")])
    #expect(isTaken { try other.park(Lorry(4, plate: "A")) })
  }

  /// Each class may declare it for itself, and both are kept.
  @Test(arguments: open)
  func eachClassHasItsOwn(_ backend: Backend) throws {
    let garage = try Place(backend).garage([Lorry.self, Cart.self])
    try garage.park(Lorry(1, plate: "A"))
    try garage.park(Cart(2, plate: "A"))
    #expect(isTaken { try garage.park(Lorry(3, plate: "A")) })
    #expect(isTaken { try garage.park(Cart(3, plate: "A")) })
    try garage.buildIndexes()
    #expect(try garage.indexes(of: Cart.self).count { $0.isUnique } == 1)
    try garage.dropIndex("plate", of: Lorry.self)
    #expect(try garage.indexes(of: Lorry.self).isEmpty)
    #expect(isTaken { try garage.park(Cart(3, plate: "A")) })
    try garage.park(Lorry(3, plate: "A"))
  }

  /// Objects that were there before the index are compared by class, too.
  @Test(arguments: open)
  func siblingsThatWereThere(_ backend: Backend) throws {
    let garage = try Place(backend).garage([Vehicle.self, Trailer.self])
    try garage.parkAll([Trailer(1, plate: "A"), Trailer(2, plate: "A"), Trailer(3, plate: "B")])
    try garage.park(Lorry(4, plate: "A"))
    try garage.buildIndexes()
    #expect(try garage.indexes(of: Lorry.self).map(\.state) == [.ready])
    #expect(isTaken { try garage.park(Lorry(5, plate: "A")) })
  }

  /// A subclass that keeps its superclass elsewhere would have entries without the values.
  @Test(arguments: open)
  func aSuperclassElsewhereIsRefused(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.park(StockedArticle(1, sku: "A"))
    func expectInvalid(_ body: () throws -> Void) {
      let error = #expect(throws: GarageError.self) { try body() }
      guard case .invalidIndex(let type, let index, let reason)? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(type == "Boxed" && index == "sku" && reason.contains("super.sku"), "\(reason)")
    }
    expectInvalid { try garage.park(Boxed(2, sku: "A")) }
    expectInvalid { try garage.park(Boxed(2, sku: "B")) }
    #expect(try garage.count(StockedArticle.self) == 1)
    #expect(try garage.query(StockedArticle.self).where(\.sku == "A").values(\.id) == [1])
    let told = try Place(backend).garage([StockedArticle.self, Boxed.self])
    expectInvalid { try told.buildIndexes() }
    // Where it is kept beside the subclass's own it counts.
    try garage.park(Wrapped(2, sku: "C"))
    #expect(isTaken { try garage.park(Wrapped(3, sku: "A")) })
    #expect(isTaken { try garage.park(StockedArticle(3, sku: "C")) })
  }

  /// Objects of another version have their values in no index that is of this one, so that nobody would see it.
  @Test(arguments: open)
  func subclassOfAnotherVersionDoesNotEscape(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.park(RatedArticle(1, sku: "A"))
    let error = #expect(throws: GarageError.self) { try garage.park(RevisedArticle(2, sku: "A")) }
    guard case .invalidIndex(let type, let index, let reason)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(type == "RevisedArticle" && index == "sku" && reason.contains("version 2"), "\(reason)")
    #expect(try garage.query(RatedArticle.self).where(\.sku == "A").values(\.id) == [1])
    // One of the same version counts.
    try garage.park(RenamedArticle(2, sku: "B"))
    #expect(isTaken { try garage.park(RenamedArticle(3, sku: "A")) })
  }
}

private class RatedArticle: Codable, Identifiable, Indexed, Evolving {
  typealias IndexedType = RatedArticle
  let id: Int
  var sku: String
  static var indexes: [Index<RatedArticle>] { [Index(\.sku, .unique)] }
  class var version: Int { 1 }
  init(_ id: Int, sku: String) { (self.id, self.sku) = (id, sku) }
}

private final class RevisedArticle: RatedArticle {
  override class var version: Int { 2 }
}

private final class RenamedArticle: RatedArticle {}

private class Vehicle: Codable, Identifiable {
  let id: Int
  init(_ id: Int) { self.id = id }
}

private class Lorry: Vehicle, Indexed {
  typealias IndexedType = Lorry
  var plate: String
  static var indexes: [Index<Lorry>] { [Index(\.plate, .unique)] }

  private enum CodingKeys: CodingKey { case plate }
  init(_ id: Int, plate: String) {
    self.plate = plate
    super.init(id)
  }
  required init(from decoder: any Decoder) throws {
    plate = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .plate)
    try super.init(from: decoder)
  }
  override func encode(to encoder: any Encoder) throws {
    try super.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(plate, forKey: .plate)
  }
}

private final class HeavyLorry: Lorry {}

/// Bears the plate of the lorry before it.
private final class Trailer: Vehicle {
  var plate: String

  private enum CodingKeys: CodingKey { case plate }
  init(_ id: Int, plate: String) {
    self.plate = plate
    super.init(id)
  }
  required init(from decoder: any Decoder) throws {
    plate = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .plate)
    try super.init(from: decoder)
  }
  override func encode(to encoder: any Encoder) throws {
    try super.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(plate, forKey: .plate)
  }
}

private final class Cart: Vehicle, Indexed {
  var plate: String
  static var indexes: [Index<Cart>] { [Index(\.plate, .unique)] }

  private enum CodingKeys: CodingKey { case plate }
  init(_ id: Int, plate: String) {
    self.plate = plate
    super.init(id)
  }
  required init(from decoder: any Decoder) throws {
    plate = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .plate)
    try super.init(from: decoder)
  }
  override func encode(to encoder: any Encoder) throws {
    try super.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(plate, forKey: .plate)
  }
}

private class StockedArticle: Codable, Identifiable, Indexed {
  typealias IndexedType = StockedArticle
  let id: Int
  var sku: String
  static var indexes: [Index<StockedArticle>] { [Index(\.sku, .unique)] }
  init(_ id: Int, sku: String) { (self.id, self.sku) = (id, sku) }
}

private final class Boxed: StockedArticle {
  var count = 1

  private enum CodingKeys: CodingKey { case count }
  override init(_ id: Int, sku: String) { super.init(id, sku: sku) }
  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    count = try container.decode(Int.self, forKey: .count)
    try super.init(from: container.superDecoder())
  }
  override func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(count, forKey: .count)
    try super.encode(to: container.superEncoder())
  }
}

private final class Wrapped: StockedArticle {
  var count = 1

  private enum CodingKeys: CodingKey { case count }
  override init(_ id: Int, sku: String) { super.init(id, sku: sku) }
  required init(from decoder: any Decoder) throws {
    count = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .count)
    try super.init(from: decoder)
  }
  override func encode(to encoder: any Encoder) throws {
    try super.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(count, forKey: .count)
  }
}
