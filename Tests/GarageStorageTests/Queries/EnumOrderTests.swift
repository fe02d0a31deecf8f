import Foundation
import Testing

@testable import GarageStorage

/// Enums that have an order: that of their raw values, that of their declaration, or one of their own.
@Suite struct EnumOrderTests {
  enum Priority: Int, Codable, Comparable, CaseIterable {
    case low = 1, medium, high
    static func < (left: Priority, right: Priority) -> Bool { left.rawValue < right.rawValue }
  }
  /// Whose names are in another order.
  enum Size: String, Codable, Comparable, CaseIterable {
    case small, medium, large
    private var number: Int { Size.allCases.firstIndex(of: self) ?? 0 }
    static func < (left: Size, right: Size) -> Bool { left.number < right.number }
  }
  enum Rank: Int, Codable, Comparable, CaseIterable {
    case first = 1, second, third
    static func < (left: Rank, right: Rank) -> Bool { left.rawValue > right.rawValue }
  }
  /// Without raw values.
  enum Stage: Codable, Comparable, CaseIterable { case seed, tree, wood }
  /// Reads what it does not know as the last.
  enum Lenient: Int, Codable, Comparable, CaseIterable {
    case one = 1, two, unknown
    init(from decoder: any Decoder) throws {
      self = Lenient(rawValue: try decoder.singleValueContainer().decode(Int.self)) ?? .unknown
    }
    static func < (left: Lenient, right: Lenient) -> Bool { left.rawValue < right.rawValue }
  }

  struct Job: Codable, Identifiable, Equatable, TypeTagged {
    static var typeTag: String { "job of enum order tests" }
    var id: Int
    var priority: Priority
    var second: Priority?
    var size: Size
    var perhaps: Size?
    var rank: Rank
    var stage: Stage
    var later: Stage?
    var lenient: Lenient

    init(_ id: Int) {
      self.id = id
      priority = Priority.allCases[id % 3]
      second = id % 4 == 0 ? nil : Priority.allCases[id % 3]
      size = Size.allCases[id / 2 % 3]
      perhaps = id % 5 == 0 ? nil : Size.allCases[id % 3]
      rank = Rank.allCases[id / 3 % 3]
      stage = Stage.allCases[id % 3]
      later = id % 2 == 0 ? nil : Stage.allCases[id / 2 % 3]
      lenient = Lenient.allCases[id % 3]
    }
  }
  /// The same with raw values that `Lenient` does not know.
  struct OtherJob: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "job of enum order tests" }
    var id: Int
    var priority = 1
    var size = "small"
    var rank = 1
    var stage = Stage.seed
    var lenient: Int
  }

  @Test(arguments: Backend.allCases)
  func isWhatSwiftSays(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.parkAll((0..<60).map(Job.init))
    try garage.parkAll((60..<66).map { OtherJob(id: $0, lenient: $0 - 62) })
    let jobs = try garage.retrieveAll(Job.self)
    #expect(jobs.count == 66)
    let query = garage.query(Job.self)
    func check(_ condition: Condition<Job>, decodes: Bool = false, _ holds: (Job) -> Bool) throws {
      #expect(try query.where(condition).retrieveAll() == jobs.filter(holds), "\(condition)")
      #expect(try query.where(condition).explain().description.contains("decodes") == decodes, "\(condition)")
    }
    try check(\.priority >= .medium) { $0.priority >= .medium }
    try check(\.priority < .high) { $0.priority < .high }
    try check(\.priority == Priority.low...Priority.medium) { $0.priority <= .medium }
    try check(\.second > .low) { $0.second.map { $0 > .low } ?? false }
    try check(\.size >= .medium) { $0.size >= .medium }
    try check(\.size < .small) { _ in false }
    try check(!(\.size < .large)) { $0.size == .large }
    try check(\.perhaps <= .medium) { $0.perhaps.map { $0 <= .medium } ?? false }
    try check(\.rank > .second) { $0.rank == .first }
    try check(\.stage >= .tree) { $0.stage >= .tree }
    try check(\.later < .wood) { $0.later.map { $0 < .wood } ?? false }
    try check(\.lenient > .one, decodes: true) { $0.lenient > .one }
    func sorted<Value: Comparable & Codable>(_ property: KeyPath<Job, Value>) throws {
      func wanted(_ before: (Value, Value) -> Bool) -> [Int] {
        jobs.enumerated().sorted {
          let (left, right) = ($0.element[keyPath: property], $1.element[keyPath: property])
          return before(left, right) || !before(right, left) && $0.offset < $1.offset
        }.map(\.element.id)
      }
      #expect(try query.sorted(by: property).retrieveAll().map(\.id) == wanted(<), "\(property)")
      #expect(
        try query.sorted(by: property, .descending).limit(9).retrieveAll().map(\.id)
          == Array(wanted(>).prefix(9)),
        "\(property)")
      #expect(try query.min(property) == jobs.map { $0[keyPath: property] }.min(), "\(property)")
      #expect(try query.max(property) == jobs.map { $0[keyPath: property] }.max(), "\(property)")
    }
    try sorted(\.priority)
    try sorted(\.size)
    try sorted(\.rank)
    try sorted(\.stage)
    try sorted(\.lenient)
  }

  struct Task: Codable, Identifiable, Indexed {
    static var indexes: [Index<Task>] {
      [Index(\.priority, .readable), Index(\.size, .readable), Index(\.rank, .readable)]
    }
    var id: Int
    var priority: Priority
    var size: Size?
    var rank: Rank
  }

  @Test(arguments: Backend.allCases)
  func indexes(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let tasks = (0..<90).map {
      Task(
        id: $0, priority: Priority.allCases[$0 % 3], size: $0 % 4 == 0 ? nil : Size.allCases[$0 % 3],
        rank: Rank.allCases[$0 / 3 % 3])
    }
    try garage.parkAll(tasks)
    let query = garage.query(Task.self)
    func check(_ condition: Condition<Task>, _ index: String, _ holds: (Task) -> Bool) throws {
      #expect(
        try query.where(condition).retrieveAll().map(\.id) == tasks.filter(holds).map(\.id), "\(condition)")
      #expect(try query.where(condition).explain().indexes == [index], "\(condition)")
    }
    try check(\.priority >= .medium, "priority") { $0.priority >= .medium }
    try check(\.size < .large, "size") { $0.size.map { $0 < .large } ?? false }
    try check(\.rank >= .second, "rank") { $0.rank >= .second }
    let ordered = try query.sorted(by: \.priority, .descending).limit(40)
    #expect(try ordered.values(\.priority) == Array(tasks.map(\.priority).sorted(by: >).prefix(40)))
    #expect(try ordered.explain().indexes == ["priority"])
    #expect(try query.sorted(by: \.rank).values(\.rank) == tasks.map(\.rank).sorted())
  }
}
