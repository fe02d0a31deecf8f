import CGarage
import Testing

@testable import GarageCoding

private func sha256(_ bytes: [UInt8]) -> String {
  hex(bytes.withUnsafeBytes { ContentDigest.sha256(of: $0) })
}

/// SHA-256, by published examples.
@Suite struct DigestTests {
  @Test(
    "FIPS 180-4 example values",
    arguments: [
      ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
      ),
      (
        "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrs"
          + "mnopqrstnopqrstu",
        "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
      ),
    ])
  func examples(_ text: String, _ digest: String) { #expect(sha256(Array(text.utf8)) == digest) }

  @Test func aMillionA() {
    let digest = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
    #expect(sha256([UInt8](repeating: 0x61, count: 1_000_000)) == digest)
  }

  @Test(
    "NIST CAVS short messages",
    arguments: [
      ("d3", "28969cdfa74a12c82f3bad960b0b000aca2ac329deea5c2328ebc6f2ba9802c1"),
      ("11af", "5ca7133fa735326081558ac312c620eeca9970d1e70a4b95533d956f072d1f98"),
      ("b4190e", "dff2e73091f6c05e528896c4c831b9448653dc2ff043528f6769437bc7b975c2"),
      ("74ba2521", "b16aa56be3880d18cd41e68384cf1ec8c17680c45a02b1575dc1518923ae8b0e"),
    ])
  func cavs(_ message: String, _ digest: String) { #expect(sha256(unhex(message)) == digest) }

  @Test("one block and its padding, byte by byte: digests of digests of 0…200 zeros")
  func lengths() {
    var all: [UInt8] = []
    for count in 0...200 {
      all += [UInt8](repeating: 0, count: count).withUnsafeBytes { ContentDigest.sha256(of: $0) }
    }
    // Computed with another implementation (Python's hashlib).
    #expect(sha256(all) == "b9c4ebeeb7d1825824131cf7b7d28469cca4f9166473bf51bb519365ae27eccd")
  }

  /// The processor's own instructions compute what portable code does, wherever the bytes stand.
  @Test func instructionsAgreeWithPortableCode() {
    var random = SeededGenerator(7)
    let bytes = (0..<400).map { _ in UInt8.random(in: 0...255, using: &random) }
    bytes.withUnsafeBytes { bytes in
      for start in 0..<5 {
        for count in 0...300 {
          let piece = UnsafeRawBufferPointer(rebasing: bytes[start..<(start + count)])
          var slow = [UInt8](repeating: 0, count: 32)
          garage_sha256_portable(piece.baseAddress, piece.count, &slow)
          #expect(ContentDigest.sha256(of: piece) == slow, "\(count) bytes at \(start)")
        }
      }
    }
  }

  @Test func cutDigestsAreTheFirstBytes() {
    "abc".utf8.withContiguousStorageIfAvailable {
      #expect(ContentDigest.digest8(of: UnsafeRawBufferPointer($0)) == 0xba78_16bf_8f01_cfea)
      #expect(ContentDigest.digest16(of: UnsafeRawBufferPointer($0)).1 == 0x4141_40de_5dae_2223)
    }
  }
}
