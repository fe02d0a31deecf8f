internal import CLMDB
internal import Synchronization

/// Knows which state of an environment is the last one that is committed.
///
/// A commit of LMDB writes a page that tells of its state, waits until that is on the disk, and then puts the state's number
/// into the table of readers. `mdb_env_info` looks at the page, so it tells of a state that is not committed yet. Who begins to
/// read takes the number first, and then copies the page that belongs to it: of two pages the one whose turn it was. If others
/// commit in between, and begin one more commit, that page is the one of the last: the reader sees a state before it is
/// committed, under the number of an older one, and what its thread reads next is older again. On a busy machine that
/// happens to one read in ten million.
final class LMDBCommittedState: Sendable {
  private let environment: UInt
  /// The address of a read transaction that asks for numbers, and otherwise has ended; 0 before it was needed. It has a slot
  /// in the table of readers.
  private let asking = Mutex<UInt>(0)

  init(_ env: OpaquePointer) { environment = UInt(bitPattern: env) }

  /// Closes the transaction, before its environment.
  func close() {
    asking.withLock { address in
      if let txn = OpaquePointer(bitPattern: address) { mdb_txn_abort(txn) }
      address = 0
    }
  }

  private var env: OpaquePointer { OpaquePointer(bitPattern: environment)! }

  /// The number of the last state that has a page. It may not be committed yet. The page stands in the map, which must not be
  /// replaced meanwhile.
  var lastWritten: UInt64 {
    var info = MDB_envinfo()
    return mdb_env_info(env, &info) == MDB_SUCCESS ? UInt64(info.me_last_txnid) : 0
  }

  /// The number of the last state that is committed. The map must not be replaced meanwhile.
  var number: UInt64 {
    let (code, number) = ask()
    // Without a slot to ask through, or where the first question comes after others have made the map grow.
    return code == MDB_SUCCESS || number > 0 ? number : lastWritten
  }

  /// Sees to it that a transaction that has just begun to read sees the state whose number it has: where that is not certain,
  /// it begins again.
  ///
  /// - Returns: what LMDB says. If that is not success, the transaction has ended.
  @inline(__always)
  func settle(_ txn: OpaquePointer) -> Int32 {
    // No processor may look for a later page before the transaction has copied its own.
    atomicMemoryFence(ordering: .acquiring)
    return lastWritten == UInt64(mdb_txn_id(txn)) ? MDB_SUCCESS : settleBesideCommit(txn)
  }

  @inline(never)
  private func settleBesideCommit(_ txn: OpaquePointer) -> Int32 {
    while true {
      let (code, number) = ask()
      if code != MDB_SUCCESS {
        mdb_txn_reset(txn)
        return code
      }
      // Still the last one: nobody has begun the commit that would take its page.
      if number == UInt64(mdb_txn_id(txn)) { return MDB_SUCCESS }
      mdb_txn_reset(txn)
      let renewed = mdb_txn_renew(txn)
      if renewed != MDB_SUCCESS { return renewed }
      atomicMemoryFence(ordering: .acquiring)
      if lastWritten == UInt64(mdb_txn_id(txn)) { return MDB_SUCCESS }
    }
  }

  /// What LMDB says when a transaction begins to read, and the number that it gets.
  private func ask() -> (code: Int32, number: UInt64) {
    asking.withLock { address in
      if let txn = OpaquePointer(bitPattern: address) {
        let code = mdb_txn_renew(txn)
        // The transaction has the number also where the map is too small for its state.
        let number = UInt64(mdb_txn_id(txn))
        if code == MDB_SUCCESS { mdb_txn_reset(txn) }
        return (code, number)
      }
      var txn: OpaquePointer?
      let code = mdb_txn_begin(env, nil, UInt32(MDB_RDONLY), &txn)
      guard code == MDB_SUCCESS, let txn else { return (code, 0) }
      let number = UInt64(mdb_txn_id(txn))
      mdb_txn_reset(txn)
      address = UInt(bitPattern: txn)
      return (code, number)
    }
  }
}
