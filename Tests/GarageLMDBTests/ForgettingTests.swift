#if os(Linux)
  import Foundation
  import GarageDriver
  import GarageLMDB
  import Testing

  /// Who reads all of a store may let go of its pages on the way.
  @Suite(.serialized) struct ForgettingTests {
    /// How many bytes of files this process has in its memory.
    private func mappedByteCount() throws -> Int {
      let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
      let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("RssFile:") })
      let number = try #require(
        line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) })
      return number << 10
    }

    @Test func pagesLeaveTheProcessAndComeBack() throws {
      try withTemporaryFolder { folder in
        let storage = try LMDBStorage(at: folder)
        let count = 8_000
        try storage.write { transaction in
          for number in 0..<count {
            let value = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 8_000)
            try transaction.put(value.span.bytes, for: Array("key \(10_000 + number)".utf8).span.bytes)
          }
          return .commit(())
        }
        try storage.read { transaction in
          func sum() throws -> Int {
            var sum = 0
            try transaction.scan(.all, .forward) { _, value in
              sum += value.withUnsafeBytes { Int($0[0]) + Int($0[$0.count / 2]) }
              return .continue
            }
            return sum
          }
          let before = try sum()
          let mapped = try mappedByteCount()
          try #require(transaction as? any PageForgetting).forgetPages()
          #expect(try mappedByteCount() < mapped - count * 4_000)
          #expect(try sum() == before)
          // In the middle of a scan, too, what was lent stays there.
          try transaction.scan(.all, .forward) { key, value in
            try #require(transaction as? any PageForgetting).forgetPages()
            #expect(value.withUnsafeBytes { $0.allSatisfy { $0 == 0 } })
            #expect(Array("key 10000".utf8) == key.withUnsafeBytes { Array($0) })
            return .stop
          }
        }
        // What was changed and not committed stands elsewhere, and stays.
        try storage.write { transaction in
          try transaction.put(([1, 2, 3] as [UInt8]).span.bytes, for: Array("key 10000".utf8).span.bytes)
          (transaction as? any PageForgetting)?.forgetPages()
          let value = try transaction.value(for: StorageKey(Array("key 10000".utf8)))
          #expect(value == [1, 2, 3])
          return .rollBack(())
        }
        try storage.close()
        let empty = try LMDBStorage(at: folder.appending(path: "empty"))
        try empty.read { ($0 as? any PageForgetting)?.forgetPages() }
        try empty.close()
      }
    }
  }
#endif
