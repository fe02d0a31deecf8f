import GarageStorage
import Testing

/// Types whose own code decides by something beside them which of two keys a property stands under, where records always have
/// both keys.
@Suite struct SwappedKeyTests {
  /// What decides it.
  fileprivate protocol Rule: Codable, Equatable, Sendable {
    static func make(_ number: Int) -> Self
    var isSwapped: Bool { get }
  }

  /// One of the cases of an enum, and not the first two.
  fileprivate struct KindRule: Rule {
    enum Kind: String, Codable, CaseIterable { case dock, buoy, quay, swing }
    var kind: Kind
    static func make(_ number: Int) -> KindRule { KindRule(kind: Kind.allCases[number % 4]) }
    var isSwapped: Bool { kind == .quay }
  }

  /// The same, written as a key.
  fileprivate struct KeyedRule: Rule {
    enum Kind: Codable, CaseIterable { case dock, buoy, quay, swing }
    var kind: Kind
    static func make(_ number: Int) -> KeyedRule { KeyedRule(kind: Kind.allCases[number % 4]) }
    var isSwapped: Bool { kind == .quay }
  }

  /// Two truth values that are not the same.
  fileprivate struct FlagRule: Rule {
    var isOld: Bool
    var isMended: Bool
    static func make(_ number: Int) -> FlagRule {
      FlagRule(isOld: number % 2 == 0, isMended: number % 4 < 2)
    }
    var isSwapped: Bool { isOld && !isMended }
  }

  /// That something is missing, which only stored objects show.
  fileprivate struct SinceRule: Rule {
    var since: Int?
    static func make(_ number: Int) -> SinceRule { SinceRule(since: number % 3 == 0 ? nil : number) }
    var isSwapped: Bool { since == nil }
  }

  /// A text, which only stored objects show.
  fileprivate struct TextRule: Rule {
    var kind: String
    static func make(_ number: Int) -> TextRule { TextRule(kind: ["dock", "quay", "buoy"][number % 3]) }
    var isSwapped: Bool { kind == "quay" }
  }

  /// A number, which only stored objects show.
  fileprivate struct NumberRule: Rule {
    var form: Int
    static func make(_ number: Int) -> NumberRule { NumberRule(form: 7 + number % 3) }
    var isSwapped: Bool { form == 8 }
  }

  fileprivate enum Mood: Codable, CaseIterable { case calm, wild, odd }
  /// Not `Hashable`: only whether it is nil is told by its field.
  fileprivate struct Spot: Codable, Equatable { var name: String }
  fileprivate struct Point: Codable, Hashable {
    var x: Int
    var y: Int
  }

  fileprivate struct Pair<R: Rule>: Codable, Identifiable, Equatable {
    var id: Int
    var rule: R
    var left: String
    var right: String
    var from: Spot?
    var to: Spot?
    var good: Mood
    var bad: Mood
    var start: Point
    var end: Point

    private enum CodingKeys: CodingKey { case id, rule, left, right, from, to, good, bad, start, end }

    init(_ number: Int) {
      (id, rule) = (number, R.make(number))
      (left, right) = (["a", "b", "c"][number % 3], ["x", "y"][number % 2])
      (from, to) = (number % 5 == 0 ? nil : Spot(name: "from"), number % 2 == 0 ? Spot(name: "to") : nil)
      (good, bad) = (Mood.allCases[number % 3], Mood.allCases[(number + 1) % 3])
      (start, end) = (Point(x: number % 3, y: 1), Point(x: 9, y: number % 2))
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(Int.self, forKey: .id)
      rule = try container.decode(R.self, forKey: .rule)
      let isSwapped = rule.isSwapped
      left = try container.decode(String.self, forKey: isSwapped ? .right : .left)
      right = try container.decode(String.self, forKey: isSwapped ? .left : .right)
      from = try container.decodeIfPresent(Spot.self, forKey: isSwapped ? .to : .from)
      to = try container.decodeIfPresent(Spot.self, forKey: isSwapped ? .from : .to)
      good = try container.decode(Mood.self, forKey: isSwapped ? .bad : .good)
      bad = try container.decode(Mood.self, forKey: isSwapped ? .good : .bad)
      start = try container.decode(Point.self, forKey: isSwapped ? .end : .start)
      end = try container.decode(Point.self, forKey: isSwapped ? .start : .end)
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      let isSwapped = rule.isSwapped
      try container.encode(id, forKey: .id)
      try container.encode(rule, forKey: .rule)
      try container.encode(left, forKey: isSwapped ? .right : .left)
      try container.encode(right, forKey: isSwapped ? .left : .right)
      try container.encodeIfPresent(from, forKey: isSwapped ? .to : .from)
      try container.encodeIfPresent(to, forKey: isSwapped ? .from : .to)
      try container.encode(good, forKey: isSwapped ? .bad : .good)
      try container.encode(bad, forKey: isSwapped ? .good : .bad)
      try container.encode(start, forKey: isSwapped ? .end : .start)
      try container.encode(end, forKey: isSwapped ? .start : .end)
    }
  }

  /// Compares queries with a plain filter.
  private func expectAll<R: Rule>(_ rule: R.Type, _ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let pairs = (0..<48).map { Pair<R>($0) }
    try garage.parkAll(pairs)
    func expect(_ condition: Condition<Pair<R>>, _ holds: (Pair<R>) -> Bool) throws {
      let query = garage.query(Pair<R>.self).where(condition)
      #expect(try query.retrieveAll() == pairs.filter(holds), "\(rule) \(condition)")
      #expect(try query.count() == pairs.count(where: holds), "\(rule) \(condition)")
    }
    try expect(\.left == "a") { $0.left == "a" }
    try expect(\.left != "b") { $0.left != "b" }
    try expect(\.right > "x") { $0.right > "x" }
    try expect(\.right == .hasPrefix("y")) { $0.right == "y" }
    try expect(\.from == nil) { $0.from == nil }
    try expect(\.to != nil) { $0.to != nil }
    try expect(\.good == .wild) { $0.good == .wild }
    try expect(\.bad != .odd) { $0.bad != .odd }
    try expect(\.start == Point(x: 1, y: 1)) { $0.start == Point(x: 1, y: 1) }
    try expect(\.end != Point(x: 9, y: 0)) { $0.end != Point(x: 9, y: 0) }
    let all = garage.query(Pair<R>.self)
    #expect(try all.values(\.left) == pairs.map(\.left))
    #expect(try all.sorted(by: \.right).values(\.id) == pairs.sorted { $0.right < $1.right }.map(\.id))
    #expect(try all.countByValue(\.left) == ["a": 16, "b": 16, "c": 16])
  }

  @Test(arguments: Backend.engines)
  func queriesFindAll(_ backend: Backend) throws {
    try expectAll(KindRule.self, backend)
    try expectAll(KeyedRule.self, backend)
    try expectAll(FlagRule.self, backend)
    try expectAll(SinceRule.self, backend)
    try expectAll(TextRule.self, backend)
    try expectAll(NumberRule.self, backend)
  }

  /// Has an index of what stands under another key in few objects, which its first objects show.
  fileprivate struct Crate: Codable, Identifiable, Equatable, Indexed {
    static var indexes: [Index<Crate>] { [Index(\.left), Index(\.name)] }
    var id: Int
    var kind: String
    var left: Int
    var right: Int
    var name: String

    private enum CodingKeys: CodingKey { case id, kind, left, right, name }

    init(_ number: Int) {
      (id, kind) = (number, number % 3 == 1 ? "swapped" : "usual")
      (left, right, name) = (number % 4, number % 5 + 10, "name \(number % 4)")
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(Int.self, forKey: .id)
      kind = try container.decode(String.self, forKey: .kind)
      let isSwapped = kind == "swapped"
      left = try container.decode(Int.self, forKey: isSwapped ? .right : .left)
      right = try container.decode(Int.self, forKey: isSwapped ? .left : .right)
      name = try container.decode(String.self, forKey: .name)
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      let isSwapped = kind == "swapped"
      try container.encode(id, forKey: .id)
      try container.encode(kind, forKey: .kind)
      try container.encode(left, forKey: isSwapped ? .right : .left)
      try container.encode(right, forKey: isSwapped ? .left : .right)
      try container.encode(name, forKey: .name)
    }
  }

  /// Such an index stays unused.
  @Test(arguments: Backend.engines.filter { !$0.isSealed })
  func indexIsUnused(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let crates = (0..<60).map { Crate($0) }
    try garage.parkAll(crates)
    let query = garage.query(Crate.self)
    #expect(try query.where(\.left == 1).retrieveAll() == crates.filter { $0.left == 1 })
    #expect(try query.where(\.left < 2).count() == crates.count { $0.left < 2 })
    #expect(try query.where(\.right >= 12).count() == crates.count { $0.right >= 12 })
    #expect(
      try query.sorted(by: \.left).limit(20).values(\.left) == Array(crates.map(\.left).sorted().prefix(20)))
    #expect(try query.sum(\.left) == crates.map(\.left).reduce(0, +))
    #expect(try query.countByValue(\.left) == [0: 15, 1: 15, 2: 15, 3: 15])
    #expect(try query.where(\.left == 1).explain().indexes.isEmpty)
    #expect(try query.where(\.name == "name 1").explain().indexes == ["name"])
  }

  /// An index has one field: where that is not the property's in all objects, there is none.
  @Test(arguments: Backend.engines.filter { !$0.isSealed })
  func indexIsRefused(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.parkAll((0..<8).map { Pair<KindRule>($0) })
    #expect(throws: GarageError.self) { try garage.make([Index(\Pair<KindRule>.left)]) }
  }
}
