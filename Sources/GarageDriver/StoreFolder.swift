#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The folder that an engine keeps a store in: made and looked at, with errors that say what to do.
public struct StoreFolder: Sendable, Hashable {
  /// Its path.
  public let path: String
  private let driver: String

  /// The folder at `path`, there or not, named in errors as the store of `driver`.
  public init(atPath path: String, driver: String) {
    self.path = path
    self.driver = driver
  }

  /// Sees to it that the folder is there.
  ///
  /// - Parameter mayMake: whether a missing one is made, with those above it, for its owner alone.
  /// - Throws: ``StorageError/Kind/notAStorage`` for a file, ``StorageError/Kind/notFound`` for none, and what
  ///   ``error(_:during:)`` makes of what the system says.
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
  /// Of the file, not of the folder: an open one keeps its number for itself, while that of a deleted folder may be
  /// given to the next one.
  ///
  /// - Parameter mayMake: whether a missing file is made, empty, for its owner to change and all to read, as far as the
  ///   process's mask lets them.
  public func identity(of name: String, mayMake: Bool) throws -> FileIdentity {
    let file = path + "/" + name
    if mayMake {
      let descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
      if descriptor < 0 { throw error(errno) }
      _ = close(descriptor)
    }
    guard let identity = FileIdentity(path: file) else { throw error(errno) }
    return identity
  }

  /// Brings the names of its files to the disk, and its own: engines sync files, but not the folder that names them.
  public func sync() {
    for folder in [path, path + "/.."] {
      let descriptor = open(folder, O_RDONLY | O_CLOEXEC)
      if descriptor < 0 { continue }
      _ = fsync(descriptor)
      _ = close(descriptor)
    }
  }

  /// The error for what the system says about the store (`errno`).
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
