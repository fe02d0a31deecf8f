import Foundation
import GarageDriver
import GarageLMDB
import Testing

/// The read transaction that waits for the next reader without leaving its storage.
struct RestingReadTests {
  /// Closing waits for those that read, not for one that rests, be it another storage's.
  @Test func storagesTakeTurnsAndClose() throws {
    try withTemporaryFolder { folder in
      let first = try LMDBStorage(at: folder)
      try first.put([1], "k")
      for _ in 0..<20 {
        let second = try LMDBStorage(at: folder)
        for _ in 0..<3 {
          #expect(try first.get("k") == [1])
          #expect(try second.get("k") == [1])
        }
        #expect(try first.get("k") == [1])
        try second.close()
        #expect(storageError { try second.get("k") }?.kind == .closed)
        #expect(try first.get("k") == [1])
        // One that is dropped without being closed leaves its read to the others.
        let third = try LMDBStorage(at: folder)
        #expect(try third.get("k") == [1])
      }
      #expect(try first.get("k") == [1])
      try first.close()
      #expect(storageError { try first.get("k") }?.kind == .closed)
    }
  }

  @Test func closingAmongReadersWaitsForEachOfThem() throws {
    try withTemporaryFolder { folder in
      for round in 0..<30 {
        let storage = try LMDBStorage(at: folder)
        try storage.put([UInt8(round)], "k")
        let readers = DispatchGroup()
        for _ in 0..<3 {
          readers.enter()
          Thread.detachNewThread {
            defer { readers.leave() }
            do {
              while true {
                let value = try storage.get("k")
                #expect(value == [UInt8(round)])
              }
            } catch {
              #expect((error as? StorageError)?.kind == .closed)
            }
          }
        }
        usleep(500)
        try storage.close()
        #expect(readers.wait(timeout: .now() + 60) == .success)
      }
    }
  }

  /// A nested read cannot have the one that is in use; the outer one still rests afterwards.
  @Test func nestedReadsHaveTheirOwn() throws {
    try withTemporaryFolder { folder in
      let storage = try LMDBStorage(at: folder)
      try storage.put([1], "k")
      for _ in 0..<10 {
        try storage.read { outer in
          try storage.read { inner in
            let values = [try inner.value(for: StorageKey("k")), try outer.value(for: StorageKey("k"))]
            #expect(values == [[1], [1]])
          }
          #expect(try outer.value(for: StorageKey("k")) == [1])
        }
        #expect(try storage.get("k") == [1])
      }
      try storage.close()
    }
  }
}
