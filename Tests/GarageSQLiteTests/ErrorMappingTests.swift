import CSQLite
import Foundation
import GarageDriver
import GarageSQLite
import Testing

@Suite("SQLite: what its codes mean")
struct ErrorMappingTests {
  @Test(
    "Every code has its kind",
    arguments: [
      (SQLITE_BUSY, 0, .busy), (SQLITE_BUSY | 2 << 8, 0, .busy), (SQLITE_LOCKED, 0, .busy),
      (SQLITE_PROTOCOL, 0, .busy), (SQLITE_FULL, 0, .storageFull), (SQLITE_FULL, ENOSPC, .storageFull),
      (SQLITE_IOERR | 3 << 8, ENOSPC, .storageFull), (SQLITE_IOERR | 3 << 8, EDQUOT, .storageFull),
      (SQLITE_IOERR | 1 << 8, EIO, .io), (SQLITE_IOERR | 4 << 8, 0, .io),
      (SQLITE_IOERR | 33 << 8, 0, .corrupt),
      (SQLITE_CORRUPT, 0, .corrupt), (SQLITE_CORRUPT | 3 << 8, 0, .corrupt), (SQLITE_NOTADB, 0, .notAStorage),
      (SQLITE_CANTOPEN, EACCES, .permissionDenied), (SQLITE_CANTOPEN, EROFS, .permissionDenied),
      (SQLITE_CANTOPEN, EPERM, .permissionDenied), (SQLITE_CANTOPEN, ENOENT, .notFound),
      (SQLITE_CANTOPEN, ENOTDIR, .notFound), (SQLITE_CANTOPEN, EMFILE, .readersFull),
      (SQLITE_CANTOPEN, ENFILE, .readersFull), (SQLITE_CANTOPEN, ENOSPC, .storageFull),
      (SQLITE_CANTOPEN, ENAMETOOLONG, .notFound), (SQLITE_READONLY, 0, .permissionDenied),
      (SQLITE_READONLY | 6 << 8, EACCES, .permissionDenied), (SQLITE_PERM, 0, .permissionDenied),
      (SQLITE_AUTH, 0, .permissionDenied), (SQLITE_TOOBIG, 0, .valueTooLarge), (SQLITE_NOMEM, 0, .engine),
      (SQLITE_MISUSE, 0, .engine), (SQLITE_INTERNAL, 0, .engine), (SQLITE_ERROR, 0, .engine),
    ] as [(Int32, Int32, StorageError.Kind)])
  func kinds(code: Int32, systemError: Int32, kind: StorageError.Kind) {
    let failure = SQLiteFailure(code: code, systemError: systemError, text: "what SQLite says")
    let error = failure.storageError(during: .get, path: "/a/store.garage")
    #expect(error.kind == kind)
    #expect(error.engineCode == Int(code))
    #expect(error.isRetryable == (kind == .busy || kind == .readersFull))
    #expect(error.driver == "SQLite" && error.operation == .get)
    #expect(error.message.hasPrefix("/a/store.garage: what SQLite says"))
    #expect(error.message.hasSuffix("."))
  }
}
