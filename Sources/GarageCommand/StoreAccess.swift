#if Command
  import ArgumentParser
  import Foundation
  import GarageDriver
  import GarageSealing
  import GarageStorage

  /// Opens stores: with a key if they are sealed.
  struct StoreAccess: ParsableArguments {
    @Option(
      help: ArgumentHelp(
        "The key of a sealed store.",
        discussion: """
          A file with 16, 24 or 32 bytes, or these in hexadecimal or Base64. Without it, the environment's GARAGE_KEY is \
          looked at, which has the key in hexadecimal or Base64.
          """, valueName: "file"))
    var keyFile: String?

    /// Opens an existing store.
    ///
    /// - Parameter usesKey: whether the store is opened with the key, if one was given.
    /// - Throws: ``CommandFailure`` if there is no store; none is made.
    func open(_ place: StorePlace, forWriting: Bool = false, usesKey: Bool = true) throws -> Garage {
      try opening(place) {
        func opened(_ storage: any StorageDriver) throws -> any StorageDriver {
          usesKey ? try unsealing(storage) : storage
        }
        if forWriting { try expectGarage(place, opened) }
        return try Garage(opened(place.openStorage(forWriting: forWriting)))
      }
    }

    /// Checks, opened for reading only, that there is a garage. Opened for writing, an empty file would become one.
    private func expectGarage(
      _ place: StorePlace, _ unsealing: (any StorageDriver) throws -> any StorageDriver
    ) throws {
      try Garage(unsealing(place.openStorage(forWriting: false))).close()
    }

    /// Opens a store, or makes it if there is none.
    func openOrMake(_ place: StorePlace) throws -> Garage {
      try opening(place) { try Garage(sealing(place)) }
    }

    /// A storage to copy to, which may be new. It is sealed if a key was given.
    func makeStorage(_ place: StorePlace) throws -> any StorageDriver {
      try opening(place) { try sealing(place) }
    }

    /// Reads the pages of a damaged store.
    func salvageSource(_ place: StorePlace) throws -> any SalvageSource {
      try opening(place) {
        let pages = try place.pages()
        guard let key = try key() else { return pages }
        return try key.pages(pages)
      }
    }

    private func opening<R>(_ place: StorePlace, _ body: () throws -> R) throws -> R {
      do { return try body() } catch let error as CommandFailure {
        throw error
      } catch GarageError.sealed {
        throw CommandFailure.opening(
          "\(place.path): the store is sealed. Give its key: --key-file FILE, or GARAGE_KEY.")
      } catch { throw CommandFailure.opening("\(place.path): \(error)") }
    }

    private func unsealing(_ storage: any StorageDriver) throws -> any StorageDriver {
      guard let key = try key() else { return storage }
      return try key.storage(storage)
    }

    /// Opens or makes a storage; a new one gets the seal.
    private func sealing(_ place: StorePlace) throws -> any StorageDriver {
      guard let key = try key() else { return try place.makeStorage() }
      if key.isAmbiguous && !place.isThere { throw ambiguous(keyFile) }
      let storage = try place.makeStorage()
      if key.isAmbiguous, try isEmpty(storage) {
        try? storage.close()
        throw ambiguous(keyFile)
      }
      return try key.storage(storage)
    }

    private func isEmpty(_ storage: any StorageDriver) throws -> Bool {
      var isEmpty = true
      try storage.read { transaction in
        try transaction.scanKeys(.all, .forward) { _ in
          isEmpty = false
          return .stop
        }
      }
      return isEmpty
    }

    private func ambiguous(_ file: String?) -> CommandFailure {
      CommandFailure(
        message: """
          \(file ?? "The key"): this is a key as it is, and another one in hexadecimal or Base64. It opens stores that were \
          sealed with either, and seals no new one. With a line feed behind it, it is the latter only; make another one: \
          head -c 32 /dev/urandom > new.key
          """, status: CommandFailure.usageStatus)
    }

    /// - Throws: ``CommandFailure`` if no key was given, which `option` requires.
    func expectKey(for option: String) throws {
      if try key() != nil { return }
      throw CommandFailure(
        message: "\(option) takes a key: --key-file FILE, or GARAGE_KEY.", status: CommandFailure.usageStatus)
    }

    /// Opens a sealed store to change its key.
    ///
    /// - Throws: ``CommandFailure`` if one of the two keys is missing.
    func openForRekeying(_ place: StorePlace, newKeyFile: String?) throws -> SealedStorage {
      guard let old = try key() else {
        throw CommandFailure.opening(
          "\(place.path): the key that the store is sealed with is missing: --key-file FILE, or GARAGE_KEY.")
      }
      guard let new = try Self.key(file: newKeyFile, variable: "GARAGE_NEW_KEY") else {
        throw CommandFailure.opening(
          "\(place.path): the new key is missing: --new-key-file FILE, or GARAGE_NEW_KEY.")
      }
      if new.isAmbiguous { throw ambiguous(newKeyFile) }
      if new == old {
        throw CommandFailure(
          message: "Both keys are the same. Make another one: head -c 32 /dev/urandom > new.key",
          status: CommandFailure.usageStatus)
      }
      return try opening(place) {
        func unsealing(_ storage: any StorageDriver) throws -> SealedStorage {
          try old.rekeyingStorage(storage, to: new)
        }
        try expectGarage(place, unsealing)
        return try unsealing(place.openStorage(forWriting: true))
      }
    }

    /// The key; nil if none was given.
    private func key() throws -> SealingKey? { try Self.key(file: keyFile, variable: "GARAGE_KEY") }

    private static func key(file: String?, variable: String) throws -> SealingKey? {
      if let file {
        guard let content = FileManager.default.contents(atPath: file) else {
          throw CommandFailure.opening("\(file): there is no such file, or it may not be read.")
        }
        if let key = SealingKey(content) { return key }
        throw CommandFailure.opening("\(file): this is no key. One has 16, 24 or 32 bytes.")
      }
      guard let text = ProcessInfo.processInfo.environment[variable], !text.isEmpty else { return nil }
      if let key = SealingKey(Data(text.utf8), isText: true) { return key }
      throw CommandFailure.opening(
        "\(variable) is no key. One has 16, 24 or 32 bytes, in hexadecimal or Base64.")
    }
  }
#endif
