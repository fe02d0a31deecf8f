public import GarageDriver

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The pages of a damaged LMDB store, read without LMDB, which would end the process over them.
///
/// The trees of the newest state are read. If a page of theirs is damaged, what stood below it is looked for among the pages
/// that neither the trees nor the free list name. If the free list is damaged, too, or no state is left, such pages may be of
/// an older state. LMDB has two pages that tell of states, and overwrites the older one with each commit: if the newer one is
/// lost, the state before the last commit is read.
public struct LMDBPages: SalvageSource {
  /// `LMDB`
  public let driver = driverName
  private let path: String

  /// The store in the folder at `directory`, which nobody may have open.
  public init(at directory: URL) { path = directory.path }

  /// Lends what can be read of the entries.
  public func forEachEntry(_ visit: (RawSpan, RawSpan, Bool) throws -> Void) throws -> [String] {
    let file = try LMDBPageFile(inFolder: path)
    guard let meta = file.metas.first else { return [] }
    var notes: [String] = []
    if file.metas.count < 2 {
      notes.append(
        "one of the two pages that tell of states is damaged: this may be the state before the last commit")
    }
    var walk = LMDBTreeWalk(file, meta)
    try walk.walkContent { try visit($0, $1, true) }
    notes += walk.faults
    if walk.faultCount == 0 { return notes }
    // Pages that the trees do not lead to any more.
    let faultCount = walk.faultCount
    walk.walkFreeList()
    let isListWhole = walk.faultCount == faultCount
    if !isListWhole { notes.append("the list of free pages is damaged: what is found elsewhere may be old") }
    for number in 2..<max(2, file.pageCount) where !walk.visited.contains(number) {
      if isListWhole && walk.free.contains(number) { continue }
      guard let page = file.page(number), page.number == number,
        page.flags & 0x0F == LMDBPage.Flag.leaf, page.faultOfNodes(isBranch: false) == nil
      else { continue }
      for node in page.nodes {
        try LMDBTreeWalk.lend(page, node, file) { try visit($0, $1, isListWhole && meta.lastPage >= number) }
      }
    }
    return notes
  }
}
