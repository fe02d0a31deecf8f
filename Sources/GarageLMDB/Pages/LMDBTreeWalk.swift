internal import GarageDriver

/// Goes through the trees of one state, page by page, and notes what does not fit.
struct LMDBTreeWalk {
  /// How many faults are listed.
  private static let maximumFaultCount = 100

  private let file: LMDBPageFile
  private let meta: LMDBMeta
  /// The pages of trees and of values.
  private(set) var used: LMDBPageSet
  /// Those of them whose nodes were gone through.
  private(set) var visited: LMDBPageSet
  /// The pages that the free list names.
  private(set) var free: LMDBPageSet
  private(set) var faults: [String] = []
  private(set) var faultCount = 0

  /// What was met so far in the tree that is being walked.
  private struct Met {
    let name: String
    /// Keys are numbers, in the free list.
    let hasNumbers: Bool
    var branches: UInt64 = 0
    var leaves: UInt64 = 0
    var overflow: UInt64 = 0
    var entries: UInt64 = 0
    var lastKey: ArraySlice<UInt8>?
    /// The least key that the next leaf may have, as the branch above says.
    var leastKey: ArraySlice<UInt8>?
  }

  init(_ file: LMDBPageFile, _ meta: LMDBMeta) {
    self.file = file
    self.meta = meta
    used = LMDBPageSet(count: file.pageCount)
    free = LMDBPageSet(count: file.pageCount)
    visited = LMDBPageSet(count: file.pageCount)
    for number in 0..<min(2, file.pageCount) { _ = used.insert(number) }
  }

  private mutating func note(_ fault: String) {
    faultCount += 1
    if faults.count < Self.maximumFaultCount { faults.append(fault) }
  }

  /// Goes through the unnamed tree and those that it names, and lends the entries of these.
  ///
  /// - Parameter visit: gets key and value of each entry that can be read. They may be none that was ever stored, which the
  ///   checksums of records tell.
  mutating func walkContent(_ visit: (RawSpan, RawSpan) throws -> Void) throws {
    var inner: [(name: String, tree: LMDBPage.Database)] = []
    try walk(meta.main, Met(name: "the unnamed tree", hasNumbers: false)) { page, node in
      if page.nodeFlags(node) & LMDBPage.databaseFlag != 0, let tree = page.database(of: node) {
        inner.append((String(decoding: page.key(node), as: UTF8.self), tree))
      }
    }
    for (name, tree) in inner {
      try walk(tree, Met(name: "the tree \"\(name)\"", hasNumbers: false)) { [file] page, node in
        try Self.lend(page, node, file, visit)
      }
    }
  }

  /// Lends a leaf's entry, where its value can be read.
  static func lend(
    _ page: LMDBPage, _ node: Int, _ file: LMDBPageFile, _ visit: (RawSpan, RawSpan) throws -> Void
  ) throws {
    let flags = page.nodeFlags(node)
    if flags & LMDBPage.databaseFlag != 0 { return }
    let count = page.valueByteCount(node)
    let bytes = page.bytes.span.bytes
    let key = bytes.extracting((node + 8)..<page.data(node))
    if flags & LMDBPage.bigValueFlag != 0 {
      guard let first = page.pageOfBigValue(node), let value = file.bigValue(at: first, byteCount: count)
      else {
        return
      }
      return try visit(key, value.span.bytes)
    }
    try visit(key, bytes.extracting(page.data(node)..<(page.data(node) + count)))
  }

  /// Goes through the list of free pages, which must not name one that is in use.
  mutating func walkFreeList() {
    var numbers: [UInt64] = []
    try? walk(meta.free, Met(name: "the free list", hasNumbers: true)) { [file] page, node in
      try Self.lend(page, node, file) { _, value in
        guard value.byteCount >= 8 else { return }
        let count = value.unsafeLoadUnaligned(as: UInt64.self)
        for place in 0..<min(count, UInt64(value.byteCount / 8 - 1)) {
          numbers.append(value.unsafeLoadUnaligned(fromByteOffset: 8 + Int(place) * 8, as: UInt64.self))
        }
      }
    }
    for number in numbers {
      // The file may be shorter than the pages that were ever taken.
      if number < 2 || number > meta.lastPage {
        note("the free list names page \(number), which there cannot be")
      }
      if number < 2 || number >= file.pageCount { continue }
      if used.contains(number) { note("page \(number) is in use, and in the free list") }
      if !free.insert(number) { note("page \(number) stands in the free list twice") }
    }
  }

  // MARK: - Trees

  private mutating func walk(
    _ tree: LMDBPage.Database, _ start: Met, _ visit: (LMDBPage, Int) throws -> Void
  ) throws {
    if tree.isEmpty {
      if tree.entryCount != 0 { note("\(start.name) has no root, and \(tree.entryCount) entries") }
      return
    }
    var met = start
    if tree.depth == 0 || tree.depth > 30 {
      return note("\(met.name) is \(tree.depth) levels deep, which cannot be")
    }
    try walk(tree.root, level: Int(tree.depth), &met, visit)
    let expected = [tree.branchPageCount, tree.leafPageCount, tree.bigValuePageCount, tree.entryCount]
    let found = [met.branches, met.leaves, met.overflow, met.entries]
    if found != expected {
      note(
        """
        \(met.name) should have \(expected[0]) branches, \(expected[1]) leaves, \(expected[2]) pages of large values and \
        \(expected[3]) entries, and has \(found[0]), \(found[1]), \(found[2]) and \(found[3])
        """)
    }
  }

  private mutating func walk(
    _ number: UInt64, level: Int, _ met: inout Met, _ visit: (LMDBPage, Int) throws -> Void
  ) throws {
    guard take(number, 1, met.name) else { return }
    guard let page = file.page(number) else { return note("page \(number) of \(met.name) cannot be read") }
    let isBranch = level > 1
    if let fault = page.fault(expecting: number, isBranch: isBranch) {
      return note("page \(number) of \(met.name) \(fault)")
    }
    _ = visited.insert(number)
    if isBranch { met.branches += 1 } else { met.leaves += 1 }
    for (place, node) in page.nodes.enumerated() {
      if isBranch {
        if place > 0 { met.leastKey = page.key(node) }
        try walk(page.child(node), level: level - 1, &met, visit)
      } else {
        met.entries += 1
        checkOrder(page.key(node), number, &met)
        if page.nodeFlags(node) & LMDBPage.bigValueFlag != 0 { takeBigValue(page, node, number, &met) }
        try visit(page, node)
      }
    }
  }

  private mutating func checkOrder(_ key: ArraySlice<UInt8>, _ number: UInt64, _ met: inout Met) {
    if let least = met.leastKey, Self.isBefore(key, least, met.hasNumbers) {
      note("page \(number) of \(met.name) has a key that belongs before it")
    }
    met.leastKey = nil
    if let last = met.lastKey, !Self.isBefore(last, key, met.hasNumbers) {
      note("page \(number) of \(met.name) has keys out of order")
    }
    met.lastKey = key
  }

  private static func isBefore(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>, _ areNumbers: Bool)
    -> Bool
  {
    if !areNumbers { return compareKeys(left.span.bytes, right.span.bytes) < 0 }
    guard left.count == 8, right.count == 8 else { return false }
    return left.span.bytes.unsafeLoadUnaligned(as: UInt64.self)
      < right.span.bytes.unsafeLoadUnaligned(as: UInt64.self)
  }

  private mutating func takeBigValue(_ page: LMDBPage, _ node: Int, _ number: UInt64, _ met: inout Met) {
    guard let first = page.pageOfBigValue(node) else { return }
    let byteCount = page.valueByteCount(node)
    guard let count = file.bigValuePageCount(at: first, byteCount: byteCount) else {
      return note(
        "page \(first) of \(met.name) does not begin the value of \(byteCount) bytes that page \(number) says"
      )
    }
    met.overflow += UInt64(count)
    _ = take(first, count, met.name)
  }

  /// Notes that pages are used, unless they are used already, or are none.
  private mutating func take(_ first: UInt64, _ count: Int, _ name: String) -> Bool {
    guard first >= 2, first < file.pageCount, UInt64(count) <= file.pageCount - first,
      first + UInt64(count) - 1 <= meta.lastPage
    else {
      note("\(name) uses page \(first), which the file does not have")
      return false
    }
    for number in first..<(first + UInt64(count)) where !used.insert(number) {
      note("page \(number) of \(name) is used twice")
      return false
    }
    return true
  }
}
