import Foundation
import GarageDriver

/// A ``ReferenceStorage`` that was opened for reading only.
final class ReadOnlyStorage: StorageDriver {
  private let base: ReferenceStorage
  private let mutation: Mutation?

  /// Opens the store at `path`, which has to be there.
  init(path: String, breaking mutation: Mutation? = nil) throws {
    self.mutation = mutation
    if !FileManager.default.fileExists(atPath: path) {
      if mutation != .readOnlyMakesAStore {
        throw StorageError(
          .notFound, during: .open, driver: "Reference",
          message: "\(path): There is no store. Open it for writing to make one.")
      }
      try Data(count: 16).write(to: URL(fileURLWithPath: path))
    }
    base = try ReferenceStorage(path: path)
  }

  var info: StorageInfo {
    var info = base.info
    info.isReadOnly = true
    return info
  }

  func read<R>(_ body: (any ReadTransaction) throws -> R) throws -> R { try base.read(body) }

  func write<R>(_ body: (any WriteTransaction) throws -> TransactionOutcome<R>) throws -> R {
    if mutation == .readOnlyAfterTheBody {
      try base.write { transaction in
        _ = try body(transaction)
        return .rollBack(())
      }
    }
    throw StorageError(
      .readOnly, during: .write, driver: "Reference",
      message: "The store was opened for reading only. Open it for writing.")
  }

  func close() throws { try base.close() }
}
