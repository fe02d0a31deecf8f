import Foundation
import GarageMemory
import Testing

@testable import GarageStorage

/// Types that take only what looks as they expect. Their fields are found all the same: with values of many forms, and where none
/// is taken with those of objects that are there.
@Suite struct ValidatingTypeTests {
  struct Refusal: Error { let text: String }

  /// Text that has to have a form.
  struct Mail: RawRepresentable, Codable, Hashable, Sendable {
    let rawValue: String
    init?(rawValue: String) {
      guard rawValue.wholeMatch(of: /[a-z.]+@[a-z.]+\.[a-z]+/) != nil else { return nil }
      self.rawValue = rawValue
    }
  }
  struct Version: Codable, Hashable, Sendable {
    var major: Int, minor: Int, patch: Int
    init(_ text: String) throws {
      let parts = text.split(separator: ".").compactMap { Int($0) }
      guard parts.count == 3 else { throw Refusal(text: text) }
      (major, minor, patch) = (parts[0], parts[1], parts[2])
    }
    init(from decoder: any Decoder) throws {
      try self.init(decoder.singleValueContainer().decode(String.self))
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode("\(major).\(minor).\(patch)")
    }
  }
  struct Percentage: Codable, Hashable, Sendable {
    var value: Double
    init(_ value: Double) throws {
      guard 0...1 ~= value else { throw Refusal(text: "\(value)") }
      self.value = value
    }
    init(from decoder: any Decoder) throws {
      try self.init(decoder.singleValueContainer().decode(Double.self))
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(value)
    }
  }
  struct Digest: Codable, Hashable, Sendable {
    var bytes: Data
    init(_ bytes: Data) throws {
      guard bytes.count == 32 else { throw Refusal(text: "\(bytes.count)") }
      self.bytes = bytes
    }
    init(from decoder: any Decoder) throws { try self.init(Data(from: decoder)) }
    func encode(to encoder: any Encoder) throws { try bytes.encode(to: encoder) }
  }
  struct Colour: Codable, Hashable, Sendable {
    var red: UInt8
    init(red: UInt8) { self.red = red }
    init(from decoder: any Decoder) throws {
      let text = try decoder.singleValueContainer().decode(String.self)
      guard text.count == 7, text.first == "#", let number = Int(text.dropFirst(), radix: 16) else {
        throw Refusal(text: text)
      }
      red = UInt8(number >> 16)
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      let digits = String(red, radix: 16)
      try container.encode("#" + (digits.count == 1 ? "0" : "") + digits + "0000")
    }
  }
  /// Of which nobody guesses what it takes.
  struct Codeword: Codable, Hashable, Sendable {
    var text: String
    init(_ text: String) { self.text = text }
    init(from decoder: any Decoder) throws {
      text = try decoder.singleValueContainer().decode(String.self)
      guard text.hasPrefix("xyzzy-") else { throw Refusal(text: text) }
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(text)
    }
  }
  /// Says by a name what it is.
  enum Figure: Codable, Hashable, Sendable {
    case circle(radius: Double), square(side: Double)

    private enum CodingKeys: String, CodingKey { case type, radius, side }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      switch try container.decode(String.self, forKey: .type) {
      case "circle": self = .circle(radius: try container.decode(Double.self, forKey: .radius))
      case "square": self = .square(side: try container.decode(Double.self, forKey: .side))
      case let other: throw Refusal(text: other)
      }
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      switch self {
      case .circle(let radius):
        try container.encode("circle", forKey: .type)
        try container.encode(radius, forKey: .radius)
      case .square(let side):
        try container.encode("square", forKey: .type)
        try container.encode(side, forKey: .side)
      }
    }
  }

  struct Item<Value: Codable & Sendable>: Codable, Identifiable, Sendable {
    var id: Int
    var total: Int
    var value: Value
    var name: String
    var note: String?
  }

  private func check<Value: Codable & Sendable>(_ values: Value...) throws {
    let garage = try Garage(MemoryStorage())
    let items = (0..<20).map {
      Item(
        id: $0, total: $0 * 3, value: values[$0 % values.count], name: "name \($0)",
        note: $0 % 2 == 0 ? nil : "n")
    }
    try garage.parkAll(items)
    let query = garage.query(Item<Value>.self)
    // Each by itself, as a sample is taken by the first that misses a field.
    #expect(try query.values(\.name).last == "name 19", "\(Value.self)")
    let found = query.where(\.total < 30 && \.name == .hasPrefix("name"))
    #expect(try found.count() == 10, "\(Value.self)")
    #expect(try !found.explain().description.contains("decodes"), "\(Value.self)")
    #expect(try query.where(\.note == nil).count() == 10, "\(Value.self)")
    #expect(try !query.where(\.note == nil).explain().description.contains("decodes"), "\(Value.self)")
    #expect(try query.sorted(by: \.total, .descending).limit(2).identifiers().count == 2, "\(Value.self)")
    #expect(try query.sum(\.total) == 570, "\(Value.self)")
    try garage.close()
  }

  @Test func valuesOfManyForms() throws {
    try check(try #require(Mail(rawValue: "sam@example.org")))
    try check(try Version("1.2.3"), try Version("4.5.6"))
    try check(try Percentage(0.5))
    try check(try Digest(Data(repeating: 7, count: 32)))
    try check(Colour(red: 3), Colour(red: 200))
    try check([try #require(Mail(rawValue: "sam@example.org"))], [])
    try check(Item(id: 1, total: 2, value: try Version("1.0.0"), name: "inner"))
    try check(["a": try Version("1.0.0")])
  }

  @Test func valuesOfObjectsThatAreThere() throws {
    try check(Codeword("xyzzy-1"), Codeword("xyzzy-2"))
    try check(Codeword("xyzzy-1"))
    try check(Figure.circle(radius: 2), .square(side: 3))
    try check(Item(id: 1, total: 2, value: Codeword("xyzzy-3"), name: "inner"))
    try check(Item(id: 1, total: 2, value: [Figure.square(side: 3)], name: "inner"))
    try check([try Version("1.0.0"): Codeword("xyzzy-1")])
  }

  /// Checks all that it reads, and one thing against another.
  struct Account: Codable, Identifiable, Equatable, Sendable {
    var id: Int
    var mail: String
    var code: String
    var age: Int
    var hour: Int
    var share: Double
    var latitude: Double
    var starts: Date
    var ends: Date
    var first: String
    var last: String
    var label: String
    var hourOrAge: Int
    /// Chosen by what is in it.
    var isGrown: Bool

    init(_ id: Int) {
      self.id = id
      (mail, code) = ("user\(id)@example.org", "xyzzy-\(id % 7)")
      (age, hour, share, latitude) = (id % 100, id % 24, Double(id % 11) / 10, Double(id % 181) - 90)
      starts = Date(timeIntervalSinceReferenceDate: Double(id * 100))
      ends = starts + Double(id % 10)
      (first, last) = ("f\(id % 5)", "l\(id % 3)")
      label = "\(first) \(last)"
      hourOrAge = id % 2 == 0 ? hour : age
      isGrown = age >= 18
    }

    private enum CodingKeys: CodingKey {
      case id, mail, code, age, hour, share, latitude, starts, ends, first, last, even
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(Int.self, forKey: .id)
      mail = try container.decode(String.self, forKey: .mail)
      code = try container.decode(String.self, forKey: .code)
      age = try container.decode(Int.self, forKey: .age)
      hour = try container.decode(Int.self, forKey: .hour)
      share = try container.decode(Double.self, forKey: .share)
      latitude = try container.decode(Double.self, forKey: .latitude)
      starts = try container.decode(Date.self, forKey: .starts)
      ends = try container.decode(Date.self, forKey: .ends)
      first = try container.decode(String.self, forKey: .first)
      last = try container.decode(String.self, forKey: .last)
      label = "\(first) \(last)"
      hourOrAge = try container.decode(Bool.self, forKey: .even) ? hour : age
      isGrown = age >= 18
      guard mail.contains("@"), code.hasPrefix("xyzzy-"), 0..<130 ~= age, 0..<24 ~= hour, 0...1 ~= share,
        -90...90 ~= latitude, starts <= ends
      else { throw Refusal(text: mail) }
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(id, forKey: .id)
      try container.encode(mail, forKey: .mail)
      try container.encode(code, forKey: .code)
      try container.encode(age, forKey: .age)
      try container.encode(hour, forKey: .hour)
      try container.encode(share, forKey: .share)
      try container.encode(latitude, forKey: .latitude)
      try container.encode(starts, forKey: .starts)
      try container.encode(ends, forKey: .ends)
      try container.encode(first, forKey: .first)
      try container.encode(last, forKey: .last)
      try container.encode(id % 2 == 0, forKey: .even)
    }
  }

  @Test(arguments: Backend.allCases)
  func allAtOnce(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let accounts = (0..<200).map(Account.init)
    try garage.parkAll(accounts)
    let query = garage.query(Account.self)
    func check(_ condition: Condition<Account>, decodes: Bool = false, _ holds: (Account) -> Bool) throws {
      #expect(try query.where(condition).retrieveAll() == accounts.filter(holds), "\(condition)")
      let plan = try query.where(condition).explain().description
      #expect(plan.contains("decodes") == decodes, "\(condition): \(plan)")
    }
    try check(\.mail == "user7@example.org") { $0.mail == "user7@example.org" }
    try check(\.code == "xyzzy-3") { $0.code == "xyzzy-3" }
    try check(\.age >= 90) { $0.age >= 90 }
    try check(\.hour == 23) { $0.hour == 23 }
    try check(\.share > 0.95) { $0.share > 0.95 }
    try check(\.latitude < -80) { $0.latitude < -80 }
    try check(\.starts < Date(timeIntervalSinceReferenceDate: 500)) {
      $0.starts < Date(timeIntervalSinceReferenceDate: 500)
    }
    try check(\.ends < Date(timeIntervalSinceReferenceDate: 500)) {
      $0.ends < Date(timeIntervalSinceReferenceDate: 500)
    }
    try check(\.first == "f2" && \.last == "l1") { $0.first == "f2" && $0.last == "l1" }
    // What is made of several, or of one in another form.
    try check(\.label == "f2 l1", decodes: true) { $0.label == "f2 l1" }
    try check(\.hourOrAge == 5, decodes: true) { $0.hourOrAge == 5 }
    try check(\.isGrown == false, decodes: true) { !$0.isGrown }
    #expect(try query.sorted(by: \.latitude).values(\.latitude) == accounts.map(\.latitude).sorted())
    #expect(try query.max(\.age) == 99)
  }

  final class Customer: Codable, Identifiable, Sendable {
    let id: Int
    let word: Codeword
    init(_ id: Int) { (self.id, word) = (id, Codeword("xyzzy-\(id)")) }
  }
  struct Invoice: Codable, Identifiable, Sendable {
    var id: Int
    var customer: Customer
    var total: Int
  }

  /// An object that it refers to is made up with it.
  @Test(arguments: Backend.allCases)
  func objectsThatAreReferredTo(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let customers = (0..<3).map(Customer.init)
    try garage.parkAll((0..<50).map { Invoice(id: $0, customer: customers[$0 % 3], total: $0) })
    let query = garage.query(Invoice.self).where(\.total >= 40)
    #expect(try query.count() == 10)
    #expect(try !query.explain().description.contains("decodes"))
    #expect(try garage.query(Invoice.self).where(\.customer.word == Codeword("xyzzy-1")).count() == 17)
  }

  struct Member: Codable, Identifiable, Indexed, Sendable {
    static var indexes: [Index<Member>] { [Index(\.age), Index(\.mail, .unique), Index("name", \.name)] }
    var id: Int
    var mail: Mail
    var age: Int
    var name: String
  }
  struct Agent: Codable, Identifiable, Indexed, Sendable {
    static var indexes: [Index<Agent>] { [Index("age", \.age)] }
    var id: Int
    var word: Codeword
    var age: Int
  }

  @Test(arguments: Backend.allCases)
  func indexes(_ backend: Backend) throws {
    if backend.isSealed { return }
    let garage = try Place(backend).garage()
    try garage.parkAll(
      try (0..<100).map {
        Member(
          id: $0, mail: try #require(Mail(rawValue: "user.\(String(repeating: "a", count: $0))@example.org")),
          age: $0 % 50, name: "n")
      })
    let members = garage.query(Member.self).where(\.age == 7)
    #expect(try members.identifiers().count == 2)
    #expect(try members.explain().indexes == ["age"])
    try garage.parkAll((0..<100).map { Agent(id: $0, word: Codeword("xyzzy-\($0)"), age: $0 % 50) })
    let agents = garage.query(Agent.self).where(\.age == 7)
    #expect(try agents.count() == 2)
    #expect(try agents.explain().indexes == ["age"])
  }

  private struct Envoy<Land: Sendable>: Codable, Identifiable, Indexed, Sendable {
    static var indexes: [Index<Envoy<Land>>] { [Index("age", \.age)] }
    var id: Int
    var word: Codeword
    var age: Int
  }

  /// What is known of a type is known to all threads: one that has not surveyed it yet must not make others miss its fields.
  @Test func indexesByManyThreads() throws {
    func useAtOnce<Land: Sendable>(_: Land.Type) throws {
      try Threads.run(8) { _ in
        let garage = try Place(.memory).garage()
        try garage.parkAll((0..<20).map { Envoy<Land>(id: $0, word: Codeword("xyzzy-\($0)"), age: $0 % 10) })
        let count = try garage.query(Envoy<Land>.self).where(\.age == 7).count()
        #expect(count == 2)
      }
    }
    // A type is met for the first time once.
    try useAtOnce(Int.self)
    try useAtOnce(Int8.self)
    try useAtOnce(Int16.self)
    try useAtOnce(Int32.self)
    try useAtOnce(UInt8.self)
    try useAtOnce(UInt16.self)
    try useAtOnce(Double.self)
    try useAtOnce(String.self)
  }

  final class Part: Codable, Identifiable, Sendable {
    let id: Int
    init(_ id: Int) { self.id = id }
  }
  struct Machine: Codable, Identifiable, DeleteRules, Sendable {
    static var owned: [Owned<Machine>] { [Owned(\.parts)] }
    var id: Int
    var word: Codeword
    var main: Part
    var parts: [Part]
    var named: [String: Part]
    var numbered: [Int: Part]
    var spare: Part?
    enum CodingKeys: String, CodingKey {
      case id, word, main = "main_part", parts = "all_parts", named = "by_name", numbered = "by_number",
        spare = "reserve"
    }
  }

  /// Under another key than their names nothing would be found, and nothing be deleted.
  @Test(arguments: Backend.allCases)
  func whatIsReferredTo(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let parts = (0..<6).map(Part.init)
    func machine(_ id: Int, _ own: ArraySlice<Part>) -> Machine {
      Machine(
        id: id, word: Codeword("xyzzy-\(id)"), main: parts[5], parts: Array(own), named: ["a": own.first!],
        numbered: [id: own.first!])
    }
    try garage.parkAll([machine(1, parts[..<2]), machine(2, parts[2..<4]), machine(3, parts[4...4])])
    #expect(try garage.retrieveReferrers(Machine.self, of: parts[5], by: \.main).map(\.id) == [1, 2, 3])
    #expect(try garage.retrieveReferrers(Machine.self, of: parts[2], by: \.parts).map(\.id) == [2])
    #expect(try garage.retrieveReferrers(Machine.self, of: parts[2], by: \.named).map(\.id) == [2])
    #expect(try garage.retrieveReferrers(Machine.self, of: parts[2], by: \.numbered).map(\.id) == [2])
    #expect(try garage.retrieveReferrers(Machine.self, of: parts[2], by: \.spare).isEmpty)
    try garage.delete(Machine.self, identifier: 2)
    #expect(try garage.retrieveAll(Part.self).map(\.id) == [0, 1, 4, 5])
  }

  /// An object without what it cannot be without would never be retrieved again.
  @Test(arguments: Backend.allCases)
  func whatCannotBeLeftOut(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let parts = (0..<6).map(Part.init)
    try garage.parkAll(
      (1...2).map {
        Machine(
          id: $0, word: Codeword("xyzzy-\($0)"), main: parts[$0], parts: [parts[3]], named: [:],
          numbered: [:], spare: parts[4])
      })
    #expect(throws: GarageError.self) { try garage.delete(parts[1], referrers: .nullify) }
    try garage.delete(parts[3], referrers: .nullify)
    try garage.delete(parts[4], referrers: .nullify)
    let machines = try garage.retrieveAll(Machine.self)
    #expect(machines.map(\.main.id) == [1, 2])
    #expect(machines.allSatisfy { $0.parts.isEmpty && $0.spare == nil })
  }
}
