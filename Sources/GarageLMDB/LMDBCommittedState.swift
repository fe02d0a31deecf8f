internal import CLMDB
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

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

  /// Gives the slot back; false where it has none. Called also before the environment is closed.
  @discardableResult
  func giveUpSlot() -> Bool {
    asking.withLock { address in
      guard let txn = OpaquePointer(bitPattern: address) else { return false }
      mdb_txn_abort(txn)
      address = 0
      return true
    }
  }

  private var env: OpaquePointer { OpaquePointer(bitPattern: environment)! }

  /// The number of the last state that has a page. It may not be committed yet. The page stands in the map, which must not be
  /// replaced meanwhile.
  var lastWritten: UInt64 {
    var info = MDB_envinfo()
    return mdb_env_info(env, &info) == MDB_SUCCESS ? UInt64(info.me_last_txnid) : 0
  }

  /// The number of the last state that is committed; nil without a slot to ask through. The map must not be replaced meanwhile.
  var number: UInt64? {
    let (code, number) = ask()
    if code == MDB_SUCCESS || number > 0 { return number }
    // The map was too small for the first question. The state before the last page is surely committed, and the next answer
    // differs from it if the last one is, too: somebody looks once in vain, and misses nothing.
    return code == MDB_MAP_RESIZED ? lastWritten &- 1 : nil
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
      // Still the last one: nobody has begun the commit that would take its page.
      if code == MDB_SUCCESS && number == UInt64(mdb_txn_id(txn)) { return MDB_SUCCESS }
      if code == MDB_READERS_FULL && isTakenByOneCommit(txn) { return MDB_SUCCESS }
      mdb_txn_reset(txn)
      if code != MDB_SUCCESS && code != MDB_READERS_FULL { return code }
      let renewed = mdb_txn_renew(txn)
      if renewed != MDB_SUCCESS { return renewed }
      atomicMemoryFence(ordering: .acquiring)
      if lastWritten == UInt64(mdb_txn_id(txn)) { return MDB_SUCCESS }
    }
  }

  /// Whether only the next commit has begun, and not the one that takes the transaction's page: for want of a slot to ask
  /// through. While a page is being written, for the time of copying 150 bytes, that cannot be told; a tenth of a millisecond
  /// later it can.
  private func isTakenByOneCommit(_ txn: OpaquePointer) -> Bool {
    usleep(100)
    return lastWritten == UInt64(mdb_txn_id(txn)) + 1
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
