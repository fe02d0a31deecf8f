#if Crypto
  internal import Crypto

  #if canImport(FoundationEssentials)
    internal import FoundationEssentials
  #else
    internal import Foundation
  #endif

  extension SymmetricKey {
    /// Derives the identifier of a key from the key itself, so that keys need not be numbered.
    ///
    /// Format: the first 4 bytes, big-endian, of HMAC-SHA-256 under the key over `Garage key identifier: ` and the name of the
    /// cipher. For a random key, they do not help to find it. The probability that two keys of one store have the same
    /// identifier is one in four thousand million; opening refuses such keys.
    func derivedIdentifier(for cipher: String) -> UInt32 {
      let code = HMAC<SHA256>.authenticationCode(
        for: Data("Garage key identifier: \(cipher)".utf8), using: self)
      return code.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }
  }
#endif
