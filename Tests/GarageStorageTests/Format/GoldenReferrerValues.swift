import Foundation
import GarageDriver
import Testing

@testable import GarageStorage

// The index of references: rows of golden values, with entries of every form.

/// Refers to others from a subclass, so that its entries have a tag of their own.
final class GoldenGuide: GoldenAnimal {
  override class var typeTag: String { "golden guide" }
  var person: Reference<GoldenPerson>?
  var long: [Reference<GoldenIdentity<String>>] = []
  enum CodingKeys: CodingKey { case person, long }

  override init(id: Int, name: String) { super.init(id: id, name: name) }
  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    person = try container.decodeIfPresent(Reference<GoldenPerson>.self, forKey: .person)
    long = try container.decode([Reference<GoldenIdentity<String>>].self, forKey: .long)
    try super.init(from: decoder)
  }
  override func encode(to encoder: any Encoder) throws {
    try super.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encodeIfPresent(person, forKey: .person)
    try container.encode(long, forKey: .long)
  }
}

private let longText = String(repeating: "long", count: 100)

private let guideJSON = """
  {"id":9,"name":"Argos","person":{"$reference":{"type":"golden person","id":"a"}},\
  "long":[{"$reference":{"type":"golden identity","id":"\(longText)"}}]}
  """

/// A person who refers to others in every way, and a guide who refers to him.
@Sendable private func parkReferrers(_ garage: Garage) throws {
  try garage.park(goldenPerson())
  let guide = GoldenGuide(id: 9, name: "Argos")
  guide.person = Reference(GoldenPerson.self, identifier: "a")
  guide.long = [Reference(GoldenIdentity<String>.self, identifier: longText)]
  try garage.park(guide)
}

@Sendable private func checkReferrers(_ garage: Garage) throws {
  func names(_ identities: [RecordIdentity]) -> [String] { identities.map(\.identifier.description).sorted() }
  let plan = try garage.explainReferrers()
  #expect(plan.indexes == ["referrers"])
  #expect(try names(garage.referrers(of: GoldenPerson.self, identifier: "a")) == ["9", "a"])
  #expect(try names(garage.referrers(of: GoldenPerson.self, identifier: "c")) == ["a"])
  #expect(try names(garage.referrers(of: GoldenPerson.self, identifier: "z")) == ["a"])
  #expect(try names(garage.referrers(of: GoldenAnimal.self, identifier: 7)) == ["a"])
  #expect(try names(garage.referrers(of: GoldenAddress(street: "Main", zip: 1))) == ["a"])
  #expect(try names(garage.referrers(of: GoldenIdentity<String>.self, identifier: longText)) == ["9"])
  #expect(try names(garage.referrers(of: GoldenPerson.self, identifier: "q")).isEmpty)
  let entries = try garage.referrerIndex()?.entries
  #expect(entries == 9)
  let report = try garage.verifyIndexes()
  #expect(report.isSound && report.entryCount == 9, "\(report)")
  let person = try garage.retrieve(GoldenPerson.self, identifier: "a")
  #expect(person.map { isSamePerson($0, goldenPerson()) } == true)
}

/// Puts a key in place of the random one that the index of references is hashed with.
private func fixHashKey(_ garage: Garage) throws {
  try garage.buildIndexes()
  try garage.writeDirectly { transaction in
    var items = try #require(try garage.indexing.catalog(in: transaction)).items
    items[0].hashKey = (0..<32).map { UInt8(0xE0 + $0) }
    try garage.indexing.put(IndexCatalog(items), in: transaction)
  }
}

private func referrers(_ name: String, _ option: ReferrerOption, hidingKey: [UInt8]? = nil) -> GoldenValue {
  var row = GoldenValue(
    name: name,
    park: { garage in
      if option == .hashed { try fixHashKey(garage) }
      try parkReferrers(garage)
    }, check: checkReferrers, json: { guideJSON }, tag: "golden guide")
  row.types = [GoldenDog.self, GoldenGuide.self]
  row.referrers = option
  row.hidingKey = hidingKey
  return row
}

@GoldenRows var goldenReferrers: [GoldenValue] {
  referrers("index of references", .readable)
  referrers("hashed index of references", .hashed)
  referrers(
    "index of references beside hidden identifiers", .readable, hidingKey: (0..<32).map { UInt8(200 - $0) })
}
