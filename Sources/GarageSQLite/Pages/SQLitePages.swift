public import GarageDriver

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The pages of a damaged SQLite store, read without SQLite, which refuses such files or gives wrong values of them.
///
/// All pages of trees are read that are not free, with the committed part of the log. If the list of free pages is damaged,
/// pages that the trees lead to are of the last state, and all others may be older.
public struct SQLitePages: SalvageSource {
  /// `SQLite`
  public let driver = driverName
  private let path: String

  /// The store in the file at `url`. No process may have it open. If this one has, which would lose the locks that it has on the
  /// file, reading is refused.
  public init(at url: URL) { path = url.path(percentEncoded: false) }

  /// Lends what can be read of the entries. Of a large value there may be several readings.
  ///
  /// - Throws: ``StorageError/Kind/busy`` where this process has the store open.
  public func forEachEntry(_ visit: (RawSpan, RawSpan, Bool) throws -> Void) throws -> [String] {
    if SQLiteStorage.isOpenHere(path) {
      throw StorageError(
        .busy, during: .open, driver: driver,
        message: """
          \(path): This process has the store open, and would lose its locks on the file when its pages have been read. \
          Close it first, or read a copy of its files.
          """)
    }
    let file = try SQLitePageFile(path: path)
    var notes = file.notes
    let free = file.freePages()
    let reached = free == nil ? file.reachedPages() : []
    if free == nil { notes.append("the list of free pages is damaged: what no tree leads to may be old") }
    let large = largeRows(file, free ?? [])
    for number in 1...max(1, file.pageCount) where free?.contains(number) != true {
      guard let page = file.page(number).flatMap({ SQLitePage(number, $0, file) }), page.isOfKeys else {
        continue
      }
      let isOfLastState = free != nil || reached.contains(number)
      try page.forEachCell(file) { cell in
        guard let columns = SQLitePage.columns(of: cell.payload), columns.count == 2,
          case .blob(let key) = columns[0]
        else { return }
        let bytes = cell.payload.span.bytes
        switch columns[1] {
        case .blob(let value): try visit(bytes.extracting(key), bytes.extracting(value), isOfLastState)
        case .integer(let row):
          for place in large[row] ?? [] {
            try lendLarge(row, in: place, file) { try visit(bytes.extracting(key), $0, isOfLastState) }
          }
        case .other: break
        }
      }
    }
    return notes
  }

  /// The pages in which each row of a large value stands, by its number. It is one page, unless pages were lost that would tell
  /// old ones apart.
  private func largeRows(_ file: SQLitePageFile, _ free: Set<Int>) -> [Int64: [Int]] {
    var rows: [Int64: [Int]] = [:]
    for number in 1...max(1, file.pageCount) where !free.contains(number) {
      guard let page = file.page(number).flatMap({ SQLitePage(number, $0, file) }), page.isOfRows else {
        continue
      }
      page.forEachCell(file) { cell in
        if let row = cell.row { rows[row, default: []].append(number) }
      }
    }
    return rows
  }

  private func lendLarge(
    _ row: Int64, in number: Int, _ file: SQLitePageFile, _ body: (RawSpan) throws -> Void
  ) throws {
    guard let page = file.page(number).flatMap({ SQLitePage(number, $0, file) }) else { return }
    try page.forEachCell(file) { cell in
      guard cell.row == row, let columns = SQLitePage.columns(of: cell.payload), columns.count == 2,
        case .blob(let value) = columns[1]
      else { return }
      try body(cell.payload.span.bytes.extracting(value))
    }
  }
}
