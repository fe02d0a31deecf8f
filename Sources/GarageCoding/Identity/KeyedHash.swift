import CGarage

/// HMAC-SHA-256 (RFC 2104, FIPS 198-1) under one key: a digest that only those who have the key can compute.
///
/// Format: the hashes stand in the keys of garages that hide identifiers, and never change.
package final class KeyedHash: Sendable {
  /// The length of the library's keys: that of the digest, which RFC 2104 recommends.
  package static let keyByteCount = 32
  /// How much of the digest stands in keys: 128 bits, so that two identifiers never have the same.
  package static let byteCount = 16

  private static let blockByteCount = 64
  private static let digestByteCount = 32
  /// The states of SHA-256 after the inner and the outer block, which are the same for every message.
  private let inner: [UInt32]
  private let outer: [UInt32]

  /// - Parameter key: of any length. If it is longer than 64 bytes, its digest is used instead.
  package init(key: [UInt8]) {
    var block =
      key.count > KeyedHash.blockByteCount ? key.withUnsafeBytes { ContentDigest.sha256(of: $0) } : key
    block += [UInt8](repeating: 0, count: KeyedHash.blockByteCount - block.count)
    inner = KeyedHash.state(behind: block.map { $0 ^ 0x36 })
    outer = KeyedHash.state(behind: block.map { $0 ^ 0x5C })
  }

  private static func state(behind block: [UInt8]) -> [UInt32] {
    var state = [UInt32](repeating: 0, count: 8)
    garage_sha256_begin(block, &state)
    return state
  }

  /// A key that nobody can guess, made by the system's generator.
  package static func makeKey() -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<keyByteCount).map { _ in UInt8.random(in: 0 ... .max, using: &generator) }
  }

  /// The whole digest: 32 bytes.
  package func digest(of message: UnsafeRawBufferPointer) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: KeyedHash.digestByteCount) { buffer, count in
      write(message, to: UnsafeMutableRawBufferPointer(buffer))
      count = KeyedHash.digestByteCount
    }
  }

  /// Lends the first ``byteCount`` bytes of the digest, on the stack.
  package func withHash<R>(of message: RawSpan, _ body: (RawSpan) throws -> R) throws -> R {
    try withUnsafeTemporaryAllocation(byteCount: KeyedHash.digestByteCount, alignment: 8) { digest in
      message.withUnsafeBytes { write($0, to: digest) }
      return try body(UnsafeRawBufferPointer(rebasing: digest[..<KeyedHash.byteCount]).bytes)
    }
  }

  /// H(outer | H(inner | message))
  private func write(_ message: UnsafeRawBufferPointer, to digest: UnsafeMutableRawBufferPointer) {
    guard let target = digest.baseAddress?.typedBytes else { return }
    garage_sha256_end(inner, message.baseAddress, message.count, target)
    // The bytes are read before the digest overwrites them.
    garage_sha256_end(outer, target, KeyedHash.digestByteCount, target)
  }
}
