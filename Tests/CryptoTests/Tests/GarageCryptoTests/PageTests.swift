import Crypto
import Foundation
import GarageCrypto
import GarageMemory
import GarageSQLite
import GarageSealing
import GarageStorage
import Testing

// The code of Docs/Encryption.md that needs a cipher. GarageSealingTests compare it with the page.

private func sealer(ofStore name: String, _ key: SymmetricKey) throws -> AESGCMSealer {
  let storeKey = HKDF<SHA256>.deriveKey(
    inputKeyMaterial: key, info: Data("store \(name)".utf8), outputByteCount: 32)
  return try AESGCMSealer(key: storeKey)
}

/// The ciphers' code of that page compiles and runs.
@Suite struct PageTests {
  @Test func opens() throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "garage-page-\(UUID().uuidString)")
    defer {
      for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: url.path + suffix) }
    }
    let key = SymmetricKey(size: .bits256)  // made once, kept in the keychain, never beside the store
    let garage = try Garage(SealedStorage(SQLiteStorage(at: url), sealer: AESGCMSealer(key: key)))
    #expect(!garage.hidesIdentifiers)
    try garage.close()
  }

  /// What one store holds opens in no other.
  @Test func storesHaveKeysOfTheirOwn() throws {
    let key = SymmetricKey(size: .bits256)
    let (first, second) = (MemoryStorage(), MemoryStorage())
    let (a, b) = (try sealer(ofStore: "a", key), try sealer(ofStore: "b", key))
    #expect(a.keyIdentifier != b.keyIdentifier)
    _ = try Garage(SealedStorage(first, sealer: a))
    #expect(throws: (any Error).self) { try SealedStorage(MemoryStorage(sharing: first), sealer: b) }
    _ = try Garage(SealedStorage(second, sealer: b))
    _ = try Garage(SealedStorage(MemoryStorage(sharing: first), sealer: sealer(ofStore: "a", key)))
  }
}
