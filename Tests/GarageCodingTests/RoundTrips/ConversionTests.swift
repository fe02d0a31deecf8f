import Foundation
import Testing

@testable import GarageCoding

/// What is stored as one type and read as another: as JSON allows, or not at all.
@Suite struct ConversionTests {
  /// Reads `value` as `type` through JSON and ours; both must find the same, or both throw.
  private func compare<A: Codable, B: Codable & Equatable>(_ value: A, as type: B.Type) {
    let json = Result { try JSON.decode(New<B>.self, JSON.encode(Old(value))).value }
    let ours = Result { try recode(value, as: type) }
    switch (ours, json) {
    case (.success(let ours), .success(let json)): #expect(ours == json, "\(value) as \(type)")
    case (.failure(let ours), .failure(let json)):
      #expect(
        isSame(summary(ours), asJSONs: summary(json)),
        "\(value) as \(type): \(summary(ours)), JSON \(summary(json))")
    default: Issue.record("\(value) as \(type): \(ours), by JSON \(json)")
    }
  }

  private func compareNumbers<A: Codable>(_ value: A) {
    compare(value, as: Int.self); compare(value, as: Int8.self); compare(value, as: Int16.self);
    compare(value, as: Int32.self)
    compare(value, as: Int64.self); compare(value, as: UInt.self); compare(value, as: UInt8.self);
    compare(value, as: UInt16.self)
    compare(value, as: UInt32.self); compare(value, as: UInt64.self); compare(value, as: Double.self);
    compare(value, as: Float.self)
    compare(value, as: Decimal.self); compare(value, as: String.self); compare(value, as: Bool.self)
    compare([value, value], as: [Int].self); compare([value], as: [Int8].self);
    compare([value], as: [UInt64].self)
    compare([value], as: [Double].self); compare([value], as: [Float].self); compare([value], as: [Int?].self)
    compare([value], as: [String].self); compare(Optional(value), as: Int.self);
    compare(["k": value], as: [String: Int].self)
    compare([value], as: Set<Double>.self)
  }

  @Test func numbersOfOtherWidths() {
    for value in [
      0, 1, -1, 63, 64, 127, 128, -128, -129, 255, 256, 65_535, 65_536, 1 << 31, 1 << 32, .max, .min,
    ] as [Int] {
      compareNumbers(value)
    }
    for value in [0.0, 5, -5, 5.5, 255, 256, 1e10, 1e19, 1e300, -0.5, 4_294_967_296] as [Double] {
      compareNumbers(value)
    }
    for value in [0, 5, -5, 0.5, 1e10] as [Float] { compareNumbers(value) }
    for value in [UInt64.max, UInt64(Int64.max) + 1] { compareNumbers(value) }
    compareNumbers(true)
    compareNumbers(Decimal(5))
    compareNumbers(Decimal(string: "5.5")!)
  }

  @Test func floatToDoubleIsExact() throws {
    #expect(try recode(Float(0.1), as: Double.self) == Double(Float(0.1)))
    #expect(try recode([Float(0.1)], as: [Double].self) == [Double(Float(0.1))])
    #expect(try recode(0.1, as: Float.self) == Float(0.1))
    #expect(try recode(Double.infinity, as: Float.self) == .infinity)
    #expect(try recode(Double.nan, as: Float.self).isNaN)
    // Foundation ends the process where it is asked to make a Decimal of them.
    for value in [Double.infinity, -.infinity] {
      #expect(throws: DecodingError.self) { try recode(value, as: Decimal.self) }
      #expect(throws: DecodingError.self) { try recode([value], as: [Decimal].self) }
      #expect(throws: DecodingError.self) { try recode(Float(value), as: Decimal?.self) }
    }
  }

  /// Integers that Int128 does not hold are numbers like others.
  @Test func widestIntegers() throws {
    for value in [UInt128.max, UInt128(1) << 127] {
      #expect(try recode(value, as: Double.self) == Double(value))
      #expect(try recode([value], as: [Double].self) == [Double(value)])
      #expect(try recode(value, as: Decimal.self) == Decimal(string: String(value)))
      #expect(throws: DecodingError.self) { try recode(value, as: Int128.self) }
    }
    #expect(try recode(UInt128(1) << 127, as: Float.self) == 0x1p127)
  }

  @Test func textAndNothing() {
    compare("x", as: Int.self); compare("5", as: Int.self); compare("true", as: Bool.self)
    compare(Int?.none, as: Int?.self); compare(Int?.none, as: String?.self);
    compare([Int?.none], as: [String?].self)
    compare([1, 2], as: Set<Int>.self); compare(Set([1, 2]), as: Set<Double>.self)
    compare([String](), as: [Int].self); compare([Int](), as: [Point].self);
    compare([Point](), as: [Double].self)
    compare(["a": 1], as: [String: Double].self); compare([1: 2], as: [String: Int].self);
    compare(["1": 2], as: [Int: Int].self)
    compare(["x": 1], as: [Int: Int].self); compare(["x": 1, "y": 2], as: Point.self);
    compare(Point(x: 1, y: 2), as: [String: Int].self)
    compare(URL(string: "https://example.com")!, as: String.self);
    compare("https://example.com", as: URL.self)
    compare("E621E1F8-C36C-495A-93FC-0C247A3E6E5F", as: UUID.self); compare("no", as: UUID.self)
    compare(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")!, as: String.self)
    compare(Suit.hearts, as: String.self); compare("hearts", as: Suit.self);
    compare(Theme.dark, as: Suit.self)
    compare(Meters(rawValue: 5), as: Int.self); compare(5, as: Meters.self);
    compare([5, 6], as: [Meters].self)
    compare([1, 2, 3], as: Range<Int>.self); compare(1..<5, as: [Int].self);
    compare([1, 5], as: ClosedRange<Double>.self)
    compare([[1]], as: [[Double]].self); compare([true], as: [Int].self); compare(["a"], as: [Suit].self)
    compare(["hearts"], as: [Suit].self); compare([Suit.hearts], as: [String].self);
    compare([1, -1], as: [Rank].self)
    compare(Payload.one(5), as: [String: [String: Int]].self);
    compare(Date(timeIntervalSinceReferenceDate: 5), as: Double.self)
    compare(Date(timeIntervalSinceReferenceDate: 5), as: Erased.self);
    compare([Date(timeIntervalSinceReferenceDate: 5)], as: [Double].self)
    compare(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")!, as: Erased.self)
    compare(Decimal(5), as: Erased.self); compare(Stack(items: [1]), as: Erased.self)
  }
  private struct Stack: Codable {
    var items: [Int], url = URL(string: "a:b")!, none: Int? = nil, list = ["x"], doubles = [0.5]
  }
}
