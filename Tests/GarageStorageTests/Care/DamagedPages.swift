import Foundation
import GarageDriver
import GarageLMDB
import GarageSQLite
import GarageStorage
import Testing

/// An object of which every page that has a part of it shows which it is.
struct Marked: Codable, Identifiable, Equatable {
  var id: String
  var content: String

  /// - Parameter byteCount: about how large its record is.
  init(_ number: Int, byteCount: Int) {
    id = Marked.mark(number)
    content = String(repeating: Marked.mark(number), count: max(1, byteCount / 8))
  }

  /// Eight characters, so that no page has less than one whole mark of what it holds.
  static func mark(_ number: Int) -> String { "<\(100_000 + number)>" }
}

/// A small store with pages of every kind, closed, and what becomes of it where a page is damaged.
struct DamagedPages {
  enum Damage: CaseIterable { case zeroed, cut, swapped }

  let place: Place
  let path: URL
  let whole: [UInt8]
  let pageByteCount = 4096
  /// The records by key, as they were written.
  let records: [StorageKey: [UInt8]]
  let contents: [StorageKey: [UInt8]]
  let numbers: [Int]

  var pageCount: Int { whole.count / pageByteCount }

  init(_ backend: Backend, seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    place = try Place(backend)
    let driver = try place.open()
    let garage = try Garage(driver)
    var numbers: Set<Int> = []
    for number in 0..<260 {
      // Some have pages of their own, one has many.
      let byteCount =
        number == 77 ? 70_000 : number % 20 == 0 ? 9000 : Int.random(in: 40...900, using: &random)
      try garage.park(Marked(number, byteCount: byteCount))
      numbers.insert(number)
    }
    try garage.set(CareKeys.number, value: 7)
    // What was deleted stays in free pages, and must not come back.
    for number in 100..<190 {
      try garage.delete(Marked.self, identifier: Marked.mark(number))
      numbers.remove(number)
    }
    try garage.park(Marked(999, byteCount: 100))
    contents = try Driver.contents(driver)
    records = contents.filter { $0.key.bytes[0] == 0x10 }
    self.numbers = numbers.sorted() + [999]
    try garage.close()
    path = backend == .lmdb ? place.storePath.appending(path: "data.mdb") : place.storePath
    whole = Array(try Data(contentsOf: path))
  }

  /// Damages the file, and returns the pages that are not what they were.
  func damage(_ page: Int, _ damage: Damage, with other: Int) throws -> Set<Int> {
    var bytes = whole
    let range = (page * pageByteCount)..<((page + 1) * pageByteCount)
    var touched: Set<Int> = [page]
    switch damage {
    case .zeroed: bytes.replaceSubrange(range, with: repeatElement(0, count: pageByteCount))
    case .cut:
      bytes.removeLast(bytes.count - range.lowerBound)
      touched = Set(page..<pageCount)
    case .swapped:
      let second = (other * pageByteCount)..<((other + 1) * pageByteCount)
      bytes.replaceSubrange(range, with: whole[second])
      bytes.replaceSubrange(second, with: whole[range])
      touched.insert(other)
    }
    try FileManager.default.removeItem(at: path)
    try Data(bytes).write(to: path)
    for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path.path + suffix) }
    try? FileManager.default.removeItem(at: place.storePath.appending(path: "lock.mdb"))
    return touched.filter { page in
      let range = (page * pageByteCount)..<((page + 1) * pageByteCount)
      return range.upperBound > bytes.count || bytes[range] != whole[range]
    }
  }

  /// The objects of which no page that was touched has any part.
  func untouched(_ pages: Set<Int>) -> Set<String> {
    let marks = Dictionary(grouping: numbers.map(Marked.mark)) { $0 }
    var touched: Set<String> = []
    for page in pages {
      let bytes = whole[(page * pageByteCount)..<((page + 1) * pageByteCount)]
      var place = bytes.startIndex
      while let start = bytes[place...].firstIndex(of: UInt8(ascii: "<")) {
        if start + 8 <= bytes.endIndex, bytes[start + 7] == UInt8(ascii: ">") {
          touched.insert(String(decoding: bytes[start..<(start + 8)], as: UTF8.self))
        }
        place = start + 1
      }
    }
    return Set(marks.keys).subtracting(touched)
  }

  var source: any SalvageSource {
    place.backend == .lmdb ? LMDBPages(at: place.storePath) : SQLitePages(at: place.storePath)
  }
}
