import Testing

@testable import GarageCoding

/// HMAC-SHA-256 as RFC 4231 tests it, section 4.
@Suite struct KeyedHashTests {
  struct Vector: Sendable, CustomTestStringConvertible {
    let number: Int
    let key: [UInt8]
    let message: [UInt8]
    let digest: String
    var testDescription: String { "test case \(number)" }

    init(_ number: Int, _ key: [UInt8], _ message: [UInt8], _ digest: String) {
      (self.number, self.key, self.message, self.digest) = (number, key, message, digest)
    }
  }

  static let vectors = [
    Vector(
      1, [UInt8](repeating: 0x0B, count: 20), Array("Hi There".utf8),
      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
    Vector(
      2, Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
    Vector(
      3, [UInt8](repeating: 0xAA, count: 20), [UInt8](repeating: 0xDD, count: 50),
      "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
    Vector(
      4, (1...25).map { UInt8($0) }, [UInt8](repeating: 0xCD, count: 50),
      "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"),
    Vector(
      6, [UInt8](repeating: 0xAA, count: 131),
      Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"),
    Vector(
      7, [UInt8](repeating: 0xAA, count: 131),
      Array(
        ("This is a test using a larger than block-size key and a larger than block-size data. The key needs to "
          + "be hashed before being used by the HMAC algorithm.").utf8),
      "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"),
  ]

  @Test(arguments: vectors)
  func digestsAreThePublishedOnes(_ vector: Vector) {
    let hash = KeyedHash(key: vector.key)
    #expect(hex(vector.message.withUnsafeBytes { hash.digest(of: $0) }) == vector.digest)
  }

  /// Case 5 gives the first 16 bytes alone, which is what keys hold.
  @Test func keysHoldTheFirst16Bytes() throws {
    let message = Array("Test With Truncation".utf8)
    let hash = KeyedHash(key: [UInt8](repeating: 0x0C, count: 20))
    try hash.withHash(of: message.span.bytes) { bytes in
      #expect(hex([UInt8](copying: bytes)) == "a3b6167473100ee06e0c796c2955552b")
    }
  }

  @Test func keysAreMadeAtRandom() {
    let keys = Set((0..<100).map { _ in KeyedHash.makeKey() })
    #expect(keys.count == 100)
    #expect(keys.allSatisfy { $0.count == 32 })
    #expect(Set(keys.joined()).count > 200)
  }
}

extension [UInt8] {
  fileprivate init(copying span: RawSpan) { self = span.withUnsafeBytes { Array($0) } }
}
