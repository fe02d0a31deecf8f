internal import CLMDB
internal import GarageDriver

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The driver's name in `info` and in every error.
let driverName = "LMDB"

extension StorageError {
  /// What LMDB's answer means for those who use the driver.
  ///
  /// Long because it is a table: one entry for each code that asks for something else of the reader.
  ///
  /// - Parameters:
  ///   - code: one of LMDB's own codes, which are negative, or an `errno`.
  ///   - path: the folder of the store.
  static func lmdb(_ code: Int32, during operation: Operation, path: String) -> StorageError {
    let reason = String(cString: mdb_strerror(code))
    func error(_ kind: Kind, _ message: String, isRetryable: Bool = false) -> StorageError {
      StorageError(
        kind, during: operation, driver: driverName, engineCode: Int(code), isRetryable: isRetryable,
        message: message)
    }
    switch code {
    case MDB_MAP_FULL:
      return error(
        .storageFull,
        """
        The memory map of the store at \(path) is full; the transaction was rolled back. Remove what is not \
        needed, end long reads, which keep old pages in use, or open the store with a larger mapByteCount.
        """)
    case ENOSPC, EDQUOT, EFBIG:
      return error(
        .storageFull,
        """
        There is no room left on the disk, or in the quota, of the store at \(path) (\(reason)); the \
        transaction was rolled back. Make room, then try again.
        """)
    case MDB_READERS_FULL:
      return error(
        .readersFull,
        """
        As many read transactions are open on the store at \(path) as its table of readers has room for. \
        End some, or open the store with a larger maximumReaderCount when no process has it open.
        """,
        isRetryable: true)
    case MDB_TXN_FULL:
      return error(
        .engine,
        "The transaction on the store at \(path) changed more pages than LMDB takes at a time. Split it.")
    case MDB_INVALID where operation == .open:
      return notAStorage(path, "it is no LMDB file", code: code)
    case MDB_INVALID, MDB_CORRUPTED, MDB_PAGE_NOTFOUND, MDB_CURSOR_FULL, MDB_PAGE_FULL, MDB_INCOMPATIBLE:
      return error(
        .corrupt,
        """
        LMDB found the store at \(path) damaged (\(reason)). Close it and restore a copy of the folder.
        """)
    case MDB_PANIC:
      return error(
        .io,
        """
        An earlier commit to the store at \(path) could not be finished, because writing failed, and LMDB \
        refuses to go on. Close every storage on this folder and open it again.
        """)
    case MDB_VERSION_MISMATCH:
      return error(
        .busy,
        """
        Another process has the store at \(path) open with a version of LMDB that does not go together with \
        this one. Use one version in both, or close the other.
        """)
    case EAGAIN where operation == .open:
      // LMDB locks the byte of lock.mdb with the process's number.
      return error(
        .busy,
        """
        A process with the same number as this one, \(getpid()), has the store at \(path) open. That is possible where \
        containers share a store, and LMDB knows processes by their numbers alone. Let the containers share their process \
        numbers, too, or use the store in one of them.
        """)
    case EACCES, EPERM, EROFS:
      return error(
        .permissionDenied,
        """
        The operating system refused access to the store at \(path) (\(reason)). The folder, data.mdb and \
        lock.mdb must be readable and writable for this user.
        """)
    case ENOENT, ENOTDIR:
      return error(.notFound, "There is no store at \(path) (\(reason)).")
    case EIO:
      return error(
        .io, "The disk failed below the store at \(path) (\(reason)). Check it, and the folder's copy.")
    case ENOMEM:
      return error(
        .engine,
        """
        There is not enough memory or address space for the store at \(path). Open it with a smaller \
        mapByteCount, or write less in one transaction.
        """)
    case EMFILE, ENFILE:
      return error(.io, "Too many files are open to open the store at \(path) (\(reason)). Close some.")
    default:
      return error(.engine, "LMDB failed on the store at \(path): \(reason).")
    }
  }

  /// The error for a file or folder that is something else.
  static func notAStorage(_ path: String, _ what: String, code: Int32? = nil) -> StorageError {
    StorageError(
      .notAStorage, during: .open, driver: driverName, engineCode: code.map { Int($0) },
      message: "\(path) is no store of this library: \(what). Nothing was changed. Choose another folder.")
  }

  /// The error for a commit to a data file that is in no folder any more.
  static func storeIsGone(_ path: String, during operation: Operation) -> StorageError {
    StorageError(
      .notFound, during: operation, driver: driverName,
      message: """
        \(path): The store was deleted or replaced while it was open; the transaction was rolled back. \
        Close the storage and open it again.
        """)
  }

  /// The error for a transaction that meets a map that another process made grow, on a thread that cannot wait
  /// until the map may be replaced, because an outer transaction of its own uses it.
  static func mapHasGrown(_ path: String, during operation: Operation) -> StorageError {
    StorageError(
      .conflict, during: operation, driver: driverName, engineCode: Int(MDB_MAP_RESIZED), isRetryable: true,
      message: """
        Another process made the store at \(path) larger than this process has mapped, and it cannot be mapped \
        anew inside the transaction that this thread has open. Let that end, then begin again.
        """)
  }
}
