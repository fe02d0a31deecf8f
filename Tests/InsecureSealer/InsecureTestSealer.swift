package import Foundation
package import GarageSealing

/// **Not secure.** Mixes values with a stream of numbers and adds a check, both from a key of 64 bits, so that
/// tests see what a real sealer does, quickly and without any dependency: values that cannot be read, and that
/// do not open when a bit, the context or the key is another.
package struct InsecureTestSealer: Sealer {
  private let key: UInt64
  package let keyIdentifier: UInt32

  package init(key: UInt64, identifier: UInt32? = nil) {
    self.key = key
    keyIdentifier = identifier ?? UInt32(truncatingIfNeeded: mixed(key &+ 1))
  }

  package func seal(_ value: Data, context: Data) throws -> Data {
    let output = SealerOutput()
    try value.withUnsafeBytes { value in
      try context.withUnsafeBytes { try seal(value.bytes, context: $0.bytes, into: output) }
    }
    return output.withUnsafeBytes { Data($0) }
  }

  package func open(_ sealed: Data, context: Data) throws -> Data {
    let output = SealerOutput()
    try sealed.withUnsafeBytes { sealed in
      try context.withUnsafeBytes { try open(sealed.bytes, context: $0.bytes, into: output) }
    }
    return output.withUnsafeBytes { Data($0) }
  }

  /// | nonce, 8 | check, 8 | the value, mixed |
  package func seal(_ value: RawSpan, context: RawSpan, into output: SealerOutput) throws {
    let nonce = UInt64.random(in: 0 ... .max)
    value.withUnsafeBytes { value in
      output.append(byteCount: 16 + value.count) { sealed in
        sealed.storeBytes(of: nonce, toByteOffset: 0, as: UInt64.self)
        let content = UnsafeMutableRawBufferPointer(rebasing: sealed[16...])
        mix(value, nonce: nonce, into: content)
        let check = check(nonce, context, UnsafeRawBufferPointer(content))
        sealed.storeBytes(of: check, toByteOffset: 8, as: UInt64.self)
      }
    }
  }

  package func open(_ sealed: RawSpan, context: RawSpan, into output: SealerOutput) throws {
    try sealed.withUnsafeBytes { sealed in
      guard sealed.count >= 16 else { throw DoesNotOpen() }
      let nonce = sealed.loadUnaligned(fromByteOffset: 0, as: UInt64.self)
      let content = UnsafeRawBufferPointer(rebasing: sealed[16...])
      guard sealed.loadUnaligned(fromByteOffset: 8, as: UInt64.self) == check(nonce, context, content) else {
        throw DoesNotOpen()
      }
      output.append(byteCount: content.count) { mix(content, nonce: nonce, into: $0) }
    }
  }

  package func maximumValueByteCount(sealedInto byteCount: Int) -> Int { byteCount - 16 }

  private func mix(
    _ source: UnsafeRawBufferPointer, nonce: UInt64, into target: UnsafeMutableRawBufferPointer
  ) {
    guard let from = source.baseAddress, let to = target.baseAddress else { return }
    var state = mixed(key ^ nonce)
    var offset = 0
    // Whole words, and the rest byte by byte.
    while offset &+ 8 <= source.count {
      state = state &* 0x5851_F42D_4C95_7F2D &+ 0x1405_7B7E_F767_814F
      let word = from.loadUnaligned(fromByteOffset: offset, as: UInt64.self) ^ state ^ state >> 32
      to.storeBytes(of: word, toByteOffset: offset, as: UInt64.self)
      offset &+= 8
    }
    while offset < source.count {
      state = mixed(state)
      to.storeBytes(
        of: source[offset] ^ UInt8(truncatingIfNeeded: state), toByteOffset: offset, as: UInt8.self)
      offset += 1
    }
  }

  private func check(_ nonce: UInt64, _ context: RawSpan, _ content: UnsafeRawBufferPointer) -> UInt64 {
    let start = mixed(key &* 3 ^ nonce)
    let ofContext = context.withUnsafeBytes { sum($0, start) }
    return mixed(sum(content, ofContext ^ key))
  }

  private func sum(_ bytes: UnsafeRawBufferPointer, _ start: UInt64) -> UInt64 {
    var sum = mixed(start ^ UInt64(bytes.count))
    guard let base = bytes.baseAddress else { return sum }
    var offset = 0
    while offset &+ 8 <= bytes.count {
      sum = (sum ^ base.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) &* 0x9E37_79B9_7F4A_7C15
      sum ^= sum >> 29
      offset &+= 8
    }
    while offset < bytes.count {
      sum = mixed(sum ^ UInt64(bytes[offset]))
      offset += 1
    }
    return sum
  }
}

private struct DoesNotOpen: Error {}

/// SplitMix64's finish (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
private func mixed(_ number: UInt64) -> UInt64 {
  var z = number &+ 0x9E37_79B9_7F4A_7C15
  z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
  z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
  return z ^ (z >> 31)
}
