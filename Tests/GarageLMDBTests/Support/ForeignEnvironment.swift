import CLMDB
import Foundation

/// An LMDB environment of somebody else, through the C library.
struct ForeignEnvironment {
  let env: OpaquePointer

  init(at folder: URL, mapByteCount: Int = 64 << 20, maximumReaderCount: Int = 126) throws {
    var env: OpaquePointer?
    try check(mdb_env_create(&env))
    self.env = env!
    mdb_env_set_maxdbs(self.env, 4)
    mdb_env_set_mapsize(self.env, mapByteCount)
    mdb_env_set_maxreaders(self.env, UInt32(maximumReaderCount))
    try check(mdb_env_open(self.env, folder.path, UInt32(MDB_NOTLS), 0o644))
  }

  func write(_ body: (_ txn: OpaquePointer, _ main: MDB_dbi) throws -> Void) throws {
    var txn: OpaquePointer?
    try check(mdb_txn_begin(env, nil, 0, &txn))
    var main: MDB_dbi = 0
    try check(mdb_dbi_open(txn, nil, 0, &main))
    try body(txn!, main)
    try check(mdb_txn_commit(txn))
  }

  static func put(_ txn: OpaquePointer, _ dbi: MDB_dbi, _ key: [UInt8], _ value: [UInt8]) throws {
    var keyBytes = key
    var valueBytes = value
    try keyBytes.withUnsafeMutableBytes { key in
      try valueBytes.withUnsafeMutableBytes { value in
        var key = MDB_val(mv_size: key.count, mv_data: key.baseAddress)
        var value = MDB_val(mv_size: value.count, mv_data: value.baseAddress)
        try check(mdb_put(txn, dbi, &key, &value, 0))
      }
    }
  }

  func close() { mdb_env_close(env) }
}

struct LMDBFailure: Error, CustomStringConvertible {
  var code: Int32
  var description: String { String(cString: mdb_strerror(code)) }
}

func check(_ code: Int32) throws {
  if code != MDB_SUCCESS { throw LMDBFailure(code: code) }
}
