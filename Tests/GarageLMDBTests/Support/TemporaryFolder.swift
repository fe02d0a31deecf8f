import Foundation

/// A folder that is gone after `body`.
@discardableResult
func withTemporaryFolder<R>(_ body: (URL) throws -> R) throws -> R {
  let folder = FileManager.default.temporaryDirectory.appending(path: "garage-lmdb-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  return try body(folder)
}

/// The same for bodies that wait for other processes.
@discardableResult
func withTemporaryFolder<R>(_ body: (URL) async throws -> R) async throws -> R {
  let folder = FileManager.default.temporaryDirectory.appending(path: "garage-lmdb-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  do {
    let result = try await body(folder)
    try? FileManager.default.removeItem(at: folder)
    return result
  } catch {
    try? FileManager.default.removeItem(at: folder)
    throw error
  }
}
