import Foundation
import GarageDriver
import GarageLMDB
import Testing

/// The walk through LMDB's pages finds nothing wrong with what LMDB writes, whatever was done, and gives what is there.
@Suite struct PageWalkTests {
  @Test func histories() throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SplitMix(seed)
    try withTemporaryFolder { folder in
      let place = folder.appending(path: "store")
      let storage = try LMDBStorage(at: place)
      #expect(try storage.integrityComplaints() == [])
      var model: [StorageKey: [UInt8]] = [:]
      for round in 0..<120 {
        let changes = Int.random(in: 1...(round % 10 == 0 ? 400 : 30), using: &random)
        try storage.write { transaction in
          for _ in 0..<changes {
            let number = Int.random(in: 0..<1500, using: &random)
            let key = StorageKey(
              Array(String(repeating: "k\(number % 7)", count: number % 60 + 1).utf8) + [UInt8(number % 251)])
            if Int.random(in: 0..<3, using: &random) == 0 {
              try transaction.remove(key)
              model[key] = nil
            } else {
              let sizes = [0, 1, 30, 700, 2100, 4070, 4096, 9000, 40_000]
              let count = sizes.randomElement(using: &random)!
              let value = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: count)
              try transaction.put(value, for: key)
              model[key] = value
            }
          }
          if round % 17 == 5 {
            try transaction.removeAll(in: .all)
            model = [:]
          }
          return .commit(())
        }
        if round % 6 != 0 { continue }
        #expect(try storage.integrityComplaints() == [], "seed \(seed), round \(round)")
        #expect(try LMDBStorage.integrityComplaints(at: place) == [], "seed \(seed), round \(round)")
        // Under a reader of an older state, too, whose pages are kept.
        try storage.read { _ in
          try storage.write { transaction in
            try transaction.put([1], for: StorageKey([1, 2, 3]))
            return .commit(())
          }
          model[StorageKey([1, 2, 3])] = [1]
          #expect(try storage.integrityComplaints() == [], "seed \(seed), round \(round)")
        }
        var found: [StorageKey: [UInt8]] = [:]
        let notes = try LMDBPages(at: place).forEachEntry { key, value, isOfLastState in
          #expect(isOfLastState)
          found[StorageKey(key)] = [UInt8](copying: value)
        }
        #expect(notes == [] && found == model, "seed \(seed), round \(round)")
        // Holes in what is free change nothing.
        if round % 12 == 0 {
          _ = try storage.compact { _, _ in }
          #expect(try storage.integrityComplaints() == [], "seed \(seed), round \(round)")
        }
      }
      try storage.close()
    }
  }

  /// A page that is another one, or none, is complained of, and nothing ends the process.
  @Test func damage() throws {
    try withTemporaryFolder { folder in
      let place = folder.appending(path: "store")
      let storage = try LMDBStorage(at: place)
      try storage.write { transaction in
        for number in 0..<400 {
          try transaction.put(
            [UInt8](repeating: 7, count: number % 50 == 0 ? 9000 : 100),
            for: StorageKey(Array("key \(number)".utf8)))
        }
        return .commit(())
      }
      try storage.close()
      let file = place.appending(path: "data.mdb")
      let whole = try Data(contentsOf: file)
      var count = 0
      for page in 2..<(whole.count / 4096) {
        for byte in [0, 10, 12, 14, 16, 40] {
          var bytes = whole
          bytes[page * 4096 + byte] ^= 0x5A
          if byte == 40 {
            bytes.replaceSubrange((page * 4096)..<(page * 4096 + 4096), with: Data(count: 4096))
          }
          try bytes.write(to: file)
          if try !LMDBStorage.integrityComplaints(at: place).isEmpty { count += 1 }
          _ = try LMDBPages(at: place).forEachEntry { _, _, _ in }
        }
      }
      #expect(count > 60, "\(count)")
      try Data(repeating: 1, count: 10_000).write(to: file)
      #expect(throws: StorageError.self) { try LMDBStorage.integrityComplaints(at: place) }
    }
  }
}
