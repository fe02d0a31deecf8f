import Foundation
import Testing

@testable import GarageStorage

/// Types that write an empty value where they have none, and read none again. That is found out although no object has one yet.
@Suite struct EmptyValueTests {
  struct Patient: Codable, Identifiable, Equatable {
    var id: Int
    /// Nil is stored as an empty text.
    var number: String?
    /// Nil is stored as 0, and as -1.
    var floor: Int?
    var bed: Int8?
    /// Nil is stored as a date that is none.
    var discharged: Date?
    var photo: Data?
    var weight: Double?
    /// An empty one is read as another.
    var name: String
    /// As they are.
    var ward: String?
    var age: Int?

    enum CodingKeys: CodingKey { case id, number, floor, bed, discharged, photo, weight, name, ward, age }

    init(_ id: Int, _ value: Int?) {
      self.id = id
      number = value.map { "\($0)" }
      floor = value
      bed = value.map { Int8($0) }
      discharged = value.map { Date(timeIntervalSinceReferenceDate: Double($0)) }
      photo = value.map { Data([UInt8($0)]) }
      weight = value.map { Double($0) }
      name = value.map { "\($0)" } ?? "Unnamed"
      ward = value.map { "\($0)" } ?? ""
      age = value ?? 0
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(Int.self, forKey: .id)
      let number = try container.decode(String.self, forKey: .number)
      self.number = number.isEmpty ? nil : number
      let floor = try container.decode(Int.self, forKey: .floor)
      self.floor = floor == 0 ? nil : floor
      let bed = try container.decode(Int8.self, forKey: .bed)
      self.bed = bed < 0 ? nil : bed
      let discharged = try container.decode(Date.self, forKey: .discharged)
      self.discharged = discharged == .distantPast ? nil : discharged
      let photo = try container.decode(Data.self, forKey: .photo)
      self.photo = photo.isEmpty ? nil : photo
      let weight = try container.decode(Double.self, forKey: .weight)
      self.weight = weight == 0 ? nil : weight
      let name = try container.decode(String.self, forKey: .name)
      self.name = name.isEmpty ? "Unnamed" : name
      ward = try container.decodeIfPresent(String.self, forKey: .ward)
      age = try container.decodeIfPresent(Int.self, forKey: .age)
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(id, forKey: .id)
      try container.encode(number ?? "", forKey: .number)
      try container.encode(floor ?? 0, forKey: .floor)
      try container.encode(bed ?? -1, forKey: .bed)
      try container.encode(discharged ?? .distantPast, forKey: .discharged)
      try container.encode(photo ?? Data(), forKey: .photo)
      try container.encode(weight ?? 0, forKey: .weight)
      try container.encode(name == "Unnamed" ? "" : name, forKey: .name)
      try container.encodeIfPresent(ward, forKey: .ward)
      try container.encodeIfPresent(age, forKey: .age)
    }
  }

  @Test(arguments: Backend.allCases)
  func anEmptyValueIsNone(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let query = garage.query(Patient.self)
    var patients = (1...20).map { Patient($0, $0) }
    try garage.parkAll(patients)
    func check(_ hint: Comment) throws {
      func expect(_ condition: Condition<Patient>, _ holds: (Patient) -> Bool) throws {
        #expect(try query.where(condition).values(\.id) == patients.filter(holds).map(\.id), hint)
      }
      try expect(\.number == nil) { $0.number == nil }
      try expect(\.number == "3") { $0.number == "3" }
      try expect(\.number == "") { $0.number == "" }
      try expect(\.floor == nil) { $0.floor == nil }
      try expect(\.floor == 0) { $0.floor == 0 }
      try expect(\.bed == nil) { $0.bed == nil }
      try expect(\.discharged == nil) { $0.discharged == nil }
      try expect(\.photo == nil) { $0.photo == nil }
      try expect(\.weight == nil) { $0.weight == nil }
      try expect(\.name == "Unnamed") { $0.name == "Unnamed" }
      try expect(\.name == "") { $0.name == "" }
      try expect(\.ward == "") { $0.ward == "" }
      try expect(\.age == 0) { $0.age == 0 }
      #expect(try query.values(\.number) == patients.map(\.number), hint)
      #expect(try query.values(\.floor) == patients.map(\.floor), hint)
      #expect(try query.values(\.name) == patients.map(\.name), hint)
      #expect(
        try query.sorted(by: \.bed).values(\.bed).first
          == (patients.contains { $0.bed == nil } ? .some(nil) : 1))
    }
    try check("before")
    let empty = (21...24).map { Patient($0, nil) }
    try garage.parkAll(empty)
    patients += empty
    try check("after")
    // What stands there as it is is read from there all the same.
    for condition in [\Patient.ward == "3", \Patient.age == 3] as [Condition<Patient>] {
      #expect(try !query.where(condition).explain().description.contains("decodes"))
    }
  }

  struct Label: Codable, Identifiable, Indexed {
    var id: Int
    var code: String?
    static var indexes: [Index<Label>] { [Index(\.code, .unique)] }

    enum CodingKeys: CodingKey { case id, code }
    init(id: Int, code: String?) { (self.id, self.code) = (id, code) }
    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(Int.self, forKey: .id)
      let code = try container.decode(String.self, forKey: .code)
      self.code = code.isEmpty ? nil : code
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(id, forKey: .id)
      try container.encode(code ?? "", forKey: .code)
    }
  }

  /// An index would hold empty texts, and two objects without a value would collide.
  @Test(arguments: Backend.allCases)
  func itHasNoIndex(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let error = #expect(throws: GarageError.self) { try garage.park(Label(id: 1, code: "a")) }
    #expect(error.map { "\($0)".contains("code") } == true, "\(String(describing: error))")
  }
}
