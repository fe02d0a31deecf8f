import Foundation
import GarageDriver
import GarageLMDB
import Testing

/// A page number that cannot be is not worked with: neither one of the free list nor that of the last page.
@Suite struct DamagedNumbersTests {
  /// Among them the two pages that a store begins with, one behind the last, and such that their place is beyond any number.
  @Test(arguments: [0, 1, 1 << 20, 1 << 51, .max] as [UInt64])
  func ofTheFreeList(_ page: UInt64) throws {
    try withTemporaryFolder { folder in
      let place = folder.appending(path: "store")
      let bytes = try makeStore(at: place) { bytes, meta in
        let pages = try freePages(bytes, meta)
        // They stand in descending order.
        bytes.store(page, at: page < 2 ? try #require(pages.last) : try #require(pages.first))
      }
      let storage = try LMDBStorage(at: place)
      #expect(storageError { try storage.freeByteCount() }?.kind == .corrupt)
      #expect(storageError { try storage.compact { _, _ in } }?.kind == .corrupt)
      #expect(try storage.get("key 299") == [UInt8](repeating: 7, count: 200))
      try storage.close()
      #expect(try Data(contentsOf: place.appending(path: "data.mdb")) == bytes)
    }
  }

  @Test(arguments: [0, 1 << 52, 1 << 60, .max] as [UInt64])
  func ofTheLastPage(_ page: UInt64) throws {
    try withTemporaryFolder { folder in
      let place = folder.appending(path: "store")
      _ = try makeStore(at: place) { bytes, meta in bytes.store(page, at: meta + 136) }
      #expect(storageError { try LMDBStorage(at: place) }?.kind == .corrupt)
      // It is said without LMDB, too, or there is nothing wrong with what is there.
      _ = try LMDBStorage.integrityComplaints(at: place)
    }
  }

  /// A tree that is said to be within itself is not followed until the stack ends.
  @Test func ofARoot() throws {
    try withTemporaryFolder { folder in
      let place = folder.appending(path: "store")
      _ = try makeStore(at: place) { bytes, meta in
        let root = bytes.load(UInt64.self, at: meta + 88 + 40)
        let content = try namedTree(bytes, leaf: Int(root) * Int(bytes.load(UInt32.self, at: 40)))
        // One level, a page of a large value, so that its leaves are looked at, and the leaf that it stands in.
        bytes.store(1 << 48, at: content)
        bytes.store(1, at: content + 24)
        bytes.store(root, at: content + 40)
        // Only where the file is shorter than this says, its pages are looked at.
        bytes.store(1 << 20, at: meta + 136)
      }
      let file = try FileHandle(forUpdating: place.appending(path: "data.mdb"))
      // A hole for the most part: as many pages as may be met before that is too many.
      try file.truncate(atOffset: 400 << 20)
      try file.close()
      #expect(storageError { try LMDBStorage(at: place) }?.kind == .corrupt)
    }
  }

  /// Where a leaf of the unnamed tree describes the named one.
  private func namedTree(_ bytes: Data, leaf: Int) throws -> Int {
    let nodeCount = (Int(bytes.load(UInt16.self, at: leaf + 12)) - 16) / 2
    let nodes = (0..<nodeCount).map { leaf + Int(bytes.load(UInt16.self, at: leaf + 16 + 2 * $0)) }
    let node = try #require(nodes.first { bytes.load(UInt16.self, at: $0 + 4) & 2 != 0 })
    return node + 8 + Int(bytes.load(UInt16.self, at: node + 6))
  }

  /// Makes a store with free pages and changes its file, given where the newest meta page begins; returns what it has then.
  private func makeStore(at place: URL, _ change: (inout Data, Int) throws -> Void) throws -> Data {
    let storage = try LMDBStorage(at: place)
    try storage.write { transaction in
      for number in 0..<300 {
        try transaction.put([UInt8](repeating: 7, count: 200), for: StorageKey("key \(number)"))
      }
      return .commit(())
    }
    try storage.write { transaction in
      for number in 0..<290 { try transaction.remove(StorageKey("key \(number)")) }
      return .commit(())
    }
    try storage.put([1], "another")
    try storage.close()
    let file = place.appending(path: "data.mdb")
    var bytes = try Data(contentsOf: file)
    let pageByteCount = Int(bytes.load(UInt32.self, at: 40))
    let metas = [0, pageByteCount]
    let newest = try #require(
      metas.max { bytes.load(UInt64.self, at: $0 + 144) < bytes.load(UInt64.self, at: $1 + 144) })
    try change(&bytes, newest)
    try bytes.write(to: file)
    return bytes
  }

  /// Where the numbers of the free list's longest entry stand. The layout is described in `LMDBDataFile`.
  private func freePages(_ bytes: Data, _ meta: Int) throws -> [Int] {
    let pageByteCount = Int(bytes.load(UInt32.self, at: 40))
    try #require(bytes.load(UInt16.self, at: meta + 40 + 6) == 1)
    let leaf = Int(bytes.load(UInt64.self, at: meta + 40 + 40)) * pageByteCount
    let nodeCount = (Int(bytes.load(UInt16.self, at: leaf + 12)) - 16) / 2
    let entries: [[Int]] = (0..<nodeCount).compactMap { number in
      let node = leaf + Int(bytes.load(UInt16.self, at: leaf + 16 + 2 * number))
      // A longer one stands in pages of its own.
      if bytes.load(UInt16.self, at: node + 4) != 0 { return nil }
      let data = node + 8 + Int(bytes.load(UInt16.self, at: node + 6))
      return (0..<Int(bytes.load(UInt64.self, at: data))).map { data + 8 + 8 * $0 }
    }
    return try #require(entries.max { $0.count < $1.count })
  }
}

extension Data {
  fileprivate func load<T: FixedWidthInteger & BitwiseCopyable>(_: T.Type, at offset: Int) -> T {
    withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: T.self) }
  }

  fileprivate mutating func store(_ value: UInt64, at offset: Int) {
    withUnsafeMutableBytes { $0.storeBytes(of: value, toByteOffset: offset, as: UInt64.self) }
  }
}
