internal import GarageDriver

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// `data.mdb`, read page by page without LMDB, which trusts what it reads.
final class LMDBPageFile {
  let path: String
  private let file: Int32
  let byteCount: Int
  let pageByteCount: Int
  /// The blocks that were read last; each has its place by its number, modulo their count.
  private var blocks = [(number: Int, bytes: [UInt8])](repeating: (-1, []), count: 32)

  /// How many bytes are read at a time. If each page were read by itself, the calls would take longer than reading the bytes.
  private static let blockByteCount = 1 << 16

  /// Opens the file. Where the first page does not tell how large pages are, that is found by the second.
  ///
  /// - Throws: ``StorageError/Kind/notFound``, and what else the system says; ``StorageError/Kind/notAStorage`` where no
  ///   meta page is found.
  convenience init(inFolder folder: String) throws {
    let file = openFile(folder + "/data.mdb", O_RDONLY | O_CLOEXEC)
    if file < 0 { throw StorageError.lmdb(errno, during: .open, path: folder) }
    try self.init(file, inFolder: folder)
  }

  /// The file that an environment has open, wherever its folder was moved.
  convenience init(of connection: LMDBConnection) throws {
    let file = fcntl(connection.descriptor, F_DUPFD_CLOEXEC, 0)
    if file < 0 { throw StorageError.lmdb(errno, during: .read, path: connection.path) }
    try self.init(file, inFolder: connection.path)
  }

  /// - Parameter file: is closed with this value, or where this throws.
  private init(_ file: Int32, inFolder folder: String) throws {
    self.file = file
    path = folder + "/data.mdb"
    var status = stat()
    if fstat(file, &status) != 0 || status.st_mode & S_IFMT != S_IFREG {
      closeFile(file)
      throw StorageError.notAStorage(folder, "its data.mdb is no file")
    }
    byteCount = Int(status.st_size)
    let sizes = [Int(getpagesize()), 4096, 16384, 65536, 8192, 32768, 2048, 1024, 512]
    let found = sizes.first { size in
      [0, size].contains { LMDBPage(file, at: off_t($0), count: 152)?.meta(pageByteCount: size) != nil }
    }
    guard let found, LMDBDataFile.isLayoutKnown else {
      closeFile(file)
      throw StorageError.notAStorage(folder, "its data.mdb has no page that LMDB begins with")
    }
    pageByteCount = found
  }

  deinit { closeFile(file) }

  /// How many whole pages the file has.
  var pageCount: UInt64 { UInt64(byteCount / pageByteCount) }

  func page(_ number: UInt64) -> LMDBPage? {
    guard number < pageCount else { return nil }
    let offset = Int(number) * pageByteCount
    let block = offset / Self.blockByteCount
    let slot = block % blocks.count
    if blocks[slot].number != block {
      let start = block * Self.blockByteCount
      let count = min(Self.blockByteCount, byteCount - start)
      // Where a part of the disk cannot be read, the pages beside it can.
      guard let read = LMDBPage(file, at: off_t(start), count: count) else { return pageAlone(number) }
      blocks[slot] = (block, read.bytes)
    }
    let place = offset % Self.blockByteCount
    return LMDBPage(bytes: Array(blocks[slot].bytes[place..<(place + pageByteCount)]))
  }

  private func pageAlone(_ number: UInt64) -> LMDBPage? {
    LMDBPage(file, at: off_t(Int(number) * pageByteCount), count: pageByteCount)
  }

  /// The states that the two meta pages tell of, the newest first.
  var metas: [LMDBMeta] {
    [0, 1].compactMap { pageAlone($0)?.meta(pageByteCount: pageByteCount) }.sorted {
      $0.transaction > $1.transaction
    }
  }

  /// The content of a value that has pages of its own; nil where these are others.
  func bigValue(at number: UInt64, byteCount: Int) -> [UInt8]? {
    if bigValuePageCount(at: number, byteCount: byteCount) == nil { return nil }
    let offset = Int(number) * pageByteCount + LMDBPage.headerByteCount
    return LMDBPage(file, at: off_t(offset), count: byteCount)?.bytes
  }

  /// How many pages a value of that size has there; nil where they are others.
  ///
  /// There may be more than it needs: LMDB puts a smaller value in the place of a larger one.
  func bigValuePageCount(at number: UInt64, byteCount: Int) -> Int? {
    let needed = (LMDBPage.headerByteCount - 1 + byteCount) / pageByteCount + 1
    guard number < pageCount, UInt64(needed) <= pageCount - number,
      let first = LMDBPage(file, at: off_t(Int(number) * pageByteCount), count: LMDBPage.headerByteCount),
      first.number == number, first.flags & 0x0F == LMDBPage.Flag.overflow, first.overflowPageCount >= needed
    else { return nil }
    return first.overflowPageCount
  }
}

/// A set of page numbers of a file.
struct LMDBPageSet {
  private var words: [UInt64]

  init(count: UInt64) { words = Array(repeating: 0, count: Int(count / 64) + 1) }

  /// Whether the number was not there yet.
  mutating func insert(_ number: UInt64) -> Bool {
    let bit: UInt64 = 1 << (number % 64)
    let place = Int(number / 64)
    if words[place] & bit != 0 { return false }
    words[place] |= bit
    return true
  }

  func contains(_ number: UInt64) -> Bool { words[Int(number / 64)] & (1 << (number % 64)) != 0 }
}
