internal import CLMDB
internal import GarageDriver

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// An environment that was opened and found to be a store of this library.
struct OpenedEnvironment {
  var env: OpaquePointer
  var dbi: MDB_dbi
  var isReadOnly: Bool
}

/// The steps from a path to an open environment.
///
/// LMDB's unnamed database holds two entries: the marker, which says that the store is one of ours and in
/// which format, and the named database with the content. So the content's keys are free of any rule.
///
/// ```
/// "garage.format"  →  "Garage" 0x0D 0x0A, format version as four bytes, little-endian
/// "garage"         →  the named database
/// ```
struct LMDBOpening {
  let path: String
  let options: LMDBStorage.Options

  static let markerKey = Array("garage.format".utf8)
  static let markerMagic = Array("Garage\r\n".utf8)
  static let contentName = "garage"
  static let formatVersion: UInt32 = 1

  /// For the owner to change and everybody to read; the process's mask takes away from it.
  private static let fileMode: mode_t = 0o644
  /// How often opening is tried again while other processes open and close the store.
  private static let attempts = 200

  private var dataPath: String { path + "/data.mdb" }
  private var lockPath: String { path + "/lock.mdb" }

  /// Makes sure that there is a folder with a data file, making both if need be, and returns the identity of the file.
  func prepareFile() throws -> FileIdentity {
    let folder = StoreFolder(atPath: path, driver: driverName)
    try folder.prepare(mayMake: !options.isReadOnly)
    return try folder.identity(of: "data.mdb", mayMake: !options.isReadOnly)
  }

  /// Opens the environment. No other of this process may be open on the same file.
  func open() throws -> LMDBConnection {
    StandardStreams.takeClosedPlaces()
    for _ in 0..<Self.attempts {
      if let environment = try attempt() { return LMDBConnection(environment, path: path) }
      usleep(1000)
    }
    throw StorageError(
      .busy, during: .open, driver: driverName, isRetryable: true,
      message: "Other processes open and close the store at \(path) all the time. Try again.")
  }

  /// One try; nil where another process came in between, and it has to be tried again.
  private func attempt() throws -> OpenedEnvironment? {
    let file = LMDBDataFile(path: dataPath, lockPath: lockPath, folder: path)
    switch try file.inspect() {
    case .empty where options.isReadOnly:
      throw StorageError.notAStorage(path, "its data.mdb is empty")
    case .empty, .whole: break
    case .unfinished:
      if options.isReadOnly { throw StorageError.notAStorage(path, "its creation was interrupted") }
      try file.restartCreation()
      return nil
    }
    try reserveLockFile()
    let (env, isReadOnly) = try openEnvironment()
    do {
      // LMDB does not close this one of its files when the process starts another program.
      var descriptor: mdb_filehandle_t = -1
      if mdb_env_get_fd(env, &descriptor) == MDB_SUCCESS { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
      try file.checkLastPage(env)
      mdb_reader_check(env, nil)
      if let dbi = try openContent(env, file) {
        return OpenedEnvironment(env: env, dbi: dbi, isReadOnly: isReadOnly)
      }
    } catch {
      mdb_env_close(env)
      throw error
    }
    mdb_env_close(env)
    return nil
  }

  private func openEnvironment() throws -> (env: OpaquePointer, isReadOnly: Bool) {
    var mapByteCount = options.mapByteCount ?? LMDBStorage.Options.defaultMapByteCount
    mapByteCount = max(mapByteCount, LMDBStorage.Options.minimumMapByteCount)
    // LMDB would write the size into the store before it finds out that it cannot map so much.
    if mapByteCount > LMDBStorage.Options.maximumMapByteCount { throw failure(ENOMEM) }
    // LMDB wants whole pages. Pages have up to 64 KiB on the systems it runs on.
    mapByteCount = (mapByteCount + 0xFFFF) & ~0xFFFF
    // A storage that only reads takes an environment for writing where it may, so that another storage of
    // this process can write through it.
    var isReadOnly = false
    while true {
      var env: OpaquePointer?
      var code = mdb_env_create(&env)
      guard code == MDB_SUCCESS, let env else { throw failure(code) }
      mdb_env_set_maxdbs(env, 1)
      mdb_env_set_maxreaders(env, UInt32(options.readerCount))
      mdb_env_set_mapsize(env, mapByteCount)
      let flags = MDB_NOTLS | (isReadOnly ? MDB_RDONLY : 0)
      code = mdb_env_open(env, path, UInt32(flags), Self.fileMode)
      if code == MDB_SUCCESS { return (env, isReadOnly) }
      mdb_env_close(env)
      switch code {
      case ENOMEM where options.mapByteCount == nil && mapByteCount > 1 << 30:
        mapByteCount /= 2
      case EACCES where options.isReadOnly && !isReadOnly, EROFS where options.isReadOnly && !isReadOnly,
        EPERM where options.isReadOnly && !isReadOnly:
        isReadOnly = true
      default:
        throw failure(code)
      }
    }
  }

  /// The handle of the content, which is created where the environment is new; nil where it has to be tried again.
  private func openContent(_ env: OpaquePointer, _ file: LMDBDataFile) throws -> MDB_dbi? {
    var txn: OpaquePointer?
    let code = mdb_txn_begin(env, nil, UInt32(MDB_RDONLY), &txn)
    // Either another process closed the store in the same moment, as its last user, and destroyed the locks that this one had
    // just found in the lock file: later versions of LMDB leave a gap there. Or another process has made the store grow since.
    if code == EINVAL || code == MDB_MAP_RESIZED { return nil }
    guard code == MDB_SUCCESS, let txn else { throw failure(code) }
    var isOpen = true
    defer { if isOpen { mdb_txn_abort(txn) } }

    // Has to come before any page is looked at.
    if try !file.checkLength(env, txn) { return nil }
    if try hasMarker(txn) {
      var dbi: MDB_dbi = 0
      let code = mdb_dbi_open(txn, Self.contentName, 0, &dbi)
      if code != MDB_SUCCESS { throw failure(code == MDB_NOTFOUND ? MDB_CORRUPTED : code) }
      isOpen = false
      let committed = mdb_txn_commit(txn)
      if committed != MDB_SUCCESS { throw failure(committed) }
      return dbi
    }
    mdb_txn_abort(txn)
    isOpen = false
    if options.isReadOnly { throw StorageError.notAStorage(path, "it is an empty LMDB store") }
    try create(env)
    return nil
  }

  /// Writes the marker and creates the content, unless another process did in the meantime.
  private func create(_ env: OpaquePointer) throws {
    var txn: OpaquePointer?
    var code = mdb_txn_begin(env, nil, 0, &txn)
    guard code == MDB_SUCCESS, let txn else { throw failure(code) }
    do {
      if try hasMarker(txn) { return mdb_txn_abort(txn) }
      // The two first pages, which LMDB wrote without waiting for the disk: where they are missing after a loss of power, there
      // is nothing behind them, and the store can be begun anew.
      code = mdb_env_sync(env, 1)
      if code != MDB_SUCCESS { throw failure(code) }
      var main: MDB_dbi = 0
      var content: MDB_dbi = 0
      code = mdb_dbi_open(txn, nil, 0, &main)
      if code == MDB_SUCCESS { code = mdb_dbi_open(txn, Self.contentName, UInt32(MDB_CREATE), &content) }
      if code == MDB_SUCCESS { code = putMarker(txn, main) }
      if code != MDB_SUCCESS { throw failure(code) }
    } catch {
      mdb_txn_abort(txn)
      throw error
    }
    code = mdb_txn_commit(txn)
    if code != MDB_SUCCESS { throw failure(code) }
    StoreFolder(atPath: path, driver: driverName).sync()
  }

  /// Whether the store has our marker; throws where it belongs to another program or is of a newer format.
  private func hasMarker(_ txn: OpaquePointer) throws -> Bool {
    var main: MDB_dbi = 0
    var code = mdb_dbi_open(txn, nil, 0, &main)
    if code != MDB_SUCCESS { throw failure(code) }
    var marker = MDB_val()
    code = Self.markerKey.withUnsafeBytes { bytes in
      var key = MDB_val(bytes)
      return mdb_get(txn, main, &key, &marker)
    }
    if code == MDB_NOTFOUND {
      var statistics = MDB_stat()
      code = mdb_stat(txn, main, &statistics)
      if code != MDB_SUCCESS { throw failure(code) }
      if statistics.ms_entries == 0 { return false }
      throw StorageError.notAStorage(path, "it holds an LMDB store of another program")
    }
    if code != MDB_SUCCESS { throw failure(code) }
    let magic = Self.markerMagic
    guard marker.mv_size >= magic.count + 4, marker.bytes.prefix(magic.count).elementsEqual(magic) else {
      throw StorageError.notAStorage(path, "it holds an LMDB store of another program")
    }
    let version = UInt32(
      littleEndian: marker.bytes.loadUnaligned(fromByteOffset: magic.count, as: UInt32.self))
    if version > Self.formatVersion {
      throw StorageError(
        .newerFormat, during: .open, driver: driverName,
        message: """
          The store at \(path) has format \(version), and this version of the library reads formats up to \
          \(Self.formatVersion). Use a newer version.
          """)
    }
    return true
  }

  private func putMarker(_ txn: OpaquePointer, _ main: MDB_dbi) -> Int32 {
    var marker = Self.markerMagic
    withUnsafeBytes(of: Self.formatVersion.littleEndian) { marker.append(contentsOf: $0) }
    return Self.markerKey.withUnsafeBytes { key in
      marker.withUnsafeBytes { marker in
        var key = MDB_val(key)
        var marker = MDB_val(marker)
        return mdb_put(txn, main, &key, &marker, 0)
      }
    }
  }

  /// Gives the lock file its room on the disk.
  ///
  /// LMDB leaves a hole there and writes to it through memory, which on a full disk ends the process with
  /// SIGBUS instead of an error. The file's length is left alone: LMDB takes the number of readers from it.
  private func reserveLockFile() throws {
    #if os(Linux)
      if options.isReadOnly { return }
      let file = openFile(lockPath, O_RDWR | O_CREAT | O_CLOEXEC, Self.fileMode)
      if file < 0 { throw failure(errno) }
      defer { closeFile(file) }
      var status = stat()
      if fstat(file, &status) != 0 { throw failure(errno) }
      // 64 bytes for each reader, and a header.
      let wanted = off_t(options.readerCount) * 64 + 1024
      let keepSize: Int32 = 1
      if fallocate(file, keepSize, 0, max(wanted, status.st_size)) != 0
        && (errno == ENOSPC || errno == EDQUOT)
      {
        throw failure(errno)
      }
    #endif
  }

  private func failure(_ code: Int32) -> StorageError { StorageError.lmdb(code, during: .open, path: path) }
}
