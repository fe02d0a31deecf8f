import Foundation
import Testing

@testable import GarageCoding

func identifier(_ id: any Hashable) throws -> Identifier {
  try Identifier(id) { value in try Array(JSONEncoder().encode(value)) }
}

private enum Raw: String, Codable { case one = "1" }
private enum Level: Int16 { case low = -1 }
private struct Wrapped: RawRepresentable, Hashable { var rawValue: Level }
private struct Ratio: RawRepresentable, Hashable, Codable { var rawValue: Double }
private struct Unusable: Hashable {}
private struct Pair: Codable, Hashable { var a = 1 }

/// The bytes of an identifier, which never change.
@Suite struct IdentifierTests {
  @Test(
    "golden: these bytes are stored",
    arguments: [
      (0, "2080"), (1, "208101"), (-1, "207ffe"), (255, "2081ff"), (256, "20820100"), (-256, "207efeff"),
      (Int.max, "20887fffffffffffffff"), (Int.min, "20787fffffffffffffff"),
      (UInt.max, "2088ffffffffffffffff"),
      (UInt8(7), "208107"), (Int128.min, "20707fffffffffffffffffffffffffffffff"),
      (UInt128.max, "2090ffffffffffffffffffffffffffffffff"), (Int128(1) << 64, "2089010000000000000000"),
      ("", "50"), ("Sam", "5053616d"), ("Cafe\u{301}", "50436166c3a9"),
      ("a\0b", "50610062"), ("😀", "50f09f9880"),
      (
        UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255)),
        "40000102030405060708090a0b0c0d0eff"
      ),
      (Date(timeIntervalSinceReferenceDate: 0), "308000000000000000"),
      (Date(timeIntervalSinceReferenceDate: -0.0), "308000000000000000"),
      (Date(timeIntervalSinceReferenceDate: 1), "30bff0000000000000"),
      (Date(timeIntervalSinceReferenceDate: -1), "30400fffffffffffff"),
      (Raw.one, "5031"), (Level.low, "207ffe"), (Wrapped(rawValue: .low), "207ffe"),
      (true, "5074727565"), (1.5, "50312e35"), (-0.0, "50302e30"), (-Double.nan, "506e616e"),
      (Character("e\u{301}"), "50c3a9"), ("abc".dropFirst(), "506263"),
      (Int?.some(1), "208101"), (Int?.none, "1000"), (Int??.some(nil), "1001"),
      (Int???.some(.some(nil)), "1002"),
      (String??.some("a"), "5061"),
      (Pair(), "607b2261223a317d"), (Pair?.none, "1000"), (Ratio(rawValue: 1.5), "60312e35"),
      ([1, 2], "605b312c325d"),
    ] as [(any Hashable & Sendable, String)])
  func golden(_ id: any Hashable & Sendable, _ bytes: String) throws {
    #expect(hex(try identifier(id).bytes) == bytes)
    #expect(Identifier(bytes: unhex(bytes))?.bytes == unhex(bytes))
  }

  @Test func erasedValuesAreUnwrapped() throws {
    #expect(try identifier(AnyHashable("a")) == identifier("a"))
    #expect(try identifier(AnyHashable(Int8(1))) == identifier(1))
  }

  /// No argument of a test, whose names print it: the description of this date ends the process on Linux.
  @Test func datesThatAreNoNumber() throws {
    for nan in [Double.nan, -.nan, Double(nan: 5, signaling: true)] {
      let id = try identifier(Date(timeIntervalSinceReferenceDate: nan))
      #expect(hex(id.bytes) == "30fff8000000000000")
      #expect(id.description == "nan s since 2001-01-01T00:00:00Z")
    }
  }

  @Test func goldenDigest() {
    var writer = IdentifierWriter(minimumCapacity: 64)
    writer.write(digest: Array("abc".utf8).withUnsafeBytes { ContentDigest.digest16(of: $0) })
    let id = Identifier(writer)
    #expect(hex(id.bytes) == "70ba7816bf8f01cfea414140de5dae2223")
    #expect(id.description == "ba7816bf8f01cfea414140de5dae2223")
  }

  @Test func unsupportedTypesAreNamed() {
    for id in [ObjectIdentifier(Int.self), Unusable()] as [any Hashable] {
      let error = #expect(throws: GraphCodingError.self) { try identifier(id) }
      #expect(error == .unsupportedIdentifier(type: String(reflecting: type(of: id))))
    }
    #expect(throws: GraphCodingError.self) { try IdentifierPlan.of(AnyHashable.self) }
    #expect(throws: GraphCodingError.self) { try IdentifierPlan.of(Unusable?.self) }
  }

  @Test func canonicalErrorsPass() {
    struct Failure: Error {}
    #expect(throws: Failure.self) { try Identifier(Pair()) { _ in throw Failure() } }
  }

  @Test func plansAppendTheSameBytes() throws {
    var writer = IdentifierWriter(minimumCapacity: 1)
    func check<ID: Hashable>(_ id: ID, _ writer: inout IdentifierWriter) throws {
      let plan = try IdentifierPlan.of(ID.self)
      func write(to writer: inout IdentifierWriter) throws {
        try withUnsafePointer(to: id) {
          try plan.write(at: $0, to: &writer) { try Array(JSONEncoder().encode($0)) }
        }
      }
      writer.removeAll()
      try write(to: &writer)
      let whole = try identifier(id)
      #expect(Array(writer.bytes) == whole.bytes && Identifier(writer) == whole)
      // A second one appends.
      try write(to: &writer)
      #expect(Array(writer.bytes) == whole.bytes + whole.bytes)
    }
    try check(Int.min, &writer); try check(UInt.max, &writer); try check(Int64(3), &writer)
    try check(UInt64.max, &writer); try check(Int32.min, &writer); try check(UInt32.max, &writer)
    try check(Int8(-3), &writer); try check(UInt128.max, &writer); try check(UUID(), &writer)
    try check(Date(), &writer); try check("Sam", &writer); try check("Ångström\u{323}", &writer)
    try check(String(repeating: "x", count: 100_000), &writer); try check(Raw.one, &writer)
    try check(Wrapped(rawValue: .low), &writer); try check(Pair(), &writer); try check(Int?.none, &writer)
  }

  @Test func damagedBytesAreNoIdentifier() {
    for bytes in [
      "", "00", "10", "20", "2081", "208100", "208000", "2082", "20820001", "207fff", "207eff00", "2091",
      "3000", "4000", "50ff", "7000", "ff",
    ] { #expect(Identifier(bytes: unhex(bytes)) == nil, "\(bytes)") }
    // Whatever the bytes, a description comes back.
    var random = SeededGenerator(1)
    for _ in 0..<20_000 {
      let kind = IdentifierKind.allCases.randomElement(using: &random)!.rawValue
      let count = Int.random(in: 0...20, using: &random)
      let bytes = [kind] + (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
      _ = Identifier(unchecked: bytes).description
      _ = Identifier.description(ofKeyBytes: bytes)
    }
  }
}

// MARK: - In keys

/// The form of an identifier in a key: as it is where it is short, else begun and digested.
@Suite struct IdentifierKeyTests {
  @Test(arguments: [0, 1, 223, 224, 225, 237, 238, 239, 240, 511, 512, 100_000])
  func lengths(_ count: Int) throws {
    let id = try identifier(String(repeating: "k", count: count))
    #expect(id.bytes.count == count + 1)
    #expect(id.isCut == (count + 1 > 239))
    #expect(id.keyBytes.count == (id.isCut ? 240 : count + 1))
    #expect(id.keyBytes.starts(with: id.bytes.prefix(id.isCut ? 224 : 239)))
    let lent = id.bytes.withUnsafeBytes { Identifier.withKeyForm(of: $0) { Array($0) } }
    #expect(lent == id.keyBytes)
    #expect(id.description == String(repeating: "k", count: count))
  }

  @Test func goldenCut() throws {
    let key = try identifier(String(repeating: "k", count: 300)).keyBytes
    #expect(hex(key) == "50" + String(repeating: "6b", count: 223) + "03c07a9cac874f2e775551e4ad7818a4")
    #expect(Identifier.description(ofKeyBytes: key).hasSuffix("kkk… (03c07a9cac874f2e775551e4ad7818a4)"))
    #expect(Identifier.description(ofKeyBytes: try identifier(-7).bytes) == "-7")
  }

  @Test("cut keys sort exactly up to the cut, and never meet beyond it")
  func cutOrder() throws {
    let seed: UInt64 = 20
    var random = SeededGenerator(seed)
    var ids: [String] = []
    for _ in 0..<2000 {
      let common = String(repeating: "a", count: Int.random(in: 200...245, using: &random))
      let count = Int.random(in: 0...60, using: &random)
      let rest = (0..<count).map { _ in "abc".randomElement(using: &random)! }
      ids.append(common + String(rest))
    }
    ids = Array(Set(ids)).sorted()
    #expect(Set(try ids.map { try identifier($0).keyBytes }).count == ids.count)
    for (a, b) in zip(ids, ids.dropFirst()) {
      let (x, y) = (try identifier(a), try identifier(b))
      guard x.bytes.prefix(224) != y.bytes.prefix(224) else { continue }
      #expect(x.keyBytes.lexicographicallyPrecedes(y.keyBytes), "seed \(seed): \(a) \(b)")
    }
  }
}
