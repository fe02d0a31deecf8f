import Foundation
import GarageStorage
import Testing

private struct ByNumber: Codable, Identifiable, Equatable {
  var id: Int
  var kind: Int
}
private struct ByWideNumber: Codable, Identifiable, Equatable {
  var id: UInt64
  var kind: Int
}
private struct ByText: Codable, Identifiable, Equatable {
  let id: String
  var kind: Int
  enum CodingKeys: String, CodingKey {
    case id = "_id"
    case kind
  }
}
private final class ByUUID: Codable, Identifiable, Equatable {
  let id: UUID
  let kind: Int
  let mark: UUID
  init(id: UUID, kind: Int, mark: UUID) { (self.id, self.kind, self.mark) = (id, kind, mark) }
  static func == (a: ByUUID, b: ByUUID) -> Bool { a.id == b.id && a.kind == b.kind && a.mark == b.mark }
}

/// Named by something else than what it is found by.
private struct ByCode: Codable, Identifiable, Equatable {
  var id: String { "\(kind) \(code)" }
  var code: Int
  var kind: Int
  enum CodingKeys: String, CodingKey {
    case code = "id"
    case kind
  }
}

/// It was known by its content once.
private enum Unnamed {
  struct Note: Codable, Hashable, TypeTagged {
    static var typeTag: String { "identifier query note" }
    var id: Int
  }
}
private enum Named {
  struct Note: Codable, Hashable, Identifiable, TypeTagged {
    static var typeTag: String { "identifier query note" }
    var id: Int
  }
}

private enum Asked<T: Codable & Identifiable & Equatable & SendableMetatype> {
  typealias Pair = (name: String, condition: Condition<T>, holds: (T) -> Bool)
}

/// Conditions on what identifies an object lead to it without an index, and what is sorted by it is read in its order. What is
/// found is what a filter over all objects finds.
@Suite struct IdentifierQueryTests {
  private func check<T: Codable & Identifiable & Equatable & SendableMetatype>(
    _ garage: Garage, _ type: T.Type, _ conditions: [Asked<T>.Pair], _ hint: Comment,
    order: (key: (Query<T>, SortDirection) -> Query<T>, isBefore: (T, T) -> Bool)?
  ) throws {
    let all = try garage.retrieveAll(type)
    for (name, condition, holds) in conditions {
      let wanted = all.filter(holds)
      let query = garage.query(type).where(condition)
      let hint: Comment = "\(name), \(hint.rawValue)"
      #expect(try query.retrieveAll() == wanted, hint)
      #expect(try query.count() == wanted.count, hint)
      #expect(try query.limit(2).retrieveAll() == Array(wanted.prefix(2)), hint)
      guard let order else { continue }
      for direction in [SortDirection.ascending, .descending] {
        var sorted = wanted.sorted(by: order.isBefore)
        if direction == .descending { sorted.reverse() }
        let query = order.key(query, direction)
        #expect(try query.retrieveAll() == sorted, hint)
        #expect(try query.limit(3).retrieveAll() == Array(sorted.prefix(3)), hint)
        var paged: [T] = []
        var cursor: QueryCursor?
        repeat {
          let page = try query.page(after: cursor, size: 4)
          paged += page.objects
          cursor = page.next
        } while cursor != nil
        #expect(paged == sorted, hint)
      }
    }
  }

  private func numbers(_ constants: [Int]) -> [Asked<ByNumber>.Pair] {
    var all: [Asked<ByNumber>.Pair] = [("all", \.kind >= 0, { _ in true })]
    func add(_ name: String, _ condition: Condition<ByNumber>, _ holds: @escaping (ByNumber) -> Bool) {
      all.append((name, condition, holds))
    }
    for constant in constants {
      add("== \(constant)", \.id == constant) { $0.id == constant }
      add("!= \(constant)", \.id != constant) { $0.id != constant }
      add("< \(constant)", \.id < constant) { $0.id < constant }
      add("<= \(constant)", \.id <= constant) { $0.id <= constant }
      add("> \(constant)", \.id > constant) { $0.id > constant }
      add(">= \(constant)", \.id >= constant) { $0.id >= constant }
      add("from \(constant) on, of a kind", \.id >= constant && \.kind == 1) {
        $0.id >= constant && $0.kind == 1
      }
      add("or a kind, \(constant)", \.id == constant || \.kind == 2) { $0.id == constant || $0.kind == 2 }
      add("or both, \(constant)", \.id == constant || \.id > 300) { $0.id == constant || $0.id > 300 }
      add("not, \(constant)", !(\.id < constant)) { $0.id >= constant }
      add("between, \(constant)", \.id > constant && \.id <= constant + 60) {
        $0.id > constant && $0.id <= constant + 60
      }
    }
    return all
  }

  @Test(arguments: Backend.engines)
  func ofNumbers(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try place.garage()
    let values = [Int.min, -70_000, -256, -255, -1, 0, 1, 2, 127, 128, 255, 256, 300, 65_536, Int.max]
    try garage.parkAll(values.map { ByNumber(id: $0, kind: ($0 & 7) % 3) })
    let order = (
      key: { (query: Query<ByNumber>, direction: SortDirection) in query.sorted(by: \.id, direction) },
      isBefore: { (a: ByNumber, b: ByNumber) in a.id < b.id }
    )
    // Past the ends sums would overflow.
    let conditions = numbers(values.filter { $0 < Int.max - 60 } + [77])
    try check(garage, ByNumber.self, conditions, "saved", order: order)
    // Indexes lead elsewhere.
    try garage.make([Index(\ByNumber.kind, .readable)])
    try check(garage, ByNumber.self, conditions, "beside an index", order: order)
    try garage.make([Index(\ByNumber.id, .readable)])
    try check(garage, ByNumber.self, conditions, "with an index", order: order)
    garage.isAutosaveEnabled = false
    try garage.park(ByNumber(id: 5, kind: 1))
    try garage.park(ByNumber(id: 127, kind: 2))
    try garage.delete(ByNumber.self, identifier: 128)
    try check(garage, ByNumber.self, conditions, "unsaved", order: order)
  }

  @Test(arguments: Backend.engines)
  func ofWideNumbersTextsAndUUIDs(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try place.garage()
    let wide: [UInt64] = [0, 1, 255, 1 << 40, 1 << 63, .max - 1, .max]
    try garage.parkAll(wide.map { ByWideNumber(id: $0, kind: Int($0 % 3)) })
    var ofNumbers: [Asked<ByWideNumber>.Pair] = []
    for constant in wide {
      ofNumbers.append(("== \(constant)", \.id == constant, { $0.id == constant }))
      ofNumbers.append(("<= \(constant)", \.id <= constant, { $0.id <= constant }))
      ofNumbers.append(("> \(constant)", \.id > constant, { $0.id > constant }))
    }
    try check(
      garage, ByWideNumber.self, ofNumbers, "wide",
      order: ({ $0.sorted(by: \.id, $1) }, { $0.id < $1.id }))

    let long = String(repeating: "long ", count: 60)
    // Of texts in two forms, one of which begins with the other, Swift says that neither is less: none are here.
    let short = ["", "a", "ab", "b", "e", "e\u{301}", "ê2", "ez", "\u{0}", "日本", "Z"]
    let texts = short + [long, long + "a", long + "b", String(long.prefix(224)), String(long.prefix(230))]
    for (isLong, stored) in [(false, short), (true, texts)] {
      try garage.deleteAll(ByText.self)
      try garage.parkAll(stored.enumerated().map { ByText(id: $1, kind: $0) })
      var ofTexts: [Asked<ByText>.Pair] = []
      for constant in texts + ["é", "long", String(long.prefix(226))] {
        ofTexts.append(("== \(constant)", \.id == constant, { $0.id == constant }))
        ofTexts.append(("< \(constant)", \.id < constant, { $0.id < constant }))
        ofTexts.append((">= \(constant)", \.id >= constant, { $0.id >= constant }))
        ofTexts.append(("> \(constant)", \.id > constant, { $0.id > constant }))
        ofTexts.append(
          ("begins with \(constant)", \.id == .hasPrefix(constant), { $0.id.hasPrefix(constant) }))
      }
      try check(
        garage, ByText.self, ofTexts, "texts, \(isLong ? "long ones too" : "short")",
        order: ({ $0.sorted(by: \.id, $1) }, { $0.id < $1.id }))
    }

    let uuids = (0..<20).map { (number: Int) -> UUID in
      let (first, third, last) = (UInt8(number / 2 * 25), UInt8(number * 7), UInt8(number))
      return UUID(uuid: (first, 1, third, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, last))
    }
    try garage.parkAll(uuids.enumerated().map { ByUUID(id: $1, kind: $0, mark: uuids[$0 * 7 % 20]) })
    var ofUUIDs: [Asked<ByUUID>.Pair] = []
    func add(_ name: String, _ condition: Condition<ByUUID>, _ holds: @escaping (ByUUID) -> Bool) {
      ofUUIDs.append((name, condition, holds))
    }
    add("none", \.id == UUID()) { _ in false }
    for uuid in uuids {
      add("== \(uuid)", \.id == uuid) { $0.id == uuid }
      add("<= \(uuid)", \.id <= uuid) { $0.id <= uuid }
      add("> \(uuid)", \.id > uuid) { $0.id > uuid }
      add("mark < \(uuid)", \.mark < uuid) { $0.mark < uuid }
    }
    for hint: Comment in ["UUIDs", "UUIDs, with an index"] {
      try check(garage, ByUUID.self, ofUUIDs, hint, order: ({ $0.sorted(by: \.id, $1) }, { $0.id < $1.id }))
      try check(
        garage, ByUUID.self, ofUUIDs, hint, order: ({ $0.sorted(by: \.mark, $1) }, { $0.mark < $1.mark }))
      try garage.make([Index(\ByUUID.mark, .readable)])
    }
    let some = [uuids[17], uuids[3], uuids[3], UUID()]
    #expect(
      try garage.query(ByUUID.self).where(\.id == .oneOf(some)).retrieveAll().map(\.id) == [
        uuids[3], uuids[17],
      ])
  }

  @Test(arguments: Backend.engines)
  func thePlanTells(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.parkAll((0..<50).map { ByNumber(id: $0, kind: $0 % 3) })
    let query = garage.query(ByNumber.self)
    func text(_ query: Query<ByNumber>) throws -> String {
      let plan = try query.explain()
      #expect(!plan.readsAllRecords)
      return String(plan.description.prefix { $0 != "\n" })
    }
    #expect(try text(query.where(\.id == 7)) == "reads one record of ByNumber by its identifier")
    #expect(
      try text(query.where(\.id == .oneOf([7, 9]))) == "reads 2 records of ByNumber by their identifiers")
    #expect(try text(query.where(\.id > 7)) == "reads the records of ByNumber in a range of identifiers")
    #expect(
      try query.sorted(by: \.id, .descending).limit(3).explain().description
        == """
        reads the records of ByNumber in the order of their identifiers
        finds them in their order, and ends when 3 are found
        """)
    #expect(try query.where(\.kind == 1).sorted(by: \.id).explain().description.contains("Index(\\.kind"))
  }

  /// What is only called `id` in records, or has a name of its own, is asked as any other property.
  @Test(arguments: Backend.engines)
  func whatIsNoIdentifierIsNotTakenForOne(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.parkAll((0..<30).map { ByCode(code: $0, kind: $0 % 4) })
    #expect(try garage.query(ByCode.self).where(\.code == 7).retrieveAll() == [ByCode(code: 7, kind: 3)])
    #expect(try garage.query(ByCode.self).where(\.id == "3 7").retrieveAll() == [ByCode(code: 7, kind: 3)])
    #expect(
      try garage.query(ByCode.self).sorted(by: \.code).retrieveAll().map(\.code) == Array(0..<30))

    try garage.parkAll((0..<10).map { Unnamed.Note(id: $0) })
    #expect(try garage.query(Named.Note.self).where(\.id == 4).retrieveAll() == [Named.Note(id: 4)])
    try garage.park(Named.Note(id: 12))
    #expect(try garage.query(Named.Note.self).where(\.id > 8).retrieveAll().map(\.id).sorted() == [9, 12])
    #expect(
      try garage.query(Named.Note.self).sorted(by: \.id).retrieveAll().map(\.id) == Array(0..<10) + [12])
  }

  @Test(arguments: Backend.engines)
  func changesByIdentifier(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.parkAll((0..<300).map { ByNumber(id: $0, kind: 0) })
    #expect(try garage.query(ByNumber.self).where(\.id >= 290).deleteAll() == 10)
    _ = try garage.query(ByNumber.self).where(\.id < 100).updateAll { $0.kind = 1 }
    #expect(try garage.query(ByNumber.self).where(\.kind == 1).count() == 100)
    try garage.write { writer in
      let query = writer.query(ByNumber.self)
      try writer.park(ByNumber(id: 1000, kind: 5))
      #expect(try query.where(\.id == 1000).retrieveAll() == [ByNumber(id: 1000, kind: 5)])
      #expect(try query.sorted(by: \.id, .descending).limit(2).retrieveAll().map(\.id) == [1000, 289])
      #expect(try query.where(\.id > 280 && \.id != 285).deleteAll() == 9)
    }
    #expect(try garage.count(ByNumber.self) == 282)
  }
}
