import Crypto
import Foundation
import GarageConformance
import GarageCrypto
import GarageDriver
import GarageLMDB
import GarageMemory
import GarageSQLite
import GarageSealing
import GarageStorage
import Testing

/// The ready-made sealers open what they sealed, and nothing that was changed.
@Suite struct CryptoSealerTests {
  static let key = SymmetricKey(data: Data((0..<32).map { UInt8($0) }))

  enum Cipher: String, CaseIterable, Sendable {
    case aesGCM, chaChaPoly

    func sealer(_ key: SymmetricKey, keyIdentifier: UInt32? = nil) throws -> any Sealer {
      switch self {
      case .aesGCM: try AESGCMSealer(key: key, keyIdentifier: keyIdentifier)
      case .chaChaPoly: try ChaChaPolySealer(key: key, keyIdentifier: keyIdentifier)
      }
    }

    func storage(_ base: any StorageDriver) throws -> SealedStorage {
      switch self {
      case .aesGCM: try SealedStorage(base, sealer: AESGCMSealer(key: key))
      case .chaChaPoly: try SealedStorage(base, sealer: ChaChaPolySealer(key: key))
      }
    }
  }

  /// Every check that needs no second process.
  @Test(arguments: Cipher.allCases, Conformance.checks.filter { !$0.isHeavy })
  func conforms(_ cipher: Cipher, to check: ConformanceCheck) throws {
    try check.run { place in try cipher.storage(MemoryStorage(named: place.name)) }
  }

  @Test(arguments: Cipher.allCases)
  func noNonceIsUsedTwice(_ cipher: Cipher) async throws {
    let sealer = try cipher.sealer(Self.key)
    let context = Data("context".utf8)
    let nonces = try await withThrowingTaskGroup(of: [Data].self) { group in
      for _ in 0..<8 {
        group.addTask {
          try (0..<2000).map { number in
            number % 2 == 0
              ? try sealer.seal(Data(), context: context).prefix(12)
              : try sealer.sealBytes(Data(), context).prefix(12)
          }
        }
      }
      return try await group.reduce(into: Set<Data>()) { $0.formUnion($1) }
    }
    #expect(nonces.count == 16_000)
  }

  @Test(arguments: Cipher.allCases)
  func sizesAndLimits(_ cipher: Cipher) throws {
    let sealer = try cipher.sealer(Self.key)
    for count in [0, 1, 15, 16, 17, 4096, 1 << 20] {
      let value = Data(repeating: 7, count: count)
      let sealed = try sealer.sealBytes(value, Data())
      #expect(sealed.count == count + 28)
      #expect(sealer.maximumValueByteCount(sealedInto: sealed.count) == count)
      #expect(try sealer.openBytes(sealed, Data()) == value)
    }
    #expect(sealer.maximumValueByteCount(sealedInto: 27) == 0)
    for count in 0..<28 {
      #expect(throws: (any Error).self) { try sealer.openBytes(Data(repeating: 0, count: count), Data()) }
    }
  }

  @Test func keysHaveIdentifiersOfTheirOwn() throws {
    let key = Self.key
    #expect(try AESGCMSealer(key: key).keyIdentifier == AESGCMSealer(key: key).keyIdentifier)
    #expect(try AESGCMSealer(key: key).keyIdentifier != ChaChaPolySealer(key: key).keyIdentifier)
    let identifiers = try (0..<200).map { _ in
      try AESGCMSealer(key: SymmetricKey(size: .bits256)).keyIdentifier
    }
    #expect(Set(identifiers).count == 200)
    #expect(try AESGCMSealer(key: key, keyIdentifier: 9).keyIdentifier == 9)
    // Stored, and so never changing. By another implementation of HMAC, Python's.
    #expect(String(try AESGCMSealer(key: key).keyIdentifier, radix: 16) == "f0702ad8")
    #expect(String(try ChaChaPolySealer(key: key).keyIdentifier, radix: 16) == "e5546dc9")
  }

  @Test func refusesKeysOfOtherLengths() throws {
    for count in [0, 8, 15, 31, 33, 64] {
      let key = SymmetricKey(data: Data(repeating: 1, count: count))
      #expect(throws: (any Error).self) { try AESGCMSealer(key: key) }
      #expect(throws: (any Error).self) { try ChaChaPolySealer(key: key) }
    }
    for bits in [128, 192, 256] {
      let key = SymmetricKey(size: SymmetricKeySize(bitCount: bits))
      #expect(throws: Never.self) { try AESGCMSealer(key: key) }
    }
    #expect(throws: (any Error).self) { try ChaChaPolySealer(key: SymmetricKey(size: .bits128)) }
  }
}

/// A garage under real seals.
@Suite struct SealedGarageTests {
  struct Secret: Codable, Identifiable, Equatable {
    var id: Int
    var text: String
  }

  let folder: URL
  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "garage-crypto-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  private func base(_ isSQLite: Bool) throws -> any StorageDriver {
    let place = folder.appending(path: "store")
    return isSQLite ? try SQLiteStorage(at: place) : try LMDBStorage(at: place)
  }

  @Test(arguments: [true, false])
  func keepsItsSecrets(_ isSQLite: Bool) throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let (old, new) = (SymmetricKey(size: .bits256), SymmetricKey(size: .bits256))
    let secrets = (0..<500).map { Secret(id: $0, text: "the secret of number \($0)") }
    var garage = try Garage(SealedStorage(base(isSQLite), sealer: AESGCMSealer(key: old)))
    try garage.parkAll(secrets)
    try garage.close()
    #expect(throws: StorageError.self) { try SealedStorage(base(isSQLite), sealer: AESGCMSealer(key: new)) }
    #expect(throws: GarageError.self) { try Garage(base(isSQLite)) }

    // From one cipher to the other.
    let storage = try SealedStorage(
      base(isSQLite), sealer: ChaChaPolySealer(key: new), formerSealers: [AESGCMSealer(key: old)])
    #expect(try storage.rekey(batchCount: 64).isComplete)
    try storage.close()
    garage = try Garage(SealedStorage(base(isSQLite), sealer: ChaChaPolySealer(key: new)))
    #expect(try garage.retrieveAll(Secret.self) == secrets)
    try garage.close()

    var bytes = Data()
    let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    while let file = files?.nextObject() as? URL { bytes += (try? Data(contentsOf: file)) ?? Data() }
    #expect(bytes.count > 500 * 40)
    #expect(bytes.range(of: Data("the secret".utf8)) == nil)
  }
}
