import Foundation
import GarageDriver
import GarageSealing
import Synchronization
import Testing

/// A sealer of a few lines, as Docs/Encryption.md shows one.
private struct ReversingSealer: Sealer {
  func seal(_ value: Data, context: Data) throws -> Data { Data(value.reversed()) + context }
  func open(_ sealed: Data, context: Data) throws -> Data {
    guard sealed.suffix(context.count) == context else { throw CocoaError(.coderInvalidValue) }
    return Data(sealed.dropLast(context.count).reversed())
  }
  func maximumValueByteCount(sealedInto byteCount: Int) -> Int { byteCount - 600 }
}

/// Has no key to give at first.
private final class LockedSealer: Sealer {
  let isLocked = Mutex(false)
  func seal(_ value: Data, context: Data) throws -> Data {
    try check(.put)
    return value + context
  }
  func open(_ sealed: Data, context: Data) throws -> Data {
    try check(.get)
    return sealed.dropLast(context.count)
  }
  private func check(_ operation: StorageError.Operation) throws {
    if isLocked.withLock({ $0 }) {
      throw StorageError(
        .permissionDenied, during: operation, driver: "Keychain", message: "Unlock the device.")
    }
  }
}

/// As apps of GarageStorage have one.
private final class Base64Delegate: DataEncryptionDelegate, Sendable {
  func encrypt(_ data: Data) throws -> String { Data(data.map { $0 ^ 0x5A }).base64EncodedString() }
  func decrypt(_ string: String) throws -> Data {
    guard let data = Data(base64Encoded: string) else { throw CocoaError(.coderInvalidValue) }
    return Data(data.map { $0 ^ 0x5A })
  }
}

/// Sealers of one's own: a few lines, errors that pass, and the delegate of GarageStorage.
@Suite struct SealerTests {
  @Test(arguments: SealedBase.allCases)
  func ofOnesOwnTakesAFewLines(_ base: SealedBase) throws {
    let place = try SealedPlace(base)
    let entries = ["a": "one", "b": "", "c": "three"]
    try place.sealed(ReversingSealer()).put(entries)
    let storage = try place.sealed(ReversingSealer())
    #expect(try storage.entries() == entries)
    let plain = try place.plain()
    try plain.put(raw: try #require(try plain.raw("c")), for: "b")
    #expect(storageError { _ = try storage.text("b") }?.kind == .tampered)
  }

  @Test func saysWhatItCouldNotDo() throws {
    let sealer = LockedSealer()
    let place = try SealedPlace(.memory)
    let storage = try place.sealed(sealer)
    try storage.put(["a": "one"])
    sealer.isLocked.withLock { $0 = true }
    // Its own StorageError comes out as it is.
    #expect(storageError { _ = try storage.text("a") }?.kind == .permissionDenied)
    #expect(storageError { try storage.put(["b": "two"]) }?.driver == "Keychain")
    sealer.isLocked.withLock { $0 = false }
    #expect(try storage.entries() == ["a": "one"])
  }

  @Test func thatFailsForbidsTheCommit() throws {
    struct Failing: Sealer {
      func seal(_ value: Data, context: Data) throws -> Data {
        if value.isEmpty { throw CocoaError(.coderInvalidValue) }
        return value + context
      }
      func open(_ sealed: Data, context: Data) throws -> Data { sealed.dropLast(context.count) }
    }
    let storage = try SealedPlace(.memory).sealed(Failing())
    let error = storageError {
      try storage.write { transaction in
        try transaction.put([1], for: StorageKey([1]))
        try? transaction.put([UInt8](), for: StorageKey([2]))
        return .commit(())
      }
    }
    #expect(error?.kind == .sealingFailed)
    #expect(error?.message.contains("Nothing was stored") == true)
    #expect(try storage.entries().isEmpty)
  }

  @Test(arguments: SealedBase.allCases)
  func takesGarageStoragesDelegate(_ base: SealedBase) throws {
    let place = try SealedPlace(base)
    let entries = ["a": "one", "b": "", "c": "drei — ☃"]
    try place.sealed(DelegateSealer(Base64Delegate())).put(entries)
    let storage = try place.sealed(DelegateSealer(Base64Delegate()))
    #expect(try storage.entries() == entries)
    let plain = try place.plain()
    let sealed = try #require(try plain.raw("c"))
    #expect(Data(base64Encoded: String(decoding: sealed.dropFirst(8), as: UTF8.self)) != nil)
    // Bound to its key.
    try plain.put(raw: sealed, for: "b")
    let error = storageError { _ = try storage.text("b") }
    #expect(error?.kind == .tampered)
    #expect(error?.message.contains("sealed for another key") == true)
    #expect(storage.info.maximumValueByteCount < plain.info.maximumValueByteCount / 2)
  }
}
