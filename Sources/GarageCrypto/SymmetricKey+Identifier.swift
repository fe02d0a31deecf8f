#if Crypto
  internal import Crypto

  #if canImport(FoundationEssentials)
    internal import FoundationEssentials
  #else
    internal import Foundation
  #endif

  extension SymmetricKey {
    /// Makes the identifier of a key of the key itself, so that nobody has to number keys.
    ///
    /// Format: the first 4 bytes, big-endian, of HMAC-SHA-256 under the key over `Garage key identifier: ` and the
    /// name of the cipher. They do not help to find the key, if it is a random one. Two keys of one store have the
    /// same by chance once in four thousand million times, and opening refuses that.
    func derivedIdentifier(for cipher: String) -> UInt32 {
      let code = HMAC<SHA256>.authenticationCode(
        for: Data("Garage key identifier: \(cipher)".utf8), using: self)
      return code.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }
  }
#endif
