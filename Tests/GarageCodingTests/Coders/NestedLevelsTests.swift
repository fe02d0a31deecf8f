import Testing

@testable import GarageCoding

// Nested containers that have nested containers, all of which wait until the value around them is complete: what was
// quadratic in their number took minutes with these.

/// When the lines are written to.
private enum WritingOrder: CaseIterable {
  /// Each when it is asked for.
  case lineByLine
  /// All are asked for first, and the last one is filled first.
  case lastLineFirst
  /// All are asked for first, and each gets its next point in turn.
  case columnByColumn
}

extension WritingOrder {
  /// Calls `write` for each point with the places of its line and of itself.
  func forEachPoint(of lines: [[Point]], _ write: (Int, Int) throws -> Void) rethrows {
    switch self {
    case .lineByLine:
      for line in lines.indices { for column in lines[line].indices { try write(line, column) } }
    case .lastLineFirst:
      for line in lines.indices.reversed() { for column in lines[line].indices { try write(line, column) } }
    case .columnByColumn:
      for column in 0..<(lines.map(\.count).max() ?? 0) {
        for line in lines.indices where column < lines[line].count { try write(line, column) }
      }
    }
  }
}

/// Lines of points, all of them arrays.
private struct UnkeyedLines: Codable {
  var lines: [[Point]]
  var order = WritingOrder.lineByLine

  init(_ lines: [[Point]], _ order: WritingOrder) { (self.lines, self.order) = (lines, order) }

  func encode(to encoder: any Encoder) throws {
    var list = encoder.unkeyedContainer()
    var asked: [any UnkeyedEncodingContainer] = []
    func ask(through line: Int) { while asked.count <= line { asked.append(list.nestedUnkeyedContainer()) } }
    if order != .lineByLine { ask(through: lines.count - 1) }
    try order.forEachPoint(of: lines) { line, column in
      ask(through: line)
      var numbers = asked[line].nestedUnkeyedContainer()
      try numbers.encode(lines[line][column].x)
      try numbers.encode(lines[line][column].y)
    }
  }

  init(from decoder: any Decoder) throws {
    lines = []
    var list = try decoder.unkeyedContainer()
    while !list.isAtEnd {
      var line: [Point] = []
      var points = try list.nestedUnkeyedContainer()
      while !points.isAtEnd {
        var numbers = try points.nestedUnkeyedContainer()
        let x = try numbers.decode(Int.self)
        line.append(Point(x: x, y: try numbers.decode(Int.self)))
      }
      lines.append(line)
    }
  }
}

/// The same, all of them maps, those of lines and points with the numbers of these as keys.
private struct KeyedLines: Codable {
  var lines: [[Point]]
  var order = WritingOrder.lineByLine

  private struct Number: CodingKey {
    var stringValue: String
    var number: Int { Int(stringValue.dropFirst()) ?? -1 }
    var intValue: Int? { nil }
    init(_ number: Int) { stringValue = "n\(number)" }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
  private enum Axis: String, CodingKey { case x, y }

  init(_ lines: [[Point]], _ order: WritingOrder) { (self.lines, self.order) = (lines, order) }

  func encode(to encoder: any Encoder) throws {
    var map = encoder.container(keyedBy: Number.self)
    var asked: [KeyedEncodingContainer<Number>] = []
    func ask(through line: Int) {
      while asked.count <= line {
        asked.append(map.nestedContainer(keyedBy: Number.self, forKey: Number(asked.count)))
      }
    }
    if order != .lineByLine { ask(through: lines.count - 1) }
    try order.forEachPoint(of: lines) { line, column in
      ask(through: line)
      var axes = asked[line].nestedContainer(keyedBy: Axis.self, forKey: Number(column))
      try axes.encode(lines[line][column].x, forKey: .x)
      try axes.encode(lines[line][column].y, forKey: .y)
    }
  }

  init(from decoder: any Decoder) throws {
    let map = try decoder.container(keyedBy: Number.self)
    var found: [Int: [Int: Point]] = [:]
    for line in map.allKeys {
      let points = try map.nestedContainer(keyedBy: Number.self, forKey: line)
      for column in points.allKeys {
        let axes = try points.nestedContainer(keyedBy: Axis.self, forKey: column)
        let (x, y) = (try axes.decode(Int.self, forKey: .x), try axes.decode(Int.self, forKey: .y))
        found[line.number, default: [:]][column.number] = Point(x: x, y: y)
      }
    }
    lines = found.sorted { $0.key < $1.key }.map { line in
      line.value.sorted { $0.key < $1.key }.map(\.value)
    }
  }
}

/// Nested containers in nested containers come back, in whatever order they were written to.
@Suite struct NestedLevelsTests {
  private static let pointCount = LongTests.areWanted ? 30_000 : 9_000

  private func lines(_ count: Int) -> [[Point]] {
    let length = Self.pointCount / count
    return (0..<count).map { line in (0..<length).map { Point(x: line, y: $0 - 100) } }
  }

  @Test(arguments: [pointCount, 300, 1]) func unkeyed(lineCount: Int) throws {
    let lines = lines(lineCount)
    for order in WritingOrder.allCases {
      let isSame = try copy(UnkeyedLines(lines, order)).lines == lines
      #expect(isSame, "\(order)")
    }
  }

  @Test(arguments: [pointCount, 300]) func keyed(lineCount: Int) throws {
    let lines = lines(lineCount)
    for order in WritingOrder.allCases {
      let isSame = try copy(KeyedLines(lines, order)).lines == lines
      #expect(isSame, "\(order)")
    }
  }

  @Test func linesOfEveryLength() throws {
    let lines = (0..<200).map { line in (0..<(1 + line * 7 % 90)).map { Point(x: line, y: $0) } }
    for order in WritingOrder.allCases {
      #expect(try copy(UnkeyedLines(lines, order)).lines == lines, "\(order)")
      #expect(try copy(KeyedLines(lines, order)).lines == lines, "\(order)")
    }
  }

  /// One that was asked for first, and waits for all others and what they hold.
  @Test func theFirstOneLast() throws {
    struct Late: Codable {
      var first: [Point], others: [[Point]]
      init(_ lines: [[Point]]) { (first, others) = (lines[0], Array(lines.dropFirst())) }
      func encode(to encoder: any Encoder) throws {
        var list = encoder.unkeyedContainer()
        var late = list.nestedUnkeyedContainer()
        for line in others {
          var points = list.nestedUnkeyedContainer()
          for point in line {
            var numbers = points.nestedUnkeyedContainer()
            try numbers.encode(point.x)
            try numbers.encode(point.y)
          }
        }
        for point in first { try late.encode(point) }
      }
      init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        first = try list.decode([Point].self)
        others = []
        while !list.isAtEnd {
          others.append(try list.decode([[Int]].self).map { Point(x: $0[0], y: $0[1]) })
        }
      }
    }
    let lines = lines(300)
    let copy = try copy(Late(lines))
    #expect(copy.first == lines[0] && copy.others == Array(lines.dropFirst()))
  }
}

/// Where waiting nested containers are found does what a dictionary does.
@Suite struct SerialTableTests {
  @Test(arguments: 0..<8 as Range<UInt64>) func isADictionary(seed: UInt64) {
    var random = SeededGenerator(seed)
    var table = SerialTable<Int>()
    var expected: [UInt64: Int] = [:]
    var last: UInt64 = 0
    var unused: [UInt64] = []
    for step in 0..<2000 {
      // It fills and empties in turn.
      let adds = Int.random(in: 0..<8, using: &random) < (step / 250 % 2 == 0 ? 6 : 2)
      if adds {
        // Mostly in order. Some serials are left out, to be used later.
        last += 2
        unused.append(last - 1)
        var serial = last
        if Int.random(in: 0..<5, using: &random) == 0 {
          serial = unused.remove(at: Int.random(in: 0..<unused.count, using: &random))
        }
        table.insert(step, serial)
        expected[serial] = step
      } else if let serial = expected.keys.sorted().randomElement(using: &random) {
        table.remove(serial)
        expected[serial] = nil
        // Nobody has it any more.
        table.remove(serial)
      }
      #expect(table.count == expected.count, "seed \(seed)")
      let serial = UInt64.random(in: 0...(last + 1), using: &random)
      #expect(table[serial] == expected[serial], "seed \(seed)")
    }
    #expect((0...(last + 1)).allSatisfy { table[$0] == expected[$0] }, "seed \(seed)")
  }

  @Test func memoryGoesWithTheLast() {
    var table = SerialTable<Int>()
    for serial in 0..<100_000 as Range<UInt64> { table.insert(1, serial) }
    #expect(table.byteCapacity > 1 << 20)
    for serial in 0..<100_000 as Range<UInt64> { table.remove(serial) }
    #expect(table.count == 0 && table.byteCapacity < 1 << 17)
  }
}
