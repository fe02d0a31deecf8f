import Foundation
import GarageMemory
import Testing

@testable import GarageStorage

/// Fields are found by decoding made-up objects. What types take is made up of many kinds: a single property whose type takes
/// none of it would have every record decoded, whatever is asked.
@Suite struct MadeUpObjectTests {
  enum Status: Codable, Hashable, Sendable {
    case failed(code: Int, message: String), running(progress: Double), idle

    var code: Int? { if case .failed(let code, _) = self { code } else { nil } }
    var progress: Double { if case .running(let progress) = self { progress } else { -1 } }
  }
  indirect enum Tree: Codable, Hashable, Sendable {
    case node(Tree, Tree), leaf(Int)
  }
  enum Choice: Codable, Sendable {
    case none(Never?), some(Int)
  }
  /// Tells what it is by a name, and refuses all others.
  enum Figure: Codable, Hashable, Sendable {
    case circle(Double), square(Double)

    enum CodingKeys: String, CodingKey { case type, size }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      let size = try container.decode(Double.self, forKey: .size)
      switch try container.decode(String.self, forKey: .type) {
      case "circle": self = .circle(size)
      case "square": self = .square(size)
      case let other:
        throw DecodingError.dataCorruptedError(forKey: .type, in: container, debugDescription: "\(other)?")
      }
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      switch self {
      case .circle(let size): try container.encodeEach("circle", size)
      case .square(let size): try container.encodeEach("square", size)
      }
    }
  }
  /// Takes elements without asking whether there are so many, in a way that throws.
  struct Line: Codable, Equatable, Sendable {
    var start: Double, end: Double

    init(_ start: Double, _ end: Double) { (self.start, self.end) = (start, end) }
    init(from decoder: any Decoder) throws {
      var container = try decoder.unkeyedContainer()
      start = try container.decode(Double.self)
      end = try container.decode(Double.self)
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.unkeyedContainer()
      try container.encode(start)
      try container.encode(end)
    }
  }

  /// Takes what looks like an address alone.
  struct Mail: Codable, Sendable {
    var text = "a@b"
    init() {}
    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      text = try container.decode(String.self)
      guard text.contains("@") else {
        throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(text)?")
      }
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(text)
    }
  }
  /// Refuses at the end of many ways.
  struct Wide: Codable, Sendable {
    struct Inner: Codable, Sendable {
      var mail = Mail()
      var mails: [Mail] = []
    }
    struct Middle: Codable, Sendable {
      var left = Inner()
      var right = Inner()
      var more: [Inner] = []
    }
    var left = Middle()
    var right = Middle()
    var more: [Middle]? = []
  }
  /// Has itself in itself in many ways.
  struct Folder: Codable, Sendable {
    var folders: [Folder] = []
    var byName: [String: Folder] = [:]
    var tree = FolderTree.end
    var name = ""
  }
  indirect enum FolderTree: Codable, Sendable { case node(FolderTree, FolderTree, Folder), leaf(Folder), end }

  struct Item<Value: Codable & Sendable>: Codable, Identifiable, Sendable {
    var id: Int
    var total: Int
    var value: Value
    var name: String
  }

  private func check<Value: Codable & Sendable>(_ value: Value) throws {
    let garage = try Garage(MemoryStorage())
    try garage.parkAll((0..<20).map { Item(id: $0, total: $0 * 3, value: value, name: "name \($0)") })
    let query = garage.query(Item<Value>.self).where(\.total < 30 && \.name == .hasPrefix("name"))
    #expect(try query.count() == 10, "\(Value.self)")
    #expect(try query.values(\.name).last == "name 9", "\(Value.self)")
    #expect(try !query.explain().description.contains("decodes"), "\(Value.self)")
    try garage.close()
  }

  @Test func valuesOfFoundation() throws {
    let day = Date(timeIntervalSinceReferenceDate: 86_400)
    try check(try #require(URLComponents(string: "https://example.org/a?b=c")))
    try check(TimeZone.gmt)
    try check(Calendar(identifier: .hebrew))
    try check(Locale(identifier: "de_DE"))
    try check(DateComponents(year: 2026))
    try check(DateInterval(start: day, duration: 60))
    try check(PersonNameComponents(givenName: "Sam", familyName: "Vimes"))
    try check(Measurement(value: 3, unit: UnitLength.meters))
    try check(IndexPath(indexes: [1, 2]))
    try check(IndexSet([1, 2]))
    try check(CharacterSet.alphanumerics)
    try check(CGRect(x: 1, y: 2, width: 3, height: 4))
    try check(NSRange(location: 1, length: 2))
    try check(AffineTransform.identity)
  }

  @Test func valuesOfTheStandardLibrary() throws {
    try check(1...4)
    try check(1..<4)
    try check(1...)
    try check(...(2.5))
    try check("a"..."b")
    try check([1...2, 3...4])
    try check(Duration.seconds(3))
    try check(SIMD2<Float>(1, 2))
    try check(SIMD3<Double>(1, 2, 3))
    try check(SIMD16<Int8>(repeating: 1))
    try check(ContiguousArray([1, 2]))
    try check(CollectionDifference<String>?.none)
  }

  @Test func valuesOfOnesOwn() throws {
    try check(Status.idle)
    try check([Status.idle, .running(progress: 0.5)])
    try check([Status.idle: 1])
    try check(Tree.node(.leaf(1), .node(.leaf(2), .leaf(3))))
    try check(Choice.some(3))
    try check(Line(1, 2))
    try check([Figure.circle(1)])
    try check(["a": Figure.square(2)])
    try check(Item(id: 1, total: 2, value: Status.idle, name: "inner"))
    try check(Folder())
    try check([Folder()])
    try check(FolderTree.end)
    try check(Wide?.none)
    try check([Wide()])
    try check([Mail()])
  }

  private struct Job: Codable, Identifiable, Equatable {
    var id: Int
    var status: Status
    var hours: ClosedRange<Int>
    var line: Line
    var code: Int? { status.code }

    init(_ id: Int) {
      self.id = id
      status =
        id % 3 == 0
        ? .idle : id % 3 == 1 ? .failed(code: id % 5, message: "no") : .running(progress: Double(id % 7))
      hours = (id % 4)...(id % 4 + id % 2)
      line = Line(Double(id % 6), 1)
    }
  }

  private struct Service: Codable, Identifiable {
    var id: Int
    var address: URLComponents
    var other: URLComponents?
    var ports: IndexSet
  }

  /// Types of Foundation whose `init(from:)` ends the process on values that do not go together are not made up, also where all
  /// of them is compared.
  @Test(arguments: Backend.allCases)
  func valuesThatMustNotBeMadeUpAreCompared(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let addresses = try ["https://a.org/x", "https://b.org/?q=1", "relative"].map {
      try #require(URLComponents(string: $0))
    }
    try garage.parkAll(
      (0..<9).map {
        let other = $0 < 3 ? nil : addresses[0]
        return Service(id: $0, address: addresses[$0 % 3], other: other, ports: IndexSet([$0 % 2, 80]))
      })
    let query = garage.query(Service.self)
    #expect(try query.where(\.address == addresses[1]).values(\.id) == [1, 4, 7])
    #expect(try query.where(\.address == .oneOf([addresses[1], addresses[2]])).count() == 6)
    #expect(try query.where(\.other == addresses[0]).count() == 6)
    #expect(try query.where(\.ports == IndexSet([1, 80])).count() == 4)
  }

  /// What is made of such values is not what is stored: where a record has another case, its object is asked.
  @Test(arguments: Backend.allCases)
  func whatIsMadeOfThem(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let jobs = (0..<60).map(Job.init)
    try garage.parkAll(jobs)
    let query = garage.query(Job.self)
    func check(_ condition: Condition<Job>, _ holds: (Job) -> Bool) throws {
      #expect(try query.where(condition).retrieveAll() == jobs.filter(holds), "\(condition)")
    }
    try check(\.code == 2) { $0.code == 2 }
    try check(\.code == nil) { $0.code == nil }
    try check(\.code != 2) { $0.code != 2 }
    try check(\.status.code == 3) { $0.status.code == 3 }
    try check(\.status.progress > 2) { $0.status.progress > 2 }
    try check(\.status.progress == -1) { $0.status.progress == -1 }
    try check(\.status == .idle) { $0.status == .idle }
    try check(\.status == .failed(code: 1, message: "no")) { $0.status == .failed(code: 1, message: "no") }
    try check(\.hours.lowerBound == 2) { $0.hours.lowerBound == 2 }
    try check(\.hours.upperBound > 3) { $0.hours.upperBound > 3 }
    try check(\.line.start <= 2) { $0.line.start <= 2 }
    try check(\.line.end == 1) { $0.line.end == 1 }
    #expect(try query.sorted(by: \.line.start).values(\.line.start) == jobs.map(\.line.start).sorted())
    #expect(try query.values(\.status.progress) == jobs.map(\.status.progress))
    #expect(try query.values(\.hours.upperBound) == jobs.map(\.hours.upperBound))
    #expect(try query.sum(\.hours.lowerBound) == jobs.map(\.hours.lowerBound).reduce(0, +))
  }
}

extension KeyedEncodingContainer<MadeUpObjectTests.Figure.CodingKeys> {
  fileprivate mutating func encodeEach(_ type: String, _ size: Double) throws {
    try encode(type, forKey: .type)
    try encode(size, forKey: .size)
  }
}
