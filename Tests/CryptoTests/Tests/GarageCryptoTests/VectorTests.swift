import Crypto
import Foundation
import GarageCrypto
import GarageSealing
import Testing

/// Published test vectors: what others sealed opens, and what is sealed here is what the vectors' cipher makes of it.
@Suite struct VectorTests {
  struct Vector: Sendable, CustomTestStringConvertible {
    var name: String
    var key: String
    var nonce: String
    var context: String
    var value: String
    var ciphertext: String
    var tag: String

    var testDescription: String { name }
    var sealed: Data { Data(hex: nonce) + Data(hex: ciphertext) + Data(hex: tag) }
  }

  private static let plaintext = """
    d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525\
    b16aedf5aa0de657ba637b39
    """
  private static let context = "feedfacedeadbeeffeedfacedeadbeefabaddad2"

  /// D. McGrew, J. Viega: The Galois/Counter Mode of Operation (GCM), as submitted to NIST, appendix B.
  static let gcm = [
    Vector(
      name: "AES-128, case 1", key: "00000000000000000000000000000000", nonce: "000000000000000000000000",
      context: "", value: "", ciphertext: "", tag: "58e2fccefa7e3061367f1d57a4e7455a"),
    Vector(
      name: "AES-128, case 4", key: "feffe9928665731c6d6a8f9467308308", nonce: "cafebabefacedbaddecaf888",
      context: context, value: plaintext,
      ciphertext: """
        42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa05\
        1ba30b396a0aac973d58e091
        """, tag: "5bc94fbc3221a5db94fae95ae7121a47"),
    Vector(
      name: "AES-192, case 10", key: "feffe9928665731c6d6a8f9467308308feffe9928665731c",
      nonce: "cafebabefacedbaddecaf888", context: context, value: plaintext,
      ciphertext: """
        3980ca0b3c00e841eb06fac4872a2757859e1ceaa6efd984628593b40ca1e19c7d773d00c144c525ac619d18c84a3f47\
        18e2448b2fe324d9ccda2710
        """, tag: "2519498e80f1478f37ba55bd6d27618c"),
    Vector(
      name: "AES-256, case 13", key: String(repeating: "00", count: 32), nonce: "000000000000000000000000",
      context: "", value: "", ciphertext: "", tag: "530f8afbc74536b9a963b4f1c4cb738b"),
    Vector(
      name: "AES-256, case 14", key: String(repeating: "00", count: 32), nonce: "000000000000000000000000",
      context: "", value: "00000000000000000000000000000000", ciphertext: "cea7403d4d606b6e074ec5d3baf39d18",
      tag: "d0d1c8a799996bf0265b98b5d48ab919"),
    Vector(
      name: "AES-256, case 16", key: "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
      nonce: "cafebabefacedbaddecaf888", context: context, value: plaintext,
      ciphertext: """
        522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838\
        c5f61e6393ba7a0abcc9f662
        """, tag: "76fc6ece0f4e1768cddf8853bb2d551b"),
  ]

  /// RFC 8439, section 2.8.2.
  static let chaCha = Vector(
    name: "RFC 8439, 2.8.2", key: "808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f",
    nonce: "070000004041424344454647", context: "50515253c0c1c2c3c4c5c6c7",
    value: Data(
      """
      Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen \
      would be it.
      """.utf8
    ).hex,
    ciphertext: """
      d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d63dbea45e8ca9671282fafb69da92728b\
      1a71de0a9e060b2905d6a5b67ecd3b3692ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc\
      3ff4def08e4b7a9de576d26586cec64b6116
      """, tag: "1ae10b594f09e26a7e902ecbd0600691")

  @Test(arguments: gcm)
  func aesGCM(_ vector: Vector) throws {
    let key = SymmetricKey(data: Data(hex: vector.key))
    try check(AESGCMSealer(key: key), vector) { value, nonce, context in
      let box = try AES.GCM.seal(
        value, using: key, nonce: AES.GCM.Nonce(data: nonce), authenticating: context)
      return try #require(box.combined)
    }
  }

  @Test func chaChaPoly() throws {
    let vector = VectorTests.chaCha
    let key = SymmetricKey(data: Data(hex: vector.key))
    try check(ChaChaPolySealer(key: key), vector) { value, nonce, context in
      try ChaChaPoly.seal(value, using: key, nonce: ChaChaPoly.Nonce(data: nonce), authenticating: context)
        .combined
    }
  }

  private func check(
    _ sealer: some Sealer, _ vector: Vector, _ reference: (Data, Data, Data) throws -> Data
  ) throws {
    let (value, context) = (Data(hex: vector.value), Data(hex: vector.context))
    // The vector opens, in both ways, and nothing like it does.
    #expect(try sealer.open(vector.sealed, context: context) == value)
    #expect(try sealer.openBytes(vector.sealed, context) == value)
    for position in vector.sealed.indices {
      var changed = vector.sealed
      changed[position] ^= 1
      #expect(throws: (any Error).self) { try sealer.open(changed, context: context) }
      #expect(throws: (any Error).self) { try sealer.openBytes(changed, context) }
    }
    #expect(throws: (any Error).self) { try sealer.open(vector.sealed, context: context + [0]) }
    #expect(throws: (any Error).self) { try sealer.open(vector.sealed.dropLast(), context: context) }
    // Under its nonce the cipher makes the vector of the value; what is sealed here is that cipher's, under its own.
    #expect(try reference(value, Data(hex: vector.nonce), context) == vector.sealed)
    for sealed in [try sealer.seal(value, context: context), try sealer.sealBytes(value, context)] {
      #expect(try reference(value, sealed.prefix(12), context) == sealed)
      #expect(sealed.count == value.count + 28)
    }
  }
}

extension Sealer {
  func sealBytes(_ value: Data, _ context: Data) throws -> Data {
    let output = SealerOutput()
    try value.withUnsafeBytes { value in
      try context.withUnsafeBytes { try seal(value.bytes, context: $0.bytes, into: output) }
    }
    return output.withUnsafeBytes { Data($0) }
  }

  func openBytes(_ sealed: Data, _ context: Data) throws -> Data {
    let output = SealerOutput()
    try sealed.withUnsafeBytes { sealed in
      try context.withUnsafeBytes { try open(sealed.bytes, context: $0.bytes, into: output) }
    }
    return output.withUnsafeBytes { Data($0) }
  }
}

extension Data {
  init(hex: String) {
    let digits = hex.compactMap(\.hexDigitValue)
    self = Data(stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
  }

  var hex: String { map { String(format: "%02x", $0) }.joined() }
}
