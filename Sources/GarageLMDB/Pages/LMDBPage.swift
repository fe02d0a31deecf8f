#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The beginning of a page, or all of it, read from the file.
struct LMDBPage {
  /// What a state says of one of its trees.
  struct Database {
    var root: UInt64
    var depth: UInt16
    var branchPageCount: UInt64
    var leafPageCount: UInt64
    var bigValuePageCount: UInt64
    var entryCount: UInt64
    /// Whether it is the unnamed one.
    var mayHoldDatabases: Bool

    /// What stands for the root of a tree without pages.
    static let noPage = UInt64.max
    var isEmpty: Bool { root == Self.noPage }
  }

  static let headerByteCount = 16
  /// The kinds of pages.
  enum Flag {
    static let branch: UInt16 = 0x01
    static let leaf: UInt16 = 0x02
    static let overflow: UInt16 = 0x04
    static let meta: UInt16 = 0x08
  }
  /// The kinds of nodes of a leaf: the value is in pages of its own, or is a tree.
  static let bigValueFlag: UInt16 = 0x01
  static let databaseFlag: UInt16 = 0x02

  let bytes: [UInt8]

  init(bytes: [UInt8]) { self.bytes = bytes }

  init?(_ file: Int32, at offset: off_t, count: Int) {
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, readCount in
      readCount = max(0, pread(file, buffer.baseAddress, count, offset))
    }
    if bytes.count < count { return nil }
    self.bytes = bytes
  }

  func load<T: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, as type: T.Type) -> T {
    bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: type) }
  }

  var flags: UInt16 { load(10, as: UInt16.self) }
  var magic: UInt32 { load(16, as: UInt32.self) }
  var version: UInt32 { load(20, as: UInt32.self) }
  var pageByteCount: UInt32 { load(40, as: UInt32.self) }
  var transaction: UInt64 { load(144, as: UInt64.self) }

  /// Whether these bytes, which may be few, are those that a store's first page begins with: its number, which is zero, its
  /// flags, and the magic number.
  var isBeginningOfMeta: Bool {
    var expected = [UInt8](repeating: 0, count: 16)
    expected[10] = 0x08
    expected += [0xDE, 0xC0, 0xEF, 0xBE]
    // What stands at 12 and 14 has no meaning there.
    return bytes.indices.allSatisfy { index in
      index >= expected.count || (12..<16).contains(index) || bytes[index] == expected[index]
    }
  }

  func database(at offset: Int, mayHoldDatabases: Bool = true) -> Database {
    Database(
      root: load(offset + 40, as: UInt64.self), depth: min(load(offset + 6, as: UInt16.self), 32),
      branchPageCount: load(offset + 8, as: UInt64.self), leafPageCount: load(offset + 16, as: UInt64.self),
      bigValuePageCount: load(offset + 24, as: UInt64.self), entryCount: load(offset + 32, as: UInt64.self),
      mayHoldDatabases: mayHoldDatabases)
  }

  /// Where the page's nodes begin.
  var nodes: [Int] {
    let count = max(0, Int(load(12, as: UInt16.self)) - 16) / 2
    return (0..<min(count, (bytes.count - 16) / 2)).compactMap { index in
      let offset = Int(load(16 + 2 * index, as: UInt16.self))
      return offset + 8 <= bytes.count ? offset : nil
    }
  }

  func nodeFlags(_ node: Int) -> UInt16 { load(node + 4, as: UInt16.self) }
  func valueByteCount(_ node: Int) -> Int { Int(load(node, as: UInt32.self)) }

  func child(_ node: Int) -> UInt64 {
    UInt64(load(node, as: UInt32.self)) | UInt64(load(node + 4, as: UInt16.self)) << 32
  }

  func pageOfBigValue(_ node: Int) -> UInt64? {
    let data = data(node)
    return data + 8 <= bytes.count ? load(data, as: UInt64.self) : nil
  }

  func database(of node: Int) -> Database? {
    let data = data(node)
    return data + 48 <= bytes.count ? database(at: data, mayHoldDatabases: false) : nil
  }

  func data(_ node: Int) -> Int { node + 8 + Int(load(node + 6, as: UInt16.self)) }
}

// MARK: - Checks, before anything is read that could lie outside of the page

extension LMDBPage {
  var number: UInt64 { load(0, as: UInt64.self) }
  private var lower: Int { Int(load(12, as: UInt16.self)) }
  private var upper: Int { Int(load(14, as: UInt16.self)) }
  var overflowPageCount: Int { Int(load(12, as: UInt32.self)) }

  /// What is wrong with the page as one of a tree; nil where nothing is.
  func fault(expecting number: UInt64, isBranch: Bool) -> String? {
    if self.number != number { return "is another one (\(self.number))" }
    let kind = flags & 0x0F
    if kind != (isBranch ? Flag.branch : Flag.leaf) {
      return "is no \(isBranch ? "branch" : "leaf") (flags \(flags))"
    }
    return faultOfNodes(isBranch: isBranch)
  }

  /// What is wrong with the table of nodes.
  func faultOfNodes(isBranch: Bool) -> String? {
    if lower < Self.headerByteCount || lower > upper || upper > bytes.count || lower % 2 != 0 {
      return "says that its nodes are between \(lower) and \(upper)"
    }
    // A branch has at least two children, and LMDB leaves no leaf empty.
    if lower == Self.headerByteCount { return "is empty" }
    for place in stride(from: Self.headerByteCount, to: lower, by: 2) {
      let node = Int(load(place, as: UInt16.self))
      if !isWhole(node, isBranch: isBranch) { return "has a node that goes beyond it (at \(node))" }
    }
    return nil
  }

  /// Whether a node lies within the page.
  func isWhole(_ node: Int, isBranch: Bool) -> Bool {
    if node < upper || node + 8 > bytes.count { return false }
    let data = data(node)
    if data > bytes.count { return false }
    if isBranch { return true }
    let flags = nodeFlags(node)
    if flags & Self.bigValueFlag != 0 { return data + 8 <= bytes.count }
    if flags & Self.databaseFlag != 0 { return valueByteCount(node) == 48 && data + 48 <= bytes.count }
    return data + valueByteCount(node) <= bytes.count
  }

  /// A node's key.
  func key(_ node: Int) -> ArraySlice<UInt8> { bytes[(node + 8)..<data(node)] }
}

extension LMDBPage {
  /// What a meta page says of a state; nil where it is none.
  func meta(pageByteCount: Int) -> LMDBMeta? {
    guard bytes.count >= 152, flags & Flag.meta != 0, magic == 0xBEEF_C0DE, version == 1,
      Int(self.pageByteCount) == pageByteCount
    else { return nil }
    return LMDBMeta(
      transaction: transaction, lastPage: load(136, as: UInt64.self), free: database(at: 40),
      main: database(at: 88))
  }
}

/// A state of a store, as one of its two meta pages tells.
struct LMDBMeta {
  var transaction: UInt64
  var lastPage: UInt64
  /// The pages that nobody uses.
  var free: LMDBPage.Database
  /// The unnamed tree, which has the named one.
  var main: LMDBPage.Database
}
