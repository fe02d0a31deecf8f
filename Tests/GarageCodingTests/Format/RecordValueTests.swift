import Foundation
import Testing

@testable import GarageCoding

/// Records as trees of plain values.
@Suite struct RecordValueTests {
  /// Every record of every value that the coder is tested with, read as a tree and written again.
  @Test func everyRecordBecomesATreeAndBack() throws {
    var store = TreeStore()
    for (id, testCase) in RoundTripTests.cases.enumerated() {
      store = TreeStore()
      try testCase.keep(id, store)
      try testCase.check(id, store)
    }
  }

  /// Keeps records as what their trees become.
  private struct TreeStore: HolderStore {
    let source = DictionarySource()

    func keep<T: Codable>(_ holder: Holder<T>) throws {
      let graph = try GraphEncoder().encode([holder])
      source.add(graph)
      for (key, record) in graph.recordsByKey {
        let content = try self.content(key, record)
        let identifier = try found(content.header.wholeIdentifier ?? Identifier(bytes: Array(key[8...])))
        let written = try content.record(tag: tag(key), identifier: identifier)
        // By bytes, because NaN is not equal to itself.
        #expect(try self.content(key, written).record(tag: tag(key), identifier: identifier) == written)
        source.records[key] = written
      }
      // Nothing is to be found but the trees.
      source.shapes = [:]
    }

    func holder<T: Codable>(of type: T.Type, id: Int) throws -> Holder<T>? {
      try decode(Holder<T>.self, TypeDescription.identity(of: Holder<T>.self, id: id), from: source)
    }

    private func tag(_ key: [UInt8]) -> UInt64 { key[..<8].reduce(0) { $0 << 8 | UInt64($1) } }

    private func content(_ key: [UInt8], _ record: [UInt8]) throws -> RecordContent {
      let identifier = Array(key[8...])
      return try RecordContent(
        tag: tag(key), keyIdentifier: identifier.span.bytes, record: record.span.bytes, typeName: "Holder",
        shapeText: { source.shapes[$0] })
    }
  }

  private struct Everything: Codable {
    var yes = true, small = 7, large = Int64.min, wide = Int128.max, beyond = UInt128.max
    var float: Float = 1.5, double = -0.0, date = Date(timeIntervalSinceReferenceDate: 0.1), uuid = UUID()
    var decimal = Decimal(string: "12.5")!, data = Data([1, 2]), text = "é", none: Int?, list = ["a", "b"]
    var numbers = [1, 300], nested = ["x": [1.5: "y"]], url = URL(string: "https://a.b")!
  }

  @Test func everyKindOfValue() throws {
    let value = Everything()
    let tree = try found(Prototype(of: value, userInfo: [:]).value)
    #expect(tree["yes"] == true && tree["small"]?.integerValue == 7 && tree["none"] == nil)
    #expect(tree["large"] == .integer(.min) && tree["wide"] == .wideInteger(.max))
    #expect(tree["beyond"] == .unsignedInteger(.max) && tree["beyond"] == RecordValue(integer: UInt128.max))
    #expect(tree["float"] == .float(1.5) && tree["double"]?.doubleValue?.sign == .minus)
    #expect(tree["date"]?.dateValue == value.date && tree["uuid"]?.uuidValue == value.uuid)
    #expect(tree["decimal"] == .decimal(value.decimal) && tree["data"]?.dataValue == value.data)
    #expect(tree["text"] == "é" && tree["url"] == "https://a.b" && tree["list"] == ["a", "b"])
    #expect(tree["numbers"]?[1]?.integerValue == 300 && tree["nested"]?["x"] == [1.5, "y"])
    #expect(Array(tree.keys.prefix(3)) == ["yes", "small", "large"])
  }

  @Test func subscripts() {
    var tree: RecordValue = ["a": 1, "b": ["x": "y"], "c": [1, 2, 3]]
    tree["d"] = .string("new")
    tree["b"]?["z"] = nil
    tree["b"]?["w"] = 2.5
    tree["c"]?[1] = nil
    tree["c"]?[7] = 1
    tree["a"]?["no map"] = 1
    #expect(tree == ["a": 1, "b": ["x": "y", "w": 2.5], "c": [1, 3], "d": "new"])
    #expect(tree.keys == ["a", "b", "c", "d"])
    tree.rename("a", to: "first")
    tree.rename("absent", to: "b")
    #expect(tree.keys == ["first", "b", "c", "d"] && tree["first"] == 1)
    tree.rename("d", to: "b")
    #expect(tree.keys == ["first", "c", "b"] && tree["b"] == "new")
    #expect(tree.remove("b") == "new" && tree.remove("b") == nil && tree["b"] == nil)
    var versioned = RecordValue.versioned(3, ["k": 1])
    versioned["k"] = 2
    versioned.rename("k", to: "l")
    #expect(versioned == .versioned(3, ["l": 2]) && versioned.keys == ["l"])
    var null = RecordValue.null
    null["k"] = false
    #expect(null == ["k": false] && null["k"]?.boolValue == false)
    // Equal fields in another order are equal, and hash alike.
    let left: RecordFields = ["a": 1, "b": 2], right: RecordFields = ["b": 2, "a": 1]
    #expect(left == right && left.hashValue == right.hashValue && left.keys != right.keys && left.count == 2)
  }

  @Test func depthIsLimited() throws {
    var value: RecordValue = 1
    for _ in 0..<(RecordFormat.maximumDepth + 1) { value = .array([value, "x"]) }
    #expect(throws: GraphCodingError.self) { try BodyWriter.body(of: value, .stored([])) }
  }
}
