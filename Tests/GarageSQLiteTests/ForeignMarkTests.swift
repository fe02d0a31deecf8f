import Foundation
import GarageDriver
import GarageSQLite
import Testing

/// Whose commits change the mark: those of everybody but the storages that this process has on the file.
@Suite("SQLite: marks of others' commits")
struct ForeignMarkTests: Sendable {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func open(readOnly: Bool = false) throws -> SQLiteStorage {
    var options = SQLiteStorage.Options()
    options.isReadOnly = readOnly
    options.durability = .normal
    return try SQLiteStorage(at: folder.file(), options: options)
  }

  private func rollBack(_ storage: SQLiteStorage) throws {
    try storage.write { transaction in
      try transaction.put([7], for: key("rolled back"))
      return .rollBack(())
    }
  }

  @Test(
    "What any storage of the process commits leaves the marks of all, and what another program does changes them"
  )
  func twoStorages() throws {
    let all = [try open(), try open(), try open(readOnly: true)]
    let raw = try RawDatabase(folder.file())
    try raw.run("PRAGMA busy_timeout = 5000")
    // Each has watched once.
    for storage in all { _ = try storage.foreignChangeMark() }
    var marks = try all.map { try #require(try $0.foreignChangeMark()) }
    for round in 0..<20 {
      for writer in all[..<2] {
        try writer.put([UInt8(round)], "n")
        try rollBack(writer)
        for _ in 0..<(round % 3) { try writer.put([UInt8(round), 1], "n") }
        if round % 5 == 4 { _ = try writer.compact { _, _ in } }
        // In another order each time, and at times of some of them only.
        let asked = round % 4 == 3 ? [round % 3] : [round % 3, (round + 1) % 3, (round + 2) % 3]
        for index in asked { #expect(try all[index].foreignChangeMark() == marks[index], "round \(round)") }
      }
      if round % 2 == 0 { try all[round / 2 % 2].put([1], "before") }
      try raw.run("INSERT OR REPLACE INTO entries VALUES (x'7A', x'0\(round % 10)')")
      // Seen by whoever writes next, or asks.
      if round % 3 == 0 { try all[round % 2].put([2], "behind") }
      for (index, storage) in all.enumerated() {
        let mark = try #require(try storage.foreignChangeMark())
        #expect(mark != marks[index], "round \(round)")
        marks[index] = mark
      }
    }
  }

  /// The model of one storage: what its next mark has to be.
  private struct Listener {
    var storage: SQLiteStorage
    var marks: [UInt64] = []
    /// Whether others have committed since it was asked last.
    var isBehind = false
    /// Whether the mark may change for no reason, as where a storage was closed.
    var isInDoubt = false
  }

  private func ask(_ listener: inout Listener, seed: UInt64) throws {
    let mark = try #require(try listener.storage.foreignChangeMark())
    if listener.isBehind {
      #expect(!listener.marks.contains(mark), "a commit of others was missed, seed \(seed)")
    } else if !listener.isInDoubt, let last = listener.marks.last {
      #expect(mark == last, "nobody else committed, seed \(seed)")
    }
    listener.marks.append(mark)
    (listener.isBehind, listener.isInDoubt) = (false, false)
  }

  @Test("No commit of others is missed, whoever of the process writes, asks, closes and opens in between")
  func history() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SplitMix(seed: seed)
    _ = try open()
    let raw = try RawDatabase(folder.file())
    try raw.run("PRAGMA busy_timeout = 5000")
    var all = try (0..<4).map { Listener(storage: try open(readOnly: $0 == 3)) }
    do {
      for step in 0..<1500 {
        let index = Int(random.next() % 4)
        switch random.next() % 20 {
        case 0..<6 where index < 3: try all[index].storage.put([UInt8(step & 0xFF)], "n")
        case 6 where index < 3: try rollBack(all[index].storage)
        case 7..<9:
          try raw.run("INSERT OR REPLACE INTO entries VALUES (x'7A', x'\(String(step + 0x1000, radix: 16))')")
          for index in all.indices { all[index].isBehind = true }
        case 9:
          // Closed, or only let go, which closes it as well.
          if step % 2 == 0 { try all[index].storage.close() }
          all[index] = Listener(storage: try open(readOnly: index == 3))
          for index in all.indices { all[index].isInDoubt = true }
        case 10: _ = try all[index].storage.count()
        default: try ask(&all[index], seed: seed)
        }
      }
      for index in all.indices { try ask(&all[index], seed: seed) }
    } catch { Issue.record("seed \(seed): \(error)") }
    #expect(all.allSatisfy { !$0.marks.isEmpty }, "seed \(seed)")
  }

  @Test("A connection that failed and was opened again misses nothing, nor do the others")
  func reopened() throws {
    let (storage, other) = (try open(), try open())
    let raw = try RawDatabase(folder.file())
    try raw.run("PRAGMA busy_timeout = 5000")
    try storage.put([1], "n")
    var marks = try [storage, other].map { [try #require(try $0.foreignChangeMark())] }
    for round in 0..<6 {
      let failing = round % 2 == 0 ? storage : other
      try failing.put([UInt8(round)], "n")
      // The engine's failure costs the writer its connection.
      try raw.run("ALTER TABLE entries RENAME TO gone")
      #expect(throws: StorageError.self) { try failing.put([1], "n") }
      try raw.run("ALTER TABLE gone RENAME TO entries")
      if round % 3 > 0 { try failing.put([2], "n") }
      for (index, asked) in [storage, other].enumerated() {
        let mark = try #require(try asked.foreignChangeMark())
        #expect(!marks[index].contains(mark), "round \(round)")
        marks[index].append(mark)
      }
    }
  }

  @Test("Where one of two is closed, the other one still hears of others")
  func closed() throws {
    let storage = try open()
    let raw = try RawDatabase(folder.file())
    try raw.run("PRAGMA busy_timeout = 5000")
    var marks = [try #require(try storage.foreignChangeMark())]
    for round in 0..<6 {
      let other = try open(readOnly: round % 3 == 2)
      if round % 3 == 0 { try other.put([1], "n") }
      if round % 3 == 1 { _ = try other.foreignChangeMark() }
      if round % 2 == 0 { try raw.run("INSERT OR REPLACE INTO entries VALUES (x'7A', x'0\(round)')") }
      try other.close()
      try expectError(.closed) { _ = try other.foreignChangeMark() }
      if round % 2 == 1 { try raw.run("INSERT OR REPLACE INTO entries VALUES (x'7A', x'0\(round)')") }
      let mark = try #require(try storage.foreignChangeMark())
      #expect(!marks.contains(mark), "round \(round)")
      marks.append(mark)
      // Whatever the end of the other one was taken for, it is over.
      #expect(try storage.foreignChangeMark() == mark)
    }
  }

  @Test("Storages close while others write and ask: nobody waits for ever, and nothing is missed")
  func closedMeanwhile() throws {
    let storage = try open()
    let first = try #require(try storage.foreignChangeMark())
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      do {
        for round in 0..<25 {
          let mine = try open(readOnly: thread == 3)
          if thread < 3 { try mine.put([UInt8(round)], "n\(thread)") }
          _ = try mine.foreignChangeMark()
          _ = try storage.foreignChangeMark()
          if round % 2 == 0 { try mine.close() }
        }
      } catch { Issue.record(error) }
    }
    let raw = try RawDatabase(folder.file())
    try raw.run("PRAGMA busy_timeout = 5000")
    let before = try #require(try storage.foreignChangeMark())
    try raw.run("INSERT OR REPLACE INTO entries VALUES (x'7A', x'01')")
    let behind = try #require(try storage.foreignChangeMark())
    #expect(behind != before && behind != first)
  }
}

/// Numbers that a seed decides.
private struct SplitMix {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
