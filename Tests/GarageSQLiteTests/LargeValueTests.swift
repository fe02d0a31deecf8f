import Foundation
import GarageDriver
import GarageSQLite
import Testing

/// Bytes that differ from page to page and from one number to another.
func bytes(_ count: Int, _ number: Int) -> [UInt8] {
  // A prime: no page has two of them.
  let pattern = (0..<509).map { place in UInt8(truncatingIfNeeded: place &* 31 &+ number &* 7) }
  var bytes: [UInt8] = []
  bytes.reserveCapacity(count + pattern.count)
  while bytes.count < count { bytes += pattern }
  bytes.removeLast(bytes.count - count)
  return bytes
}

/// Fills a file as versions did that had one table: large values beside their keys.
func makeOldStore(_ file: URL, _ entries: [(key: StorageKey, value: [UInt8])]) throws {
  func hex(_ bytes: [UInt8]) -> String {
    "x'" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "'"
  }
  let raw = try RawDatabase(file)
  try raw.run("PRAGMA application_id = \(0x4741_5247)")
  try raw.run("PRAGMA user_version = 1")
  try raw.run("PRAGMA journal_mode = WAL")
  try raw.run("CREATE TABLE entries (key BLOB NOT NULL PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID")
  for (key, value) in entries {
    try raw.run("INSERT INTO entries VALUES (\(hex(key.bytes)), \(hex(value)))")
  }
}

extension RawDatabase {
  /// Expects that each number among the keys has its large value, each large value its key, and that the file is whole.
  func expectNoOrphans(_ location: SourceLocation = #_sourceLocation) throws {
    #expect(try run("PRAGMA integrity_check") == "ok", sourceLocation: location)
    if try run("PRAGMA user_version") == "1" { return }
    let numbers = "SELECT value FROM keys WHERE typeof(value) = 'integer'"
    let orphans = try run("SELECT count(*) FROM large WHERE id NOT IN (\(numbers))")
    #expect(orphans == "0", "large values without a key", sourceLocation: location)
    let missing = try run("SELECT count(*) FROM (\(numbers)) WHERE value NOT IN (SELECT id FROM large)")
    #expect(missing == "0", "keys without their large value", sourceLocation: location)
    let counts = try run("SELECT count(*) - count(DISTINCT value) FROM (\(numbers))")
    #expect(counts == "0", "keys that share a large value", sourceLocation: location)
  }
}

@Suite("SQLite: large values")
struct LargeValueTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func raw() throws -> RawDatabase { try RawDatabase(folder.file()) }

  @Test("The first large value gives a store its second table and its format, and nothing else does")
  func format() throws {
    let storage = try SQLiteStorage(at: folder.file())
    try storage.put(bytes(900, 1), "small")
    #expect(try raw().run("PRAGMA user_version") == "1")
    try storage.write { transaction in
      try transaction.put(bytes(5000, 2), for: key("large"))
      return .rollBack(())
    }
    #expect(try raw().run("PRAGMA user_version") == "1")
    #expect(try raw().run("SELECT count(*) FROM sqlite_schema") == "1")
    #expect(try storage.value("large") == nil)
    try storage.put(bytes(5000, 2), "large")
    #expect(try storage.value("large") == bytes(5000, 2))
    #expect(try storage.value("small") == bytes(900, 1))
    let raw = try raw()
    #expect(try raw.run("PRAGMA user_version") == "2")
    #expect(try raw.run("SELECT count(*) FROM large") == "1")
    // Other programs see both, as before.
    #expect(try raw.run("SELECT sum(length(value)) FROM entries") == "5900")
    try raw.expectNoOrphans()
  }

  @Test("Every way from one size to another leaves what was put, and no orphans")
  func replacing() throws {
    let storage = try SQLiteStorage(at: folder.file())
    let sizes = [0, 10, 990, 1000, 1100, 5000, 4 << 20, 100_000]
    for from in sizes {
      for to in sizes {
        try storage.put(bytes(from, 1), "k")
        try storage.put(bytes(to, 2), "k")
        #expect(try storage.value("k") == bytes(to, 2), "from \(from) to \(to)")
        try storage.write { transaction in
          try transaction.remove(key("k"))
          try transaction.put(bytes(from, 3), for: key("k"))
          try transaction.put(bytes(to, 4), for: key("k"))
          #expect(try transaction.value(for: key("k")) == bytes(to, 4), "from \(from) to \(to)")
          try transaction.remove(key("k"))
          #expect(try !transaction.contains(key("k")))
          return .commit(())
        }
        #expect(try storage.value("k") == nil)
      }
      try raw().expectNoOrphans()
    }
    #expect(try raw().run("SELECT count(*) FROM large") == "0")
  }

  private func copy(_ lent: RawSpan?) -> [UInt8]? {
    guard let lent else { return nil }
    return [UInt8](copying: lent)
  }

  @Test("Gets, multi-gets and scans see small and large values alike")
  func reading() throws {
    let storage = try SQLiteStorage(at: folder.file())
    let keys = (0..<60).map { key($0) }
    func value(_ number: Int) -> [UInt8] { bytes(number % 3 == 0 ? 2000 * number : number, number) }
    try storage.write { transaction in
      for (number, key) in keys.enumerated() { try transaction.put(value(number), for: key) }
      return .commit(())
    }
    try storage.read { transaction in
      var seen = 0
      try transaction.withValues(for: keys + [key("none")] + keys.reversed()) { position, found in
        let number = position < 60 ? position : 120 - position
        let expected: [UInt8]? = position == 60 ? nil : value(number)
        #expect(copy(found) == expected)
        seen += 1
      }
      #expect(seen == 121)
      for direction in ScanDirection.allCases {
        var numbers: [Int] = []
        let range = StorageKeyRange(from: keys[10].bytes, to: keys[50].bytes)
        try transaction.scan(range, direction) { found, lent in
          let number = direction == .forward ? 10 + numbers.count : 49 - numbers.count
          #expect(StorageKey(found) == keys[number])
          // What is lent stays while others are read, large ones too.
          if number == 30 {
            try transaction.withValue(for: keys[33]) { other in
              try transaction.withValue(for: keys[36]) { third in
                #expect(copy(third) == value(36))
              }
              #expect(copy(other) == value(33))
            }
          }
          #expect(copy(lent) == value(number))
          numbers.append(number)
          return .continue
        }
        #expect(numbers.count == 40)
      }
    }
  }

  @Test("Ranges, prefixes and everything are removed with their large values")
  func removing() throws {
    let storage = try SQLiteStorage(at: folder.file())
    let ranges: [StorageKeyRange] = [
      .prefix(Array("b".utf8)), StorageKeyRange(from: Array("b".utf8)), StorageKeyRange(to: Array("b".utf8)),
      .all,
      StorageKeyRange(from: [2], to: [1]),
    ]
    for range in ranges {
      let texts = ["a", "a1", "b", "b1", "b2", "c"]
      for (number, text) in texts.enumerated() { try storage.put(bytes(number % 2 * 7000 + 5, number), text) }
      try storage.write { transaction in
        try transaction.removeAll(in: range)
        return .commit(())
      }
      for (number, text) in texts.enumerated() {
        let expected = range.contains(key(text)) ? nil : bytes(number % 2 * 7000 + 5, number)
        #expect(try storage.value(text) == expected)
      }
      try raw().expectNoOrphans()
    }
  }

  @Test("Whether there are keys, which, and how many is told without a look at large values")
  func keysOnly() throws {
    let pattern: UInt8 = 0xAB
    do {
      let storage = try SQLiteStorage(at: folder.file())
      try storage.write { transaction in
        for number in 0..<100 {
          try transaction.put(
            [UInt8](repeating: pattern, count: number % 2 == 0 ? 100_000 : 50), for: key(number))
        }
        return .commit(())
      }
    }
    // Cuts the chain of each page that has nothing but a part of a large value.
    var file = try [UInt8](Data(contentsOf: folder.file()))
    var cut = 0
    for page in stride(from: 0, to: file.count, by: 4096) {
      if !file[(page + 4)..<(page + 4096)].allSatisfy({ $0 == pattern }) { continue }
      for index in page..<(page + 4) { file[index] = 0xFF }
      cut += 1
    }
    #expect(cut > 1000)
    try Data(file).write(to: folder.file())
    let storage = try SQLiteStorage(at: folder.file())
    try storage.read { transaction in
      var count = 0
      for direction in ScanDirection.allCases {
        try transaction.scanKeys(.all, direction) { _ in
          count += 1
          return .continue
        }
      }
      #expect(count == 200)
      for number in 0..<100 { #expect(try transaction.contains(key(number))) }
      #expect(try !transaction.contains(key(1000)))
      #expect(try transaction.value(for: key(1)) == [UInt8](repeating: pattern, count: 50))
    }
    try storage.write { transaction in
      try transaction.put([1], for: key(1))
      try transaction.remove(key(3))
      try transaction.put([UInt8](repeating: 1, count: 100_000), for: key(200))
      return .commit(())
    }
    try expectError(.corrupt) { _ = try storage.read { try $0.value(for: key(2)) } }
  }

  @Test("The room of large values that are gone is used again")
  func room() throws {
    let storage = try SQLiteStorage(at: folder.file())
    func fill(_ round: Int) throws {
      try storage.write { transaction in
        for number in 0..<20 { try transaction.put(bytes(100_000, round), for: key(number)) }
        return .commit(())
      }
    }
    try fill(0)
    let pages = try #require(try raw().run("PRAGMA page_count").flatMap { Int($0) })
    for round in 1..<6 {
      try fill(round)
      if round == 3 { try storage.write { .commit(try $0.removeAll(in: .all)) } }
      if round == 4 { try storage.write { .commit(try $0.removeAll(in: .prefix(key(0).bytes.dropLast()))) } }
    }
    let pagesLater = try #require(try raw().run("PRAGMA page_count").flatMap { Int($0) })
    #expect(pagesLater <= pages + 30, "\(pagesLater) pages, not \(pages)")
  }

  @Test("A large value that is missing is damage, whatever is asked for")
  func missing() throws {
    let storage = try SQLiteStorage(at: folder.file())
    try storage.put(bytes(5000, 1), "a")
    try raw().run("DELETE FROM large")
    try expectError(.corrupt) { _ = try storage.value("a") }
    try expectError(.corrupt) { _ = try storage.count() }
    try expectError(.corrupt) { try storage.put(bytes(6000, 1), "a") }
    // An entry that cannot be read can be replaced by a small one, and removed.
    try storage.put([1], "a")
    #expect(try storage.value("a") == [1])
    try storage.put(bytes(5000, 1), "c")
    try raw().run("DELETE FROM large")
    try storage.write { transaction in
      let looking = try #require(transaction as? any LookingRemoval)
      let beginning = try looking.removeLooking(key("c").bytes.span.bytes)
      #expect(beginning?.withBytes { $0.byteCount } == 0)
      return .commit(())
    }
    #expect(try storage.value("c") == nil)
    // No number is left behind the largest there can be.
    try raw().run("INSERT INTO large VALUES (9223372036854775807, x'00')")
    try expectError(.corrupt) { try storage.put(bytes(5000, 1), "b") }
  }
}

@Suite("SQLite: stores of one table, and those who know no other")
struct OldLayoutTests {
  let folder: TemporaryFolder
  let old: [(key: StorageKey, value: [UInt8])]

  init() throws {
    folder = try TemporaryFolder()
    old = (0..<40).map { number in (key(number), bytes(number % 4 == 0 ? 3000 * number + 1500 : 100, number))
    }
    try makeOldStore(folder.file(), old)
  }

  private func expectAll(_ storage: SQLiteStorage, _ location: SourceLocation = #_sourceLocation) throws {
    try storage.read { transaction in
      var position = 0
      try transaction.scan(.all, .forward) { _, value in
        #expect([UInt8](copying: value) == old[position].value, sourceLocation: location)
        position += 1
        return .continue
      }
      #expect(position == old.count, sourceLocation: location)
      for (key, value) in old { #expect(try transaction.value(for: key) == value, sourceLocation: location) }
    }
  }

  @Test("It is read, also by those who only read, and opening changes nothing")
  func opening() throws {
    let before = try Data(contentsOf: folder.file())
    for (isReadOnly, isImmutable) in [(true, false), (false, true), (false, false)] {
      var options = SQLiteStorage.Options()
      options.isReadOnly = isReadOnly
      options.isImmutable = isImmutable
      let storage = try SQLiteStorage(at: folder.file(), options: options)
      try expectAll(storage)
      try storage.close()
      #expect(try Data(contentsOf: folder.file()) == before)
    }
  }

  @Test("Small values leave it as it is; the first large one adds the table, and moves no other")
  func changing() throws {
    let storage = try SQLiteStorage(at: folder.file())
    try storage.put([1], "new")
    try storage.write { .commit(try $0.remove(key("new"))) }
    #expect(try RawDatabase(folder.file()).run("PRAGMA user_version") == "1")
    try storage.put(bytes(9000, 9), "new")
    try storage.write { .commit(try $0.remove(key("new"))) }
    try expectAll(storage)
    let raw = try RawDatabase(folder.file())
    #expect(try raw.run("PRAGMA user_version") == "2")
    #expect(try raw.run("SELECT count(*) FROM keys WHERE length(value) > 1000") == "10")
    // Those that stood there go where they belong when they are written again.
    try storage.write { transaction in
      for (key, value) in old { try transaction.put(value, for: key) }
      return .commit(())
    }
    try expectAll(storage)
    #expect(try raw.run("SELECT count(*) FROM keys WHERE typeof(value) = 'integer'") == "10")
    try raw.expectNoOrphans()
    for options in [true, false] {
      var readOnly = SQLiteStorage.Options()
      readOnly.isReadOnly = options
      try expectAll(try SQLiteStorage(at: folder.file(), options: readOnly))
    }
  }

  @Test("Storages that had it open find the new table, and snapshots from before do not need it")
  func opened() throws {
    let first = try SQLiteStorage(at: folder.file())
    let second = try SQLiteStorage(at: folder.file())
    try expectAll(first)
    try expectAll(second)
    try first.read { transaction in
      try second.put(bytes(70_000, 5), "large")
      #expect(try transaction.value(for: key("large")) == nil)
      #expect(try transaction.value(for: old[8].key) == old[8].value)
      #expect(try first.value("large") == bytes(70_000, 5))
    }
    #expect(try first.value("large") == bytes(70_000, 5))
    try first.put([7], "large")
    #expect(try second.value("large") == [7])
    try RawDatabase(folder.file()).expectNoOrphans()
  }

  @Test("Who knows one table only reads on through a view, and cannot write")
  func olderVersion() throws {
    let storage = try SQLiteStorage(at: folder.file())
    try storage.put(bytes(70_000, 5), "large")
    // What a process of an older version still asks that had the store open.
    let raw = try RawDatabase(folder.file())
    #expect(
      try raw.run("SELECT hex(value) FROM entries WHERE key = x'\(String(repeating: "00", count: 8))'")?.count
        == 3000)
    #expect(try raw.run("SELECT length(value) FROM entries WHERE key = CAST('large' AS BLOB)") == "70000")
    #expect(
      try raw.run("SELECT count(*) FROM (SELECT key, value FROM entries WHERE key >= x'' ORDER BY key)")
        == "41")
    for change in [
      """
      INSERT INTO entries (key, value) VALUES (x'01', x'02')
      ON CONFLICT (key) DO UPDATE SET value = excluded.value
      """,
      "DELETE FROM entries WHERE key = x'01'", "DELETE FROM entries",
    ] {
      #expect(throws: RawDatabase.Failure.self) { try raw.run(change) }
    }
    // Opened anew, it says what it is: older versions refuse formats above 1.
    #expect(try raw.run("PRAGMA user_version") == "2")
  }

  @Test("A format that goes up beyond ours while the store is open is noticed by the next transaction")
  func newerMeanwhile() throws {
    let storage = try SQLiteStorage(at: folder.file())
    try expectAll(storage)
    try RawDatabase(folder.file()).run("PRAGMA user_version = 3")
    let error = try expectError(.newerFormat) { _ = try storage.value("a") }
    #expect(error.operation == .read && error.message.contains("format 3"))
    try expectError(.newerFormat) { try storage.put([1], "a") }
    try RawDatabase(folder.file()).run("PRAGMA user_version = 1")
    try expectAll(storage)
    try storage.put([1], "a")
  }
}
