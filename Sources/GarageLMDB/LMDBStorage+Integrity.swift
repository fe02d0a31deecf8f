public import GarageDriver

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
internal import CLMDB

extension LMDBStorage: IntegrityChecking {
  /// LMDB reads its pages as they are. One that is damaged may end the process.
  public var trustsItsPages: Bool { true }

  /// What is wrong with the pages of the last committed state, the first 100 faults: they are read from the file, without
  /// LMDB, which has no check of its own.
  ///
  /// Numbers, kinds, bounds and order of all pages of the trees, the counts of each tree, the pages of large values, and the
  /// free list, which must not name what is in use. What entries hold is not looked at. On 32-bit systems nothing is
  /// checked.
  ///
  /// - Throws: ``StorageError`` where the file cannot be read.
  public func integrityComplaints() throws -> [String] {
    if !LMDBDataFile.isLayoutKnown { return [] }
    // While the read is open its pages stay as they are, but the commit after next overwrites its meta page.
    for _ in 0..<Self.attempts {
      let complaints = try read { transaction -> [String]? in
        guard let transaction = transaction as? LMDBReadTransaction else { return [] }
        let number = UInt64(mdb_txn_id(transaction.txn))
        let file = try LMDBPageFile(of: connection)
        guard let meta = file.metas.first(where: { $0.transaction == number }) else { return nil }
        return file.complaints(of: meta)
      }
      if let complaints { return complaints }
    }
    throw StorageError(
      .busy, during: .read, driver: driverName, isRetryable: true,
      message:
        "Others commit to the store at \(connection.path) all the time. Check it again when there is less to do."
    )
  }

  private static let attempts = 1000

  /// What is wrong with the pages of a store that is not open, nor has to be: opening a damaged one may end the process.
  ///
  /// Where another process writes at the same time, the pages are read again, until two readings say the same.
  ///
  /// - Parameter directory: the folder of the store.
  /// - Throws: ``StorageError`` where there is no store, or its file cannot be read.
  public static func integrityComplaints(at directory: URL) throws -> [String] {
    if !LMDBDataFile.isLayoutKnown { return [] }
    var last: [String]?
    for _ in 0..<5 {
      let file = try LMDBPageFile(inFolder: directory.path)
      var complaints: [String] = []
      if file.metas.count < 2 {
        complaints.append("one of the two pages that tell of the last states is damaged")
      }
      if let newest = file.metas.first { complaints += file.complaints(of: newest) }
      if complaints.isEmpty || complaints == last { return complaints }
      last = complaints
    }
    return last ?? []
  }
}

extension LMDBPageFile {
  /// What is wrong with the pages of one state.
  func complaints(of meta: LMDBMeta) -> [String] {
    var walk = LMDBTreeWalk(self, meta)
    // Whether the entries are right is not checked here, and nothing is thrown.
    try? walk.walkContent { _, _ in }
    walk.walkFreeList()
    return walk.faults
  }
}
