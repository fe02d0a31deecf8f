#if Command
  import ArgumentParser
  import Foundation
  import GarageDriver
  import GarageLMDB
  import GarageSQLite
  import GarageStorage

  /// Where a store is, and which driver it takes.
  struct StorePlace: ExpressibleByArgument {
    let path: String

    init?(argument: String) {
      if argument.isEmpty { return nil }
      path = argument
    }

    private enum Kind { case sqlite, lmdb }

    /// Opens the store that is there.
    ///
    /// - Throws: ``CommandFailure`` where there is none; nothing is made.
    func open(forWriting: Bool = false) throws -> Garage {
      do {
        return try Garage(openStorage(forWriting: forWriting))
      } catch let error as CommandFailure {
        throw error
      } catch { throw CommandFailure.opening("\(path): \(error)") }
    }

    private func openStorage(forWriting: Bool) throws -> any StorageDriver {
      let url = URL(filePath: path)
      switch try kind() {
      case .sqlite:
        var options = SQLiteStorage.Options()
        options.isReadOnly = !forWriting
        return try SQLiteStorage(at: url, options: options)
      case .lmdb:
        var options = LMDBStorage.Options()
        options.isReadOnly = !forWriting
        return try LMDBStorage(at: url, options: options)
      }
    }

    private func kind() throws -> Kind {
      if path.contains("://") {
        throw CommandFailure.opening(
          "\(path): stores behind a URL cannot be opened by this version. Give a path.")
      }
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
        throw CommandFailure.opening("\(path): there is no such file or folder. Give the path of a store.")
      }
      if !isFolder.boolValue { return .sqlite }
      guard FileManager.default.fileExists(atPath: path + "/data.mdb") else {
        throw CommandFailure.opening(
          "\(path): this folder holds no LMDB store, which would have a file data.mdb in it. Give the path of a store."
        )
      }
      return .lmdb
    }

    /// Opens a storage to copy to, which may be new: an LMDB folder where the path is one or ends in a slash, an SQLite file
    /// otherwise.
    func makeStorage() throws -> any StorageDriver {
      var isFolder: ObjCBool = false
      let exists = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
      do {
        let isLMDB = exists ? isFolder.boolValue : path.hasSuffix("/") || path.hasSuffix(".lmdb")
        if isLMDB { return try LMDBStorage(at: URL(filePath: path, directoryHint: .isDirectory)) }
        return try SQLiteStorage(at: URL(filePath: path))
      } catch { throw CommandFailure.opening("\(path): \(error)") }
    }
  }
#endif
