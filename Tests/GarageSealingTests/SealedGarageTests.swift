import Foundation
import GarageDriver
import GarageMemory
import GarageSealing
import GarageStorage
import InsecureSealer
import Testing

private struct SealedNote: Codable, Identifiable, Equatable {
  var id: Int
  var title: String
  var pages: [String]
  var author: SealedAuthor
}

private struct SealedAuthor: Codable, Identifiable, Equatable {
  var id: Int
  var name: String
}

/// A sealed garage leaves nothing readable on the disk, and cannot be mistaken for a plain one.
@Suite struct SealedGarageTests {
  private func notes(_ count: Int) -> [SealedNote] {
    (0..<count).map { number in
      SealedNote(
        id: number, title: "PLAINTEXT-title-\(number)",
        pages: ["PLAINTEXT-short", String(repeating: "PLAINTEXT-long ", count: number % 9 * 100)],
        author: SealedAuthor(id: number % 7, name: "PLAINTEXT-name-\(number % 7)"))
    }
  }

  /// The files are searched while the store is open, its write-ahead log included, and after it was closed.
  @Test(arguments: [SealedBase.sqlite, .lmdb])
  func noValueIsOnTheDisk(_ base: SealedBase) throws {
    let place = try SealedPlace(base)
    let all = notes(300)
    // What is searched for would be found, were it there.
    let plain = try SealedPlace(base)
    let open = try Garage(plain.plain())
    try open.parkAll(all)
    try open.close()
    for text in ["PLAINTEXT", "SealedNote", "pages"] {
      #expect(try plain.fileBytes().range(of: Data(text.utf8)) != nil, "\(text) in a plain store")
    }

    let garage = try Garage(place.sealed())
    try garage.parkAll(all)
    for number in 0..<20 { try garage.park(all[number]) }
    try garage.delete(SealedNote.self, identifier: 3)
    try search(place)
    try garage.close()
    try search(place)
    let again = try Garage(place.sealed())
    #expect(try again.retrieveAll(SealedNote.self) == all.filter { $0.id != 3 })
    try again.close()
    // Nor while the key is changed.
    let storage = try place.sealed(InsecureTestSealer(key: 2), former: [InsecureTestSealer(key: 1)])
    try storage.rekey(batchCount: 10) { _ in try search(place) }
    try storage.close()
    try search(place)
    #expect(try Garage(place.sealed(InsecureTestSealer(key: 2))).count(SealedNote.self) == 299)
  }

  private func search(_ place: SealedPlace) throws {
    let bytes = try place.fileBytes()
    #expect(bytes.count > 10_000)
    // Names of types and of properties are values, too.
    for text in ["PLAINTEXT", "SealedNote", "pages"] {
      #expect(bytes.range(of: Data(text.utf8)) == nil, "\(text) is on the disk")
    }
  }

  @Test(arguments: SealedBase.allCases)
  func openedPlainSaysThatItIsSealed(_ base: SealedBase) throws {
    let place = try SealedPlace(base)
    try Garage(place.sealed()).parkAll(notes(3))
    let plain = try place.plain()
    do {
      _ = try Garage(plain)
      Issue.record("a sealed garage was opened plain")
    } catch let error as GarageError {
      #expect(error == .sealed(driver: plain.info.name))
      #expect(error.description.contains("SealedStorage"))
      #expect((error as NSError).code == 34)
    }
    #expect(try Garage(place.sealed()).count(SealedNote.self) == 3)
  }

  @Test(arguments: SealedBase.allCases)
  func aPlainGarageIsNotOpenedSealed(_ base: SealedBase) throws {
    let place = try SealedPlace(base)
    try Garage(place.plain()).parkAll(notes(3))
    #expect(storageError { _ = try place.sealed() }?.kind == .notSealed)
    #expect(try Garage(place.plain()).count(SealedNote.self) == 3)
  }

  /// Two processes that make the store at one time, with different keys: the second garage is refused.
  @Test func twoKeysCannotMakeOneStore() throws {
    let place = try SealedPlace(.memory)
    let (first, second) = (try place.sealed(), try place.sealed(InsecureTestSealer(key: 2)))
    _ = try Garage(first)
    do {
      _ = try Garage(second)
      Issue.record("a garage was opened with another key")
    } catch let error as GarageError {
      guard case .storage(let error) = error else { throw error }
      #expect(error.kind == .wrongKey)
    }
  }

  @Test func aDamagedRecordIsNamedAndTheOthersAreRead() throws {
    let place = try SealedPlace(.memory)
    let garage = try Garage(place.sealed())
    try garage.parkAll(notes(5))
    let plain = try place.plain()
    let key = try #require(
      try plain.read { transaction in
        var keys: [StorageKey] = []
        try transaction.scan(.prefix([0x10]), .forward) { key, _ in
          keys.append(StorageKey(key))
          return .continue
        }
        return keys.dropFirst().first
      })
    var bytes = try #require(try plain.read { try $0.value(for: key) })
    bytes[20] ^= 1
    try plain.write { transaction in
      try transaction.put(bytes, for: key)
      return .commit(())
    }
    var errors = 0
    for id in 0..<5 {
      do {
        _ = try garage.retrieve(SealedAuthor.self, identifier: id)
        _ = try garage.retrieve(SealedNote.self, identifier: id)
      } catch let error as GarageError {
        guard case .storage(let error) = error else { throw error }
        #expect(error.kind == .tampered && error.message.contains(key.description))
        errors += 1
      }
    }
    #expect(errors >= 1 && errors < 5)
  }

  @Test(arguments: SealedBase.allCases)
  func aPlainGarageIsCopiedIntoASealedOne(_ base: SealedBase) throws {
    let (from, to) = (try SealedPlace(base), try SealedPlace(base))
    let plain = try from.plain()
    try Garage(plain).parkAll(notes(20))
    try Garage(from.plain()).copy(to: to.sealed())
    #expect(try Garage(to.sealed()).retrieveAll(SealedNote.self) == notes(20))
  }
}
