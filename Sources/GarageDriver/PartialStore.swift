#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Makes a file or folder that appears under its name only when it is complete.
///
/// While it is being made, it stands in a folder beside its place, whose name is the same with `.partial` behind it:
/// ```
/// backup.garage.partial/lock     held as long as somebody is making it
/// backup.garage.partial/store    the file or folder that is being made
/// ```
/// Where the work ends early, this folder is removed. Where the process ends, the folder stays: the next call for the same
/// place finds that nobody holds the lock, and begins anew. The folder may be deleted at any time when nobody is making
/// anything in it.
public struct PartialStore {
  /// What the name of that folder ends with.
  public static let suffix = ".partial"

  private let path: String
  private let makesFile: Bool
  private let driver: String
  private let folder: String
  private var content: String { folder + "/store" }
  private var lockPath: String { folder + "/lock" }

  /// Lets `body` make a file or folder at the path that it is given, syncs that to the disk, and gives it its name.
  ///
  /// - Parameters:
  ///   - path: the final place. An empty folder may stand there if a folder is made.
  ///   - companions: endings of names. No file may have the name of `path` with one of these endings, because a database would
  ///     take such a file for its own.
  ///   - makesFile: whether a file is made. A file cannot take the name of a folder, and then that is thrown before `body`
  ///     runs.
  ///   - driver: names the maker in errors.
  /// - Throws: ``StorageError/Kind/alreadyThere``; ``StorageError/Kind/busy`` if somebody else is making it;
  ///   ``StorageError/Kind/notFound`` if the folder around it is missing; other errors of the system; and the errors of `body`.
  public static func make(
    at path: String, companions: [String] = [], makesFile: Bool = false, driver: String,
    _ body: (_ path: String) throws -> Void
  ) throws {
    var path = path
    while path.utf8.count > 1 && path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
    let store = PartialStore(path: path, makesFile: makesFile, driver: driver, folder: path + suffix)
    try store.checkFree(companions)
    let lock = try store.begin()
    defer { store.end(lock) }
    try body(store.content)
    try store.sync(store.content)
    // Somebody else may have put a file there in the meantime.
    try store.checkFree(companions)
    if rename(store.content, path) != 0 {
      let code = errno
      // After the check somebody put a file or folder there that cannot be replaced.
      throw [EISDIR, ENOTDIR, EEXIST, ENOTEMPTY].contains(code) ? store.alreadyThere(path) : store.error(code)
    }
    try store.syncFolder(above: path)
  }

  // MARK: - Beginning and ending

  /// Takes the folder, and returns the descriptor of its locked file.
  private func begin() throws -> Int32 {
    while true {
      if mkdir(folder, 0o700) != 0 && errno != EEXIST { throw error(errno) }
      let lock = open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      if lock < 0 {
        let code = errno
        if PartialStore.isNoFolder(folder) { throw alreadyThere(folder) }
        // The one who was making it may just have ended, and taken the folder away.
        if code == ENOENT { continue }
        throw error(code)
      }
      if flock(lock, LOCK_EX | LOCK_NB) != 0 {
        let code = errno
        close(lock)
        if code == EWOULDBLOCK { throw busy }
        throw error(code)
      }
      // The locked file has to be the one that others find under this name.
      if isSame(lock) {
        PartialStore.remove(content)
        for suffix in ["-wal", "-shm", "-journal"] { unlink(content + suffix) }
        return lock
      }
      close(lock)
    }
  }

  private func end(_ lock: Int32) {
    PartialStore.remove(content)
    for suffix in ["-wal", "-shm", "-journal"] { unlink(content + suffix) }
    unlink(lockPath)
    rmdir(folder)
    close(lock)
  }

  private func isSame(_ file: Int32) -> Bool {
    var (opened, found) = (stat(), stat())
    return fstat(file, &opened) == 0 && stat(lockPath, &found) == 0 && opened.st_ino == found.st_ino
      && opened.st_dev == found.st_dev
  }

  private func checkFree(_ companions: [String]) throws {
    for suffix in [""] + companions {
      var status = stat()
      if lstat(path + suffix, &status) != 0 {
        if errno == ENOENT { continue }
        throw error(errno)
      }
      // An empty folder gives way to a folder that takes its name.
      if suffix.isEmpty && !makesFile && status.st_mode & S_IFMT == S_IFDIR
        && PartialStore.entries(of: path).isEmpty
      {
        continue
      }
      throw alreadyThere(path + suffix)
    }
  }

  private func alreadyThere(_ path: String) -> StorageError {
    StorageError(
      .alreadyThere, during: .write, driver: driver,
      message: """
        There is something at \(path) already, which was left as it is. Choose another place, or move it away.
        """)
  }

  // MARK: - The file system

  private static func entries(of folder: String) -> [String] {
    guard let stream = opendir(folder) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
        name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names
  }

  /// Whether something is there that is neither a folder nor a link to one.
  private static func isNoFolder(_ path: String) -> Bool {
    var status = stat()
    if stat(path, &status) == 0 { return status.st_mode & S_IFMT != S_IFDIR }
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
  }

  /// Removes a file, or a folder with all that is in it.
  private static func remove(_ path: String) {
    var status = stat()
    if lstat(path, &status) != 0 { return }
    if status.st_mode & S_IFMT != S_IFDIR {
      unlink(path)
      return
    }
    for name in entries(of: path) { remove(path + "/" + name) }
    rmdir(path)
  }

  /// Syncs a file, or a folder with the files in it, to the disk.
  private func sync(_ path: String) throws {
    var status = stat()
    if stat(path, &status) != 0 { throw error(errno) }
    if status.st_mode & S_IFMT == S_IFDIR {
      for name in PartialStore.entries(of: path) { try sync(path + "/" + name) }
    }
    let file = open(path, O_RDONLY | O_CLOEXEC)
    if file < 0 { throw error(errno) }
    defer { close(file) }
    #if canImport(Darwin)
      // On Apple systems an ordinary fsync stops at the disk's own cache.
      if fcntl(file, F_FULLFSYNC) == 0 { return }
    #endif
    if fsync(file) != 0 { throw error(errno) }
  }

  private func syncFolder(above path: String) throws {
    var folder = "."
    if let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) {
      folder = slash == path.startIndex ? "/" : String(path[..<slash])
    }
    let file = open(folder, O_RDONLY | O_CLOEXEC)
    if file < 0 { throw error(errno) }
    defer { close(file) }
    // Some file systems do not sync folders, and need not.
    if fsync(file) != 0 && errno != EINVAL && errno != ENOTSUP { throw error(errno) }
  }

  private var busy: StorageError {
    StorageError(
      .busy, during: .write, driver: driver, isRetryable: true,
      message:
        "Somebody else is making \(path) at this moment. Wait for that to end, or choose another place.")
  }

  private func error(_ code: Int32) -> StorageError {
    var error = StoreFolder(atPath: path, driver: driver).error(code, during: .write)
    if error.kind == .notFound {
      error.message =
        "There is no folder for \(path) (\(String(cString: strerror(code)))). Make it, or check the path."
    }
    return error
  }
}
