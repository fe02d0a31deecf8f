#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
  internal import Foundation
#endif

/// Finds the place of a storage that is opened by a name instead of a path.
public enum DataFolder {
  /// The path for a store called `name` in the user's folder for application data.
  ///
  /// On Apple systems that folder is Application Support. Elsewhere it is `$XDG_DATA_HOME` if that is an absolute path, and
  /// otherwise `.local/share` in the home folder, as the XDG Base Directory Specification 0.8 says. Nothing is created.
  ///
  /// - Parameter name: the name of a file or folder: not empty, without `/` and NUL, not `.` or `..`.
  /// - Throws: ``StorageError/Kind/notFound`` for any other name, and if there is no home folder.
  public static func path(forStoreNamed name: String, driver: String) throws -> String {
    let isName = !name.isEmpty && name != "." && name != ".." && !name.utf8.contains { $0 == 0x2F || $0 == 0 }
    guard isName else {
      throw StorageError(
        .notFound, during: .open, driver: driver,
        message: """
          "\(name)" cannot be the name of a file. Give a name that is not empty and has no slash, \
          or open the storage at a path.
          """)
    }
    guard let folder = userDataPath() else {
      throw StorageError(
        .notFound, during: .open, driver: driver,
        message: "This user has no home folder to keep \"\(name)\" in. Open the storage at a path.")
    }
    return folder + "/" + name
  }

  /// Creates the folder at `path`, and each missing folder above it.
  ///
  /// New folders are readable by their owner alone (mode 0700). Their names are synced to the disk.
  ///
  /// - Throws: ``StorageError/Kind/permissionDenied``, ``StorageError/Kind/storageFull``, or
  ///   ``StorageError/Kind/notFound`` where a file stands in the way.
  public static func create(at path: String, driver: String) throws {
    if isFolder(path) { return }
    // Looked for among the bytes: with a name that begins with a combining mark, the slash before it is no character by itself.
    let name = path.utf8.dropLast(path.utf8.last == UInt8(ascii: "/") ? 1 : 0)
    if let slash = name.lastIndex(of: UInt8(ascii: "/")), slash != path.startIndex {
      try create(at: String(path[..<slash]), driver: driver)
    }
    if mkdir(path, 0o700) == 0 { return syncParent(of: path) }
    let code = errno
    // Another process may have made the folder in the meantime.
    if code == EEXIST && isFolder(path) { return }
    let reason = String(cString: strerror(code))
    let kind: StorageError.Kind =
      switch code {
      case EACCES, EPERM, EROFS: .permissionDenied
      case ENOSPC, EDQUOT: .storageFull
      case EEXIST, ENOTDIR, ENOENT, ENAMETOOLONG, ELOOP: .notFound
      default: .io
      }
    throw StorageError(
      kind, during: .open, driver: driver, engineCode: Int(code),
      message: "The folder \(path) could not be created: \(reason). Create it, or choose another place.")
  }

  /// Syncs the name of a new folder to the disk. If it were lost, all files synced inside the folder would be lost with it.
  /// Some file systems do not sync folders, and need not.
  private static func syncParent(of folder: String) {
    let parent = open(folder + "/..", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if parent < 0 { return }
    _ = fsync(parent)
    _ = close(parent)
  }

  private static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  private static func userDataPath() -> String? {
    #if canImport(Darwin)
      return NSSearchPathForDirectoriesInDomains(.applicationSupportDirectory, .userDomainMask, true).first
    #else
      if let data = environment("XDG_DATA_HOME"), data.hasPrefix("/") { return data }
      if let home = environment("HOME"), home.hasPrefix("/") { return home + "/.local/share" }
      guard let home = getpwuid(getuid())?.pointee.pw_dir else { return nil }
      return String(cString: home) + "/.local/share"
    #endif
  }

  private static func environment(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }
}
