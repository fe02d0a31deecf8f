#if Command
  import Foundation
  import GarageDriver
  import GarageSealing

  #if Crypto
    import Crypto
    import GarageCrypto
  #endif

  /// The key of a sealed store, with the storages that it opens.
  struct SealingKey: Equatable {
    /// The given content may be a key as it is, and a different key in hexadecimal or Base64.
    private let readings: [Data]
    private var bytes: Data { readings[0] }

    /// Whether it may be two keys. Either may open a store, but it is not known which one is to make a new store.
    var isAmbiguous: Bool { readings.count > 1 }

    private static let byteCounts = [16, 24, 32]

    /// The key in the content of a file, or in text; nil if there is none.
    init?(_ content: Data, isText: Bool = false) {
      let plain = !isText && Self.byteCounts.contains(content.count) ? [content] : []
      readings = plain + [Self.decoded(content)].compactMap { $0 }
      if readings.isEmpty { return nil }
    }

    /// The bytes that a text in hexadecimal or Base64 stands for.
    private static func decoded(_ content: Data) -> Data? {
      guard let text = String(data: content, encoding: .utf8)?.trimmingCharacters(in: .whitespacesAndNewlines)
      else {
        return nil
      }
      let digits = Array(text.utf8)
      if byteCounts.contains(digits.count / 2), digits.count % 2 == 0, text.allSatisfy(\.isHexDigit) {
        return Data(
          stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(decoding: digits[$0..<($0 + 2)], as: UTF8.self), radix: 16)
          })
      }
      let decoded = Data(base64Encoded: text)
      return decoded.flatMap { byteCounts.contains($0.count) ? $0 : nil }
    }

    #if Crypto
      /// The storage within its seal: with AES, or with ChaCha20 if none of its values opens with AES.
      func storage(_ base: any StorageDriver) throws -> any StorageDriver {
        do { return try Self.storage(base, bytes) } catch let error as StorageError
          where error.kind == .wrongKey && isAmbiguous
        {
          guard let storage = try? Self.storage(base, readings[1]) else { throw error }
          return storage
        }
      }

      private static func storage(_ base: any StorageDriver, _ bytes: Data) throws -> any StorageDriver {
        let key = SymmetricKey(data: bytes)
        do {
          return try SealedStorage(base, sealer: AESGCMSealer(key: key))
        } catch let error as StorageError where error.kind == .wrongKey && bytes.count == 32 {
          guard let storage = try? SealedStorage(base, sealer: ChaChaPolySealer(key: key)) else {
            throw error
          }
          return storage
        }
      }

      /// The storage within the seal of a new key. It also opens values that are sealed with this key, with the cipher that
      /// this key is used with.
      func rekeyingStorage(_ base: any StorageDriver, to new: SealingKey) throws -> SealedStorage {
        let (oldKey, newKey) = (SymmetricKey(data: bytes), SymmetricKey(data: new.bytes))
        do {
          return try SealedStorage(
            base, sealer: AESGCMSealer(key: newKey),
            formerSealers: readings.map { try AESGCMSealer(key: SymmetricKey(data: $0)) })
        } catch let error as StorageError where error.kind == .wrongKey && bytes.count == 32 {
          guard new.bytes.count == 32 else {
            let isChaCha = (try? SealedStorage(base, sealer: ChaChaPolySealer(key: oldKey))) != nil
            throw isChaCha ? Self.tooShort : error
          }
          let storage = try? SealedStorage(
            base, sealer: ChaChaPolySealer(key: newKey), formerSealers: [ChaChaPolySealer(key: oldKey)])
          guard let storage else { throw error }
          return storage
        }
      }

      private static let tooShort = CommandFailure(
        message:
          "The store is sealed with ChaCha20-Poly1305, whose keys have 32 bytes, and the new one has fewer.",
        status: CommandFailure.usageStatus)

      func pages(_ base: any SalvageSource) throws -> any SalvageSource {
        let key = SymmetricKey(data: bytes)
        var former: [any Sealer] = bytes.count == 32 ? [try ChaChaPolySealer(key: key)] : []
        for other in readings.dropFirst() { former.append(try AESGCMSealer(key: SymmetricKey(data: other))) }
        return try SealedPages(base, sealer: AESGCMSealer(key: key), formerSealers: former)
      }
    #else
      func storage(_ base: any StorageDriver) throws -> any StorageDriver { throw Self.unable }
      func rekeyingStorage(_ base: any StorageDriver, to new: SealingKey) throws -> SealedStorage {
        throw Self.unable
      }
      func pages(_ base: any SalvageSource) throws -> any SalvageSource { throw Self.unable }

      private static let unable = CommandFailure.opening(
        "This command was built without ciphers, and opens no sealed stores. Build it with 'make garage'.")
    #endif
  }
#endif
