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

    enum Kind { case sqlite, lmdb }

    /// Opens the storage that is there; nothing is made.
    func openStorage(forWriting: Bool) throws -> any StorageDriver {
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

    /// What the pages of the store are read by, without its engine.
    func pages() throws -> any SalvageSource {
      let url = URL(filePath: path)
      return try kind() == .sqlite ? SQLitePages(at: url) : LMDBPages(at: url)
    }

    /// What is wrong with the pages of a store whose engine would not survive to say so.
    func complaintsBeforeOpening() throws -> [String] {
      try kind() == .lmdb ? LMDBStorage.integrityComplaints(at: URL(filePath: path)) : []
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

    /// How many bytes there are in a file, or in the files of a folder.
    static func byteCount(at path: String) -> Int {
      let files =
        (try? FileManager.default.contentsOfDirectory(atPath: path))?.map { path + "/" + $0 } ?? [path]
      return files.reduce(0) { sum, file in
        let size = try? FileManager.default.attributesOfItem(atPath: file)[.size] as? Int
        return sum + (size ?? 0)
      }
    }
  }
#endif
