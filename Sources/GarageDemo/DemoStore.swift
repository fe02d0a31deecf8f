import Foundation
import GarageDriver
import GarageLMDB
import GarageMemory
import GarageSQLite
import GarageStorage

#if PostgreSQL
  import GaragePostgres
#endif

extension Options.Driver {
  /// The driver's name for people.
  var title: String {
    switch self {
    case .sqlite: "SQLite"
    case .lmdb: "LMDB"
    case .memory: "memory"
    #if PostgreSQL
      case .postgresql: "PostgreSQL"
    #endif
    }
  }
}

/// The store that a run works on: its driver and its place.
struct DemoStore {
  let driver: Options.Driver
  /// Nil for a store in memory, or on a server.
  let location: URL?
  /// The connection URL of the server that the store is on.
  private let server: String?
  /// The folder to remove at the end, if the store is a temporary one.
  private let temporaryFolder: URL?
  /// A store in memory is this value. It keeps its content while no garage is open on it.
  private let memory: MemoryStorage

  /// Throws ``DemoError`` if a store that is to be reused does not exist.
  init(_ options: Options) throws {
    driver = options.driver
    memory = MemoryStorage()
    server = driver.isServer ? options.store : nil
    if driver == .memory || driver.isServer {
      (location, temporaryFolder) = (nil, nil)
    } else if let path = options.store {
      if options.reusesStore, access(path, F_OK) != 0 {
        throw DemoError.failed("There is no store to reuse at \(path): \(String(cString: strerror(errno))).")
      }
      (location, temporaryFolder) = (URL(fileURLWithPath: path), nil)
    } else {
      let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("garage-demo-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      (location, temporaryFolder) = (folder.appendingPathComponent("packages.garage"), folder)
    }
  }

  /// The place of the store, for people.
  var description: String {
    // A URL may contain a password.
    if server != nil { return "on the server" }
    guard let location else { return "in memory" }
    return temporaryFolder == nil ? "at \(location.path)" : "in a temporary folder"
  }

  /// Opens the store. A missing store is created, unless it is only to be read. If `isIndexed` is true, the store gets an index
  /// of references.
  ///
  /// Throws ``DemoError`` if a store of another driver is there.
  func open(readOnly: Bool = false, isIndexed: Bool = false) throws -> Garage {
    let referrers: ReferrerOption = isIndexed ? .indexed : .asStored
    #if PostgreSQL
      if let server { return try Garage(PostgreSQLStorage(server), referrers: referrers) }
    #endif
    guard let location else { return try Garage(memory, referrers: referrers) }
    if let other = driverOfStore(at: location.path), other != driver {
      throw DemoError.failed(
        "\(location.path) is kept by \(other.title), not by \(driver.title). Add --driver \(other.rawValue).")
    }
    if driver == .lmdb {
      return try Garage(
        LMDBStorage(at: location, options: LMDBStorage.Options(isReadOnly: readOnly)), referrers: referrers)
    }
    var options = SQLiteStorage.Options()
    options.isReadOnly = readOnly
    return try Garage(SQLiteStorage(at: location, options: options), referrers: referrers)
  }

  /// The driver of the store at `path`, as far as its files tell.
  private func driverOfStore(at path: String) -> Options.Driver? {
    if access(path + "/data.mdb", F_OK) == 0 { return .lmdb }
    // The first bytes of every SQLite database (https://sqlite.org/fileformat.html, 1.3).
    let mark = Data("SQLite format 3\0".utf8)
    let file = FileHandle(forReadingAtPath: path)
    let start = try? file?.read(upToCount: mark.count)
    return start == mark ? .sqlite : nil
  }

  /// The size of the store, in bytes. Call it while the store is closed.
  func byteCount() throws -> Int {
    #if PostgreSQL
      if let server { return try contentByteCount(PostgreSQLStorage(server)) }
    #endif
    guard let location else { return try contentByteCount(memory) }
    // LMDB keeps these two in a folder; SQLite adds these endings to the file's name.
    let endings = driver == .lmdb ? ["/data.mdb", "/lock.mdb"] : ["", "-wal", "-shm"]
    return endings.reduce(0) { $0 + size(of: URL(fileURLWithPath: location.path + $1)) }
  }

  private func size(of file: URL) -> Int {
    let attributes = try? FileManager.default.attributesOfItem(atPath: file.path)
    return (attributes?[.size] as? NSNumber)?.intValue ?? 0
  }

  /// The number of bytes of all keys and values.
  private func contentByteCount(_ storage: some StorageDriver) throws -> Int {
    try storage.read { transaction in
      var count = 0
      try transaction.scan(.all, .forward) { key, value in
        count += key.byteCount + value.byteCount
        return .continue
      }
      return count
    }
  }

  /// Removes the store, if it is a temporary one.
  func removeIfTemporary() {
    if let temporaryFolder { try? FileManager.default.removeItem(at: temporaryFolder) }
  }
}
