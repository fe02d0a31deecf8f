#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The folder in which an engine keeps a store. It is made and examined here, with errors that say what to do.
public struct StoreFolder: Sendable, Hashable {
  /// Its path.
  public let path: String
  private let driver: String

  /// The folder at `path`, whether it exists or not. Errors name it as the store of `driver`.
  public init(atPath path: String, driver: String) {
    self.path = path
    self.driver = driver
  }

  /// Makes sure that the folder exists.
  ///
  /// - Parameter mayMake: whether a missing folder is made, with the folders above it, accessible to its owner alone.
  /// - Throws: ``StorageError/Kind/notAStorage`` if a file stands there, ``StorageError/Kind/notFound`` if nothing does, and
  ///   what ``error(_:during:)`` makes of errors of the system.
  public func prepare(mayMake: Bool) throws {
    var status = stat()
    if stat(path, &status) == 0 {
      if status.st_mode & S_IFMT == S_IFDIR { return }
      throw StorageError(
        .notAStorage, during: .open, driver: driver,
        message: "\(path) is a file, and a store is a folder here. Nothing was changed. Choose another place."
      )
    }
    if errno != ENOENT || !mayMake { throw error(errno) }
    try DataFolder.create(at: path, driver: driver)
  }

  /// The identity of a file in the folder, by which ``SharedStores`` knows a store.
  ///
  /// It is that of the file, not of the folder: the number of an open file is given to no other, but that of a deleted folder
  /// may be given to the next one.
  ///
  /// - Parameter mayMake: whether a missing file is made. It is empty, and its owner may change it and all may read it, as far
  ///   as the process's mask allows.
  public func identity(of name: String, mayMake: Bool) throws -> FileIdentity {
    let file = path + "/" + name
    if mayMake {
      let descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
      if descriptor < 0 {
        let code = errno
        throw code == EISDIR ? StoreFolder(atPath: file, driver: driver).error(code) : error(code)
      }
      _ = close(descriptor)
    }
    guard let identity = FileIdentity(path: file) else { throw error(errno) }
    return identity
  }

  /// Syncs the names of the store's files, and its own, to the disk. Engines sync files, but not the folder that names them.
  public func sync() {
    for folder in [path, path + "/.."] {
      let descriptor = open(folder, O_RDONLY | O_CLOEXEC)
      if descriptor < 0 { continue }
      _ = fsync(descriptor)
      _ = close(descriptor)
    }
  }

  /// The error for a failure that the system reports about the store (`errno`).
  public func error(_ code: Int32, during operation: StorageError.Operation = .open) -> StorageError {
    let reason = String(cString: strerror(code))
    let (kind, message): (StorageError.Kind, String) =
      switch code {
      case ENOSPC, EDQUOT, EFBIG:
        (
          .storageFull,
          "There is no room left for the store at \(path) (\(reason)). Make room, then try again."
        )
      case EACCES, EPERM, EROFS:
        (
          .permissionDenied,
          "The operating system refused access to the store at \(path) (\(reason)). Change its permissions."
        )
      case ENOENT, ENOTDIR, ENAMETOOLONG, ELOOP:
        (.notFound, "There is no store at \(path) (\(reason)). Check the path, or make the folder.")
      case EISDIR:
        (
          .notAStorage,
          "A folder stands at \(path), where a file is needed. Nothing was changed. Choose another place."
        )
      case EMFILE, ENFILE:
        (.io, "Too many files are open to open the store at \(path) (\(reason)). Close some.")
      default:
        (
          .io,
          "The disk failed below the store at \(path) (\(reason)). Check it, and keep a copy of the folder."
        )
      }
    return StorageError(kind, during: operation, driver: driver, engineCode: Int(code), message: message)
  }
}
