/// A page of a tree. Its cells are checked before their contents are read.
struct SQLitePage {
  /// The kinds of pages, by their first byte.
  private enum Kind: UInt8 {
    case indexBranch = 0x02
    case tableBranch = 0x05
    case indexLeaf = 0x0A
    case tableLeaf = 0x0D
  }

  /// The contents of a cell.
  struct Cell {
    /// The row's number, in a table whose rows have numbers.
    var row: Int64?
    var payload: [UInt8]
  }

  /// A value of a row.
  enum Column {
    case blob(Range<Int>)
    case integer(Int64)
    case other
  }

  private let bytes: [UInt8]
  private let kind: Kind
  private let start: Int
  private let cellOffsets: [Int]

  /// Nil if the page does not belong to a tree.
  init?(_ number: Int, _ bytes: [UInt8], _ file: SQLitePageFile) {
    // On the first page, the header of the file stands before the page's own.
    start = number == 1 ? 100 : 0
    guard let kind = Kind(rawValue: bytes[start]) else { return nil }
    self.kind = kind
    self.bytes = bytes
    let count = Int(GarageSQLite.number(bytes, start + 3, 2))
    let array = start + (kind == .indexBranch || kind == .tableBranch ? 12 : 8)
    guard array + 2 * count <= file.usableByteCount else { return nil }
    cellOffsets = (0..<count).map { Int(GarageSQLite.number(bytes, array + 2 * $0, 2)) }.filter {
      $0 >= array + 2 * count && $0 + 4 <= file.usableByteCount
    }
  }

  /// The child pages.
  var children: [Int] {
    guard kind == .indexBranch || kind == .tableBranch else { return [] }
    return cellOffsets.map { Int(number(bytes, $0, 4)) } + [Int(number(bytes, start + 8, 4))]
  }

  /// Whether the cells are entries of the table with all keys.
  var isOfKeys: Bool { kind == .indexLeaf || kind == .indexBranch }
  /// Whether the cells are rows with numbers.
  var isOfRows: Bool { kind == .tableLeaf }

  /// Visits the cells that can be read.
  func forEachCell(_ file: SQLitePageFile, _ visit: (Cell) throws -> Void) rethrows {
    for offset in cellOffsets {
      if let cell = cell(at: offset, file) { try visit(cell) }
    }
  }

  /// The roots of the tables in the schema, which is in the first page.
  func rootsOfSchema(_ file: SQLitePageFile) -> [Int] {
    var roots: [Int] = []
    forEachCell(file) { cell in
      if let columns = SQLitePage.columns(of: cell.payload), columns.count == 5,
        case .integer(let root) = columns[3]
      {
        roots.append(Int(clamping: root))
      }
    }
    return roots
  }

  // MARK: - Cells

  private func cell(at offset: Int, _ file: SQLitePageFile) -> Cell? {
    var at = offset
    if kind == .tableBranch { return nil }
    if kind == .indexBranch { at += 4 }
    guard let byteCount = SQLitePage.varint(bytes, &at), byteCount >= 0, byteCount <= 1 << 31 else {
      return nil
    }
    var row: Int64?
    if kind == .tableLeaf {
      guard let number = SQLitePage.varint(bytes, &at) else { return nil }
      row = number
    }
    guard let payload = payload(at: at, Int(byteCount), file) else { return nil }
    return Cell(row: row, payload: payload)
  }

  private func payload(at offset: Int, _ byteCount: Int, _ file: SQLitePageFile) -> [UInt8]? {
    let usable = file.usableByteCount
    let most = kind == .tableLeaf ? usable - 35 : (usable - 12) * 64 / 255 - 23
    let least = (usable - 12) * 32 / 255 - 23
    if byteCount <= most {
      return offset + byteCount <= usable ? Array(bytes[offset..<(offset + byteCount)]) : nil
    }
    let wanted = least + (byteCount - least) % (usable - 4)
    let local = wanted <= most ? wanted : least
    guard offset + local + 4 <= usable else { return nil }
    // The file is too small to hold so many bytes, so the length is damaged.
    guard byteCount <= file.pageCount * usable else { return nil }
    var payload = Array(bytes[offset..<(offset + local)])
    payload.reserveCapacity(byteCount)
    var next = Int(number(bytes, offset + local, 4))
    while payload.count < byteCount {
      guard let page = file.page(next) else { return nil }
      payload += page[4..<(4 + min(usable - 4, byteCount - payload.count))]
      next = Int(number(page, 0, 4))
    }
    return payload
  }

  // MARK: - Rows

  /// The values of a row; nil if the payload is no row.
  static func columns(of payload: [UInt8]) -> [Column]? {
    var at = 0
    guard let headerByteCount = varint(payload, &at), headerByteCount >= 1, headerByteCount <= payload.count
    else {
      return nil
    }
    var columns: [Column] = []
    var place = Int(headerByteCount)
    while at < Int(headerByteCount) {
      guard let type = varint(payload, &at), type >= 0, type <= 1 << 32 else { return nil }
      let byteCount: Int
      switch type {
      case 0, 8, 9: byteCount = 0
      case 1...4: byteCount = Int(type)
      case 5: byteCount = 6
      case 6, 7: byteCount = 8
      case 10, 11: return nil
      default: byteCount = (Int(type) - 12) / 2
      }
      guard place + byteCount <= payload.count else { return nil }
      switch type {
      case 8, 9: columns.append(.integer(type - 8))
      case 1...6:
        let bits = number(payload, place, byteCount)
        let unused = 64 - 8 * byteCount
        columns.append(.integer(Int64(bitPattern: bits << UInt64(unused)) >> Int64(unused)))
      case 12... where type % 2 == 0: columns.append(.blob(place..<(place + byteCount)))
      default: columns.append(.other)
      }
      place += byteCount
    }
    return at == Int(headerByteCount) ? columns : nil
  }

  /// A number of up to nine bytes.
  private static func varint(_ bytes: [UInt8], _ at: inout Int) -> Int64? {
    var value: UInt64 = 0
    for place in 0..<9 {
      guard at < bytes.count else { return nil }
      let byte = bytes[at]
      at += 1
      if place == 8 { return Int64(bitPattern: value << 8 | UInt64(byte)) }
      value = value << 7 | UInt64(byte & 0x7F)
      if byte < 0x80 { return Int64(bitPattern: value) }
    }
    return nil
  }
}
