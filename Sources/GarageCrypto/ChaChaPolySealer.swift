#if Crypto
  public import Crypto
  public import GarageSealing

  #if canImport(FoundationEssentials)
    public import FoundationEssentials
  #else
    public import Foundation
  #endif

  /// Seals with ChaCha20 and Poly1305 (RFC 8439), by swift-crypto. It is fast even on processors without instructions for AES.
  ///
  /// Every value gets its own nonce: 96 random bits from the system. RFC 8439 sets no limit for random nonces. The probability
  /// that one repeats depends on their length alone, so the limit of AES-GCM holds here, too: **one key may seal at most 2³²
  /// values** (NIST SP 800-38D, section 8.3), counting every put. Values have up to 256 GiB (RFC 8439, section 2.8).
  ///
  /// Format: `| nonce, 12 | ciphertext | tag, 16 |`
  public struct ChaChaPolySealer: Sealer {
    private let key: SymmetricKey
    /// By default it is derived from the key, by a one-way function.
    public let keyIdentifier: UInt32
    private let nonces = NonceSource()

    /// Seals with a key of 256 bits.
    ///
    /// - Parameter keyIdentifier: tells this key from other keys of the same store. Nil derives it from the key.
    /// - Throws: `CryptoKitError.incorrectKeySize` for keys of any other length.
    public init(key: SymmetricKey, keyIdentifier: UInt32? = nil) throws {
      guard key.bitCount == 256 else { throw CryptoKitError.incorrectKeySize }
      self.key = key
      self.keyIdentifier = keyIdentifier ?? key.derivedIdentifier(for: "ChaCha20-Poly1305")
    }

    /// Seals with a new nonce.
    public func seal(_ value: Data, context: Data) throws -> Data {
      try ChaChaPoly.seal(value, using: key, nonce: nonce(), authenticating: context).combined
    }

    /// Opens. Throws unless all the sealed bytes, and the context, are unchanged.
    public func open(_ sealed: Data, context: Data) throws -> Data {
      try ChaChaPoly.open(ChaChaPoly.SealedBox(combined: sealed), using: key, authenticating: context)
    }

    /// Seals with a new nonce.
    public func seal(_ value: RawSpan, context: RawSpan, into output: SealerOutput) throws {
      try value.withUnsafeBytes { value in
        try context.withUnsafeBytes { context in
          output.append(
            try ChaChaPoly.seal(value, using: key, nonce: nonce(), authenticating: context).combined)
        }
      }
    }

    /// Opens. Throws unless all the sealed bytes, and the context, are unchanged.
    public func open(_ sealed: RawSpan, context: RawSpan, into output: SealerOutput) throws {
      try sealed.withUnsafeBytes { sealed in
        try context.withUnsafeBytes { context in
          let box = try ChaChaPoly.SealedBox(combined: sealed)
          output.append(try ChaChaPoly.open(box, using: key, authenticating: context))
        }
      }
    }

    /// The sealed size less 28 bytes for nonce and tag, and at most the size that RFC 8439 allows.
    public func maximumValueByteCount(sealedInto byteCount: Int) -> Int {
      max(0, min(byteCount - 28, 274_877_906_880))
    }

    private func nonce() throws -> ChaChaPoly.Nonce {
      try nonces.withNext { try ChaChaPoly.Nonce(data: $0) }
    }
  }
#endif
