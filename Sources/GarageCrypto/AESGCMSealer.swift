#if Crypto
  public import Crypto
  public import GarageSealing

  #if canImport(FoundationEssentials)
    public import FoundationEssentials
  #else
    public import Foundation
  #endif

  /// Seals with AES in Galois/Counter Mode (NIST SP 800-38D), by swift-crypto. Fast on processors that have instructions for
  /// AES.
  ///
  /// ```swift
  /// let key = SymmetricKey(size: .bits256)             // keep it in the keychain, not beside the store
  /// let garage = try Garage(SealedStorage(SQLiteStorage(at: url), sealer: AESGCMSealer(key: key)))
  /// ```
  /// Every value gets its own nonce: 96 random bits from the system. **One key may seal at most 2³² values** in all its life,
  /// counting every put (SP 800-38D, section 8.3: the probability that a nonce repeats then stays below 2⁻³²). Change the key
  /// long before that, with ``GarageSealing/SealedStorage/rekey(batchCount:progress:)``. A nonce that repeats reveals the two
  /// values that it sealed, and allows others to be forged. Values have up to 64 GiB.
  ///
  /// Format: `| nonce, 12 | ciphertext | tag, 16 |`
  public struct AESGCMSealer: Sealer {
    private let key: SymmetricKey
    /// By default it is derived from the key, by a one-way function.
    public let keyIdentifier: UInt32
    private let nonces = NonceSource()

    /// Seals with a key of 128, 192 or 256 bits; 256 are recommended.
    ///
    /// - Parameter keyIdentifier: tells this key from other keys of the same store. Nil derives it from the key.
    /// - Throws: `CryptoKitError.incorrectKeySize` for keys of any other length.
    public init(key: SymmetricKey, keyIdentifier: UInt32? = nil) throws {
      guard [128, 192, 256].contains(key.bitCount) else { throw CryptoKitError.incorrectKeySize }
      self.key = key
      self.keyIdentifier = keyIdentifier ?? key.derivedIdentifier(for: "AES-GCM")
    }

    /// Seals with a new nonce.
    public func seal(_ value: Data, context: Data) throws -> Data {
      let box = try AES.GCM.seal(value, using: key, nonce: nonce(), authenticating: context)
      return box.nonce + box.ciphertext + box.tag
    }

    /// Opens. Throws unless all the sealed bytes, and the context, are unchanged.
    public func open(_ sealed: Data, context: Data) throws -> Data {
      try AES.GCM.open(AES.GCM.SealedBox(combined: sealed), using: key, authenticating: context)
    }

    /// Seals with a new nonce.
    public func seal(_ value: RawSpan, context: RawSpan, into output: SealerOutput) throws {
      try value.withUnsafeBytes { value in
        try context.withUnsafeBytes { context in
          let box = try AES.GCM.seal(value, using: key, nonce: nonce(), authenticating: context)
          guard let combined = box.combined else { throw CryptoKitError.incorrectParameterSize }
          output.append(combined)
        }
      }
    }

    /// Opens. Throws unless all the sealed bytes, and the context, are unchanged.
    public func open(_ sealed: RawSpan, context: RawSpan, into output: SealerOutput) throws {
      try sealed.withUnsafeBytes { sealed in
        try context.withUnsafeBytes { context in
          let box = try AES.GCM.SealedBox(combined: sealed)
          output.append(try AES.GCM.open(box, using: key, authenticating: context))
        }
      }
    }

    /// The sealed size less 28 bytes for nonce and tag, and at most 2³⁶ - 32 bytes, which SP 800-38D allows.
    public func maximumValueByteCount(sealedInto byteCount: Int) -> Int {
      max(0, min(byteCount - 28, (1 << 36) - 32))
    }

    private func nonce() throws -> AES.GCM.Nonce { try nonces.withNext { try AES.GCM.Nonce(data: $0) } }
  }
#endif
