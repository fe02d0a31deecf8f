import CSQLite
import Foundation
import GarageDriver
import GarageSQLite
import Testing

/// A folder that is deleted with its owner.
final class TemporaryFolder: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "garage-sqlite-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  func file(_ name: String = "store.garage") -> URL { url.appending(path: name) }

  func size(_ name: String) -> Int {
    let attributes = try? FileManager.default.attributesOfItem(atPath: file(name).path)
    return (attributes?[.size] as? Int) ?? 0
  }
}

/// SQLite without the driver, for databases that are not stores and for locks from outside.
final class RawDatabase {
  private var handle: OpaquePointer?

  struct Failure: Error { var code: Int32, text: String }

  init(_ url: URL) throws {
    let code = sqlite3_open(url.path, &handle)
    if code != SQLITE_OK { throw Failure(code: code, text: "open") }
  }

  deinit { sqlite3_close_v2(handle) }

  /// Runs SQL and returns the first column of its last row.
  @discardableResult
  func run(_ sql: String) throws -> String? {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else { throw failure }
    defer { sqlite3_finalize(statement) }
    var result: String?
    while true {
      switch sqlite3_step(statement) {
      case SQLITE_ROW: result = sqlite3_column_text(statement, 0).map { String(cString: $0) }
      case SQLITE_DONE: return result
      default: throw failure
      }
    }
  }

  private var failure: Failure {
    Failure(code: sqlite3_extended_errcode(handle), text: String(cString: sqlite3_errmsg(handle)))
  }
}

func key(_ text: String) -> StorageKey { StorageKey(Array(text.utf8)) }

func key(_ number: Int) -> StorageKey {
  StorageKey((0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) })
}

extension SQLiteStorage {
  func put(_ value: [UInt8], _ text: String) throws {
    try write { transaction in
      try transaction.put(value, for: key(text))
      return .commit(())
    }
  }

  func value(_ text: String) throws -> [UInt8]? {
    try read { try $0.value(for: key(text)) }
  }

  func count() throws -> Int {
    try read { transaction in
      var count = 0
      try transaction.scan(.all, .forward) { _, _ in
        count += 1
        return .continue
      }
      return count
    }
  }
}

/// Expects that `body` throws a `StorageError` of one kind, and returns it.
@discardableResult
func expectError(
  _ kind: StorageError.Kind, _ location: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) throws -> StorageError {
  var caught: StorageError?
  do { try body() } catch let error as StorageError { caught = error }
  let error = try #require(caught, "nothing was thrown", sourceLocation: location)
  #expect(error.kind == kind, "\(error)", sourceLocation: location)
  return error
}

/// Runs `body` with the rights of an ordinary user on files. Permissions do not bind root: on Linux the
/// calling thread, and only that, gives them up meanwhile.
func asOrdinaryUser(_ body: () throws -> Void) throws {
  #if os(Linux)
    if geteuid() == 0 {
      _ = setFileSystemUser(65534)
      defer { _ = setFileSystemUser(0) }
      return try body()
    }
  #endif
  if geteuid() != 0 { try body() }
}

#if os(Linux)
  // In <sys/fsuid.h>, which the Glibc module leaves out.
  @_silgen_name("setfsuid") private func setFileSystemUser(_ user: UInt32) -> Int32
#endif
