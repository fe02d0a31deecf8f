#if Command
  import ArgumentParser
  import Foundation
  import GarageDriver
  import GarageLMDB
  import GarageSQLite
  import GarageStorage

  #if PostgreSQL
    import GaragePostgres
  #endif

  /// The place of a store, which also tells its driver.
  struct StorePlace: ExpressibleByArgument {
    /// A path, or the URL of a database.
    private let text: String
    /// The same for people: a URL is shown without its password.
    var path: String { isURL ? Self.withoutPassword(text) : text }

    init?(argument: String) {
      if argument.isEmpty { return nil }
      text = argument
    }

    /// Files and folders are offered as completions.
    static var defaultCompletionKind: CompletionKind { .file() }

    enum Kind { case sqlite, lmdb }

    /// Opens an existing storage; none is made.
    func openStorage(forWriting: Bool) throws -> any StorageDriver {
      if isURL { return try openServerStorage(forWriting: forWriting, isToBeMade: false) }
      let url = URL(filePath: path)
      let kind = try kind()
      EngineCrash.explain(for: path)
      switch kind {
      case .sqlite:
        var options = SQLiteStorage.Options()
        options.isReadOnly = !forWriting
        // Most commands read each page once, and should use little memory.
        options.memoryMapByteCount = 0
        options.cacheByteCount = 16 << 20
        return try SQLiteStorage(at: url, options: options)
      case .lmdb:
        var options = LMDBStorage.Options()
        options.isReadOnly = !forWriting
        return try LMDBStorage(at: url, options: options)
      }
    }

    /// Reads the pages of the store without its engine.
    func pages() throws -> any SalvageSource {
      let url = URL(filePath: path)
      return try kind() == .sqlite ? SQLitePages(at: url) : LMDBPages(at: url)
    }

    /// The damage of pages in a store whose engine would not survive reading them.
    func complaintsBeforeOpening() throws -> [String] {
      try !isURL && kind() == .lmdb ? LMDBStorage.integrityComplaints(at: URL(filePath: path)) : []
    }

    private func kind() throws -> Kind {
      if isURL {
        throw CommandFailure.opening(
          "\(path): this works on the files of a store, and this one is on a server. Give a path; 'garage copy' brings it there."
        )
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

    /// Opens a storage to copy to, which may be new. It is an LMDB folder if the path is a folder or ends in a slash, and
    /// otherwise an SQLite file.
    func makeStorage() throws -> any StorageDriver {
      if isURL { return try openServerStorage(forWriting: true, isToBeMade: true) }
      var isFolder: ObjCBool = false
      let exists = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
      do {
        EngineCrash.explain(for: path)
        let isLMDB = exists ? isFolder.boolValue : path.hasSuffix("/") || path.hasSuffix(".lmdb")
        if isLMDB { return try LMDBStorage(at: URL(filePath: path, directoryHint: .isDirectory)) }
        return try SQLiteStorage(at: URL(filePath: path))
      } catch { throw CommandFailure.opening("\(path): \(error)") }
    }

    /// Whether a file or folder exists there. For a store on a server that is not known, and it counts as existing.
    var isThere: Bool { isURL || FileManager.default.fileExists(atPath: path) }

    /// Whether both are the same file or folder, under any of its names.
    func isSame(as other: StorePlace) -> Bool {
      func number(_ place: StorePlace) -> [Int]? {
        guard let facts = try? FileManager.default.attributesOfItem(atPath: place.resolvedPath) else {
          return nil
        }
        return [facts[.systemNumber], facts[.systemFileNumber]].compactMap { ($0 as? NSNumber)?.intValue }
      }
      guard !isURL, !other.isURL, let own = number(self) else { return text == other.text }
      return own.count == 2 && own == number(other)
    }

    private var resolvedPath: String { URL(filePath: path).resolvingSymlinksInPath().path }

    /// Removes a store that was just made, and closed.
    func removeFiles() {
      if isURL { return }
      for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) }
    }

    /// The number of bytes in a file, or in the files of a folder.
    static func byteCount(at path: String) -> Int {
      let files =
        (try? FileManager.default.contentsOfDirectory(atPath: path))?.map { path + "/" + $0 } ?? [path]
      return files.reduce(0) { sum, file in
        let size = try? FileManager.default.attributesOfItem(atPath: file)[.size] as? Int
        return sum + (size ?? 0)
      }
    }
  }

  // MARK: - On a server

  extension StorePlace {
    private var isURL: Bool { text.contains("://") }

    private static func withoutPassword(_ url: String) -> String {
      url.replacing(/(:\/\/[^:@\/]*):[^@\/]*@/) { "\($0.1):***@" }
        .replacing(/([?&][a-z_]*(?:password|secret)=)[^&#]*/) { "\($0.1)***" }
    }

    /// Opens a store in a PostgreSQL database: the store that the URL's fragment names, or else `garage`.
    private func openServerStorage(forWriting: Bool, isToBeMade: Bool) throws -> any StorageDriver {
      guard text.hasPrefix("postgresql://") || text.hasPrefix("postgres://") else {
        throw CommandFailure.opening(
          "\(path): of stores behind a URL only those in PostgreSQL are known: postgresql://user@host/database."
        )
      }
      #if PostgreSQL
        let parts = text.split(separator: "#", maxSplits: 1)
        var options = PostgreSQLStorage.Options()
        if parts.count == 2 { options.name = parts[1].removingPercentEncoding ?? String(parts[1]) }
        if !isToBeMade {
          // This never makes a store: a command that writes looks first.
          options.isReadOnly = true
          let looking = try PostgreSQLStorage(String(parts[0]), options: options)
          if !forWriting { return looking }
          try looking.close()
          options.isReadOnly = false
        }
        return try PostgreSQLStorage(String(parts[0]), options: options)
      #else
        throw CommandFailure.opening(
          """
          \(path): this command was built without PostgreSQL. Install libpq with its headers (Debian: libpq-dev) and \
          build it again with 'make garage TRAITS=Command,Crypto,PostgreSQL'.
          """)
      #endif
    }
  }
#endif
