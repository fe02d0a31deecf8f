import Foundation
import GarageDriver
import GarageSQLite
import Testing

@Suite("SQLite: values, ranges and transactions")
struct TransactionTests {
  let folder: TemporaryFolder
  let storage: SQLiteStorage

  init() throws {
    folder = try TemporaryFolder()
    storage = try SQLiteStorage(at: folder.file())
  }

  @Test("An empty value is a value, distinct from none")
  func emptyValue() throws {
    try storage.put([], "empty")
    #expect(try storage.value("empty") == [])
    #expect(try storage.value("none") == nil)
    try storage.read { transaction in
      try transaction.scan(.all, .forward) { key, value in
        #expect(key.byteCount == 5 && value.byteCount == 0)
        return .continue
      }
    }
    try storage.put([1], "empty")
    try storage.put([], "empty")
    #expect(try storage.value("empty") == [])
  }

  @Test("Values of every size around pages and overflow pages come back")
  func sizes() throws {
    let sizes = [1, 400, 900, 990, 1000, 1010, 3000, 4080, 4096, 4097, 8192, 65_536, 1 << 20, 10 << 20]
    for size in sizes {
      let value = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ size) }
      try storage.put(value, "size \(size)")
    }
    try storage.close()
    let again = try SQLiteStorage(at: folder.file())
    for size in sizes {
      let value = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ size) }
      #expect(try again.value("size \(size)") == value, "\(size) bytes")
    }
  }

  @Test("A value beyond the limit is refused and poisons the transaction")
  func tooLarge() throws {
    #expect(storage.info.maximumValueByteCount >= StorageInfo.guaranteedValueByteCount)
    // Memory that is never touched costs nothing.
    let count = storage.info.maximumValueByteCount + 1
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
    defer { memory.deallocate() }
    try expectError(.valueTooLarge) {
      try storage.write { transaction in
        try transaction.put([1], for: key("small"))
        let large = UnsafeRawBufferPointer(memory)
        try? transaction.put(large.bytes, for: key("large").bytes.span.bytes)
        return .commit(())
      }
    }
    #expect(try storage.count() == 0)
  }

  @Test("Ranges with empty, long and crossing bounds, both ways, read and removed")
  func ranges() throws {
    let keys = [[0], [0, 0], [1], [1, 255], [2], [127], [128], [255], [255, 255]] as [[UInt8]]
    let long = [UInt8](repeating: 255, count: 600)
    let bounds: [[UInt8]] = [[], [0], [0, 0], [1], [1, 0], [2], [128], [200], [255], [255, 255, 0], long]
    for lower in bounds {
      for upper in bounds.map(Optional.some) + [nil] {
        let range = StorageKeyRange(from: lower, to: upper)
        let expected = keys.filter { range.contains(StorageKey($0)) }
        let rest = keys.filter { !range.contains(StorageKey($0)) }
        try storage.write { transaction in
          try transaction.removeAll(in: .all)
          for key in keys { try transaction.put(key, for: StorageKey(key)) }
          #expect(try visited(range, .forward, transaction) == expected, "\(range)")
          #expect(try visited(range, .backward, transaction) == expected.reversed(), "\(range)")
          try transaction.removeAll(in: range)
          #expect(try visited(.all, .forward, transaction) == rest, "\(range)")
          return .commit(())
        }
        #expect(try storage.read { try visited(.all, .backward, $0) } == rest.reversed())
      }
    }
  }

  private func visited(
    _ range: StorageKeyRange, _ direction: ScanDirection, _ transaction: any ReadTransaction
  ) throws -> [[UInt8]] {
    var keys: [[UInt8]] = []
    try transaction.scan(range, direction) { key, value in
      #expect(compareKeys(key, value) == 0)
      keys.append([UInt8](copying: key))
      return .continue
    }
    return keys
  }

  @Test("Lent bytes hold while gets and scans nest a hundred deep")
  func nesting() throws {
    try storage.write { transaction in
      for number in 0..<200 {
        try transaction.put([UInt8](repeating: UInt8(number), count: 3000), for: key(number))
      }
      return .commit(())
    }
    func descend(_ depth: Int, _ transaction: any ReadTransaction) throws {
      if depth == 100 { return }
      try transaction.withValue(for: key(depth)) { value in
        try transaction.scan(StorageKeyRange(from: key(depth + 1).bytes), .forward) { _, next in
          try descend(depth + 1, transaction)
          #expect(next.withUnsafeBytes { $0.allSatisfy { $0 == UInt8(depth + 1) } })
          return .stop
        }
        guard let value else {
          Issue.record("no value at depth \(depth)")
          return
        }
        #expect([UInt8](copying: value) == [UInt8](repeating: UInt8(depth), count: 3000))
      }
    }
    try storage.read { try descend(0, $0) }
    try storage.write { transaction in
      try descend(0, transaction)
      return .rollBack(())
    }
  }

  @Test("A transaction kept after its end stays closed when the next one begins")
  func escaped() throws {
    try storage.put([1], "a")
    let reader: any ReadTransaction = try storage.read { $0 }
    try storage.read { current in
      #expect(reader !== current)
      try expectError(.transactionClosed) { _ = try reader.value(for: key("a")) }
    }
    let writer: any WriteTransaction = try storage.write { .commit($0) }
    try storage.write { current in
      #expect(writer !== current)
      try expectError(.transactionClosed) { try writer.put([2], for: key("a")) }
      return .commit(())
    }
    #expect(try storage.value("a") == [1])
  }

  @Test("Sixty-four reads nest on one thread, also inside a write, with one snapshot each")
  func nestedReads() throws {
    try storage.put([0], "n")
    func descend(_ depth: Int) throws {
      if depth == 64 {
        try expectError(.readersFull) { try storage.read { _ in } }
        return
      }
      try storage.read { transaction in
        if depth < 63 { try storage.put([UInt8(depth + 1)], "n") }
        try descend(depth + 1)
        #expect(try transaction.value(for: key("n")) == [UInt8(depth)])
      }
    }
    try descend(0)
    try storage.write { transaction in
      try transaction.put([99], for: key("n"))
      #expect(try storage.value("n") == [63])
      return .commit(())
    }
  }

  @Test("A storage that is closed or let go leaves one file")
  func closing() throws {
    try storage.put([1], "a")
    #expect(folder.size("store.garage-wal") > 0)
    try storage.close()
    try storage.close()
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["store.garage"])
    try expectError(.closed) { try storage.read { _ in } }
    do {
      let other = try SQLiteStorage(at: folder.file())
      try other.read { _ in }
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["store.garage"])
  }
}
