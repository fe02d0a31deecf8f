import Foundation
import GarageDriver
import GarageSQLite
import Testing

/// What a multi-get shows of a damaged file: all that stands before the damage, as one get after another does.
@Suite struct DamagedMultiGetTests {
  private func key(_ number: Int) -> StorageKey { StorageKey(Array("key-\(10_000 + number)".utf8)) }

  /// What is shown before an error, and whether there is one.
  private func shown(
    _ keys: [StorageKey], _ get: (_ visit: (Int, RawSpan?) throws -> Void) throws -> Void
  ) -> (places: [String], error: StorageError?) {
    var places: [String] = []
    do {
      try get { index, value in
        if let value {
          places.append("\(index): \(value.byteCount)")
        } else {
          places.append("\(index): none")
        }
      }
    } catch { return (places, error as? StorageError) }
    return (places, nil)
  }

  @Test(arguments: [false, true])
  func whatStandsBeforeTheDamageIsShown(_ hasLargeValues: Bool) throws {
    let folder = try TemporaryFolder()
    let storage = try SQLiteStorage(at: folder.file())
    try storage.write { transaction in
      // Every third is missing.
      for number in 0..<3000 where number % 3 != 0 {
        let count = hasLargeValues && number % 50 == 1 ? 5000 : 100
        try transaction.put([UInt8](repeating: 1, count: count), for: key(number))
      }
      return .commit(())
    }
    try storage.close()
    let file = try FileHandle(forUpdating: folder.file())
    for page in stride(from: 8, to: 56, by: 4) {
      try file.seek(toOffset: UInt64(page * 4096))
      try file.write(contentsOf: [UInt8](repeating: 0xEE, count: 4096))
    }
    try file.close()
    let damaged = try SQLiteStorage(at: folder.file())
    var errorCount = 0
    for start in stride(from: 0, to: 2960, by: 20) {
      // Not ascending: in front of a damaged page stands the entry that leads to it, which is not missing.
      let keys = (0..<40).map { key(start + $0 * 7 % 40) }
      let many = shown(keys) { visit in try damaged.read { try $0.withValues(for: keys, visit) } }
      let each = shown(keys) { visit in
        try damaged.read { transaction in
          for (index, key) in keys.enumerated() {
            try transaction.withValue(for: key) { try visit(index, $0) }
          }
        }
      }
      #expect(many.places == each.places, "from \(start)")
      #expect(many.error?.kind == each.error?.kind, "from \(start)")
      if each.error != nil { errorCount += 1 }
    }
    #expect(errorCount > 0)
    try? damaged.close()
  }
}
