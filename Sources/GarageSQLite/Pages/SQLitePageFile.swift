internal import GarageDriver

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// A database file with the committed part of its log, read page by page without SQLite.
///
/// https://sqlite.org/fileformat2.html has every byte of it. Numbers are big-endian.
final class SQLitePageFile {
  private let file: Int32
  private let log: Int32
  let pageByteCount: Int
  /// What of a page is used: SQLite may reserve bytes at its end.
  let usableByteCount: Int
  /// How many pages there are.
  private(set) var pageCount: Int
  /// Where the newest committed content of a page stands in the log.
  private var logged: [Int: Int] = [:]
  /// What is damaged, in words.
  private(set) var notes: [String] = []
  /// Whether the first page tells what it should.
  let hasHeader: Bool

  private static let magic = Array("SQLite format 3\0".utf8)
  private static let usualPageByteCount = 4096

  /// - Throws: ``StorageError/Kind/notFound``, and what else the system says.
  init(path: String) throws {
    file = openForReading(path)
    if file < 0 { throw SQLitePageFile.error(errno, path) }
    var status = stat()
    if fstat(file, &status) != 0 || status.st_mode & S_IFMT != S_IFREG {
      _ = close(file)
      throw StorageError(
        .notAStorage, during: .open, driver: driverName,
        message: "\(path): A store is a file. Give the path of one.")
    }
    log = openForReading(path + "-wal")
    let header = readBytes(file, at: 0, count: 100) ?? []
    var byteCount = header.isEmpty ? 0 : Int(header[16]) << 8 | Int(header[17])
    if byteCount == 1 { byteCount = 65536 }
    let isPower = byteCount >= 512 && byteCount & (byteCount - 1) == 0
    hasHeader = header.starts(with: SQLitePageFile.magic) && isPower
    // The log says it as well; else it is the size that every store of this driver has.
    let ofLog = readBytes(log, at: 8, count: 4).map { Int(number($0, 0, 4)) } ?? 0
    let isOfLog = ofLog >= 512 && ofLog <= 65536 && ofLog & (ofLog - 1) == 0
    pageByteCount = hasHeader ? byteCount : isOfLog ? ofLog : SQLitePageFile.usualPageByteCount
    usableByteCount = pageByteCount - (hasHeader ? Int(header[20]) : 0)
    pageCount = (Int(status.st_size) + pageByteCount - 1) / pageByteCount
    readLog()
    if page(1)?.starts(with: SQLitePageFile.magic) != true {
      notes.append("the first page, with the header, is damaged")
    }
  }

  deinit {
    _ = close(file)
    if log >= 0 { _ = close(log) }
  }

  /// The content of a page; nil where there is none.
  func page(_ number: Int) -> [UInt8]? {
    guard number >= 1, number <= pageCount else { return nil }
    if let offset = logged[number] { return readBytes(log, at: offset, count: pageByteCount) }
    return readBytes(file, at: (number - 1) * pageByteCount, count: pageByteCount)
  }

  // MARK: - The log

  /// Finds the frames of the log, up to the last one that commits. What stands behind it was never committed.
  private func readLog() {
    guard log >= 0, let header = readBytes(log, at: 0, count: 32) else { return }
    let magic = number(header, 0, 4)
    guard magic & 0xFFFF_FFFE == 0x377F_0682, number(header, 8, 4) == pageByteCount else { return }
    let isBigEndian = magic & 1 == 1
    var sums = checksum(header[..<24], (0, 0), isBigEndian)
    guard sums.0 == number(header, 24, 4), sums.1 == number(header, 28, 4) else {
      notes.append("the log's header is damaged: what is in the log alone is lost")
      return
    }
    var offset = 32
    var pending: [Int: Int] = [:]
    while let head = readBytes(log, at: offset, count: 24),
      let content = readBytes(log, at: offset + 24, count: pageByteCount),
      head[8..<16] == header[16..<24]
    {
      sums = checksum(head[..<8], sums, isBigEndian)
      sums = checksum(content[...], sums, isBigEndian)
      if sums.0 != number(head, 16, 4) || sums.1 != number(head, 20, 4) { break }
      pending[Int(number(head, 0, 4))] = offset + 24
      let committed = Int(number(head, 4, 4))
      if committed > 0 {
        logged.merge(pending) { $1 }
        pending = [:]
        pageCount = committed
      }
      offset += 24 + pageByteCount
    }
  }

  private func checksum(_ bytes: ArraySlice<UInt8>, _ before: (UInt64, UInt64), _ isBigEndian: Bool) -> (
    UInt64, UInt64
  ) {
    var (first, second) = (UInt32(before.0), UInt32(before.1))
    bytes.withUnsafeBytes { bytes in
      for offset in stride(from: 0, to: bytes.count - 7, by: 8) {
        let words = [offset, offset + 4].map { offset -> UInt32 in
          let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
          return isBigEndian ? UInt32(bigEndian: word) : UInt32(littleEndian: word)
        }
        first = first &+ words[0] &+ second
        second = second &+ words[1] &+ first
      }
    }
    return (UInt64(first), UInt64(second))
  }

  // MARK: - Which pages are in use

  /// The pages that are free; nil where the list of them is damaged.
  func freePages() -> Set<Int>? {
    guard let header = page(1), header.starts(with: SQLitePageFile.magic) else { return nil }
    var free: Set<Int> = []
    var trunk = Int(number(header, 32, 4))
    while trunk != 0 {
      guard let page = page(trunk), free.insert(trunk).inserted else { return nil }
      let count = Int(number(page, 4, 4))
      guard count <= usableByteCount / 4 - 2 else { return nil }
      for place in 0..<count {
        let leaf = Int(number(page, 8 + 4 * place, 4))
        guard leaf >= 2, leaf <= pageCount, free.insert(leaf).inserted else { return nil }
      }
      trunk = Int(number(page, 0, 4))
    }
    return free.count == Int(number(header, 36, 4)) ? free : nil
  }

  /// The pages of trees that lead to one another from the first page on, or where that is lost, from the second, where the
  /// keys' tree begins in every store of this driver.
  func reachedPages() -> Set<Int> {
    var reached: Set<Int> = []
    var waiting = [1, 2]
    while let number = waiting.popLast() {
      guard let page = page(number), reached.insert(number).inserted,
        let tree = SQLitePage(number, page, self)
      else { continue }
      waiting += tree.children
      if number == 1 { waiting += tree.rootsOfSchema(self) }
    }
    return reached
  }

  private static func error(_ code: Int32, _ path: String) -> StorageError {
    SQLiteFailure(code: 14, systemError: code, text: "unable to open the file").storageError(
      during: .open, path: path)
  }
}

/// Some bytes of a file; nil where there are not as many.
private func readBytes(_ file: Int32, at offset: Int, count: Int) -> [UInt8]? {
  if file < 0 { return nil }
  var bytes = [UInt8](repeating: 0, count: count)
  let read = bytes.withUnsafeMutableBytes { pread(file, $0.baseAddress, count, off_t(offset)) }
  return read == count ? bytes : nil
}

/// A big-endian number of some bytes, which have to be there.
func number(_ bytes: [UInt8], _ offset: Int, _ count: Int) -> UInt64 {
  bytes[offset..<(offset + count)].reduce(0) { $0 << 8 | UInt64($1) }
}

/// `open(2)`, under a name that no method hides.
private func openForReading(_ path: String) -> Int32 { open(path, O_RDONLY | O_CLOEXEC) }
