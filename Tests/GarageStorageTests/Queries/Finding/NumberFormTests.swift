import Foundation
import GarageStorage
import Testing

/// Numbers that older objects hold in a form whose values the property's type has not: what is compared is the property, and not
/// what stands in the record.
@Suite struct NumberFormTests {
  private struct Older: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "price in another form" }
    var id: Int
    var amount: Double
    var share: Double
  }
  private struct Price: Codable, Identifiable, TypeTagged, Equatable {
    static var typeTag: String { "price in another form" }
    var id: Int
    var amount: Decimal
    var share: Float
  }
  private struct OlderIndexed: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "indexed price in another form" }
    var id: Int
    var amount: Double
    var share: Double
  }
  private struct IndexedPrice: Codable, Identifiable, TypeTagged, Equatable, Indexed {
    static var typeTag: String { "indexed price in another form" }
    static var indexes: [Index<IndexedPrice>] { [Index(\.amount), Index(\.share)] }
    var id: Int
    var amount: Decimal
    var share: Float
  }

  private func check<T: Codable & Identifiable & Equatable & SendableMetatype>(
    _ garage: Garage, _ type: T.Type, _ amount: KeyPath<T, Decimal>, _ share: KeyPath<T, Float>
  ) throws {
    let all = try garage.retrieveAll(T.self)
    #expect(all.count == 40)
    let query = garage.query(T.self)
    for object in all {
      let (wanted, part) = (object[keyPath: amount], object[keyPath: share])
      #expect(try query.where(amount == wanted).retrieveAll() == all.filter { $0[keyPath: amount] == wanted })
      #expect(try query.where(amount > wanted).count() == all.count { $0[keyPath: amount] > wanted })
      #expect(try query.where(share == part).count() == all.count { $0[keyPath: share] == part })
      #expect(try query.where(share <= part).count() == all.count { $0[keyPath: share] <= part })
    }
    #expect(try query.sorted(by: amount).values(amount) == all.map { $0[keyPath: amount] }.sorted())
    #expect(try query.max(share) == all.map { $0[keyPath: share] }.max())
  }

  @Test(arguments: Backend.engines.filter { !$0.isSealed })
  func areComparedAsWhatTheyAre(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let amounts = (0..<40).map { Double($0 % 20) / 10 }
    try garage.parkAll(amounts.indices.map { Older(id: $0, amount: amounts[$0], share: amounts[$0] / 3) })
    try check(garage, Price.self, \.amount, \.share)
    try garage.parkAll(
      amounts.indices.map { OlderIndexed(id: $0, amount: amounts[$0], share: amounts[$0] / 3) })
    try check(garage, IndexedPrice.self, \.amount, \.share)
  }
}
