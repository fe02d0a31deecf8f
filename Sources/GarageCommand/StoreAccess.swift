#if Command
  import ArgumentParser
  import Foundation
  import GarageDriver
  import GarageStorage

  /// How stores are opened: with a key where they are sealed.
  struct StoreAccess: ParsableArguments {
    @Option(
      help: ArgumentHelp(
        "The key of a sealed store.",
        discussion: """
          A file with 16, 24 or 32 bytes, or these in hexadecimal or Base64. Without it, the environment's GARAGE_KEY is \
          looked at, which has the key in hexadecimal or Base64.
          """, valueName: "file"))
    var keyFile: String?

    /// Opens the store that is there.
    ///
    /// - Parameter usesKey: whether it is opened with the key, where one was given.
    /// - Throws: ``CommandFailure`` where there is none; nothing is made.
    func open(_ place: StorePlace, forWriting: Bool = false, usesKey: Bool = true) throws -> Garage {
      try opening(place) {
        let storage = try place.openStorage(forWriting: forWriting)
        return try Garage(usesKey ? unsealing(storage) : storage)
      }
    }

    /// Opens a store, or makes it where there is none.
    func openOrMake(_ place: StorePlace) throws -> Garage {
      try opening(place) { try Garage(unsealing(place.makeStorage())) }
    }

    /// A storage to copy to, which may be new. It is sealed where a key was given.
    func makeStorage(_ place: StorePlace) throws -> any StorageDriver {
      try opening(place) { try unsealing(place.makeStorage()) }
    }

    /// What the pages of a store are read by.
    func salvageSource(_ place: StorePlace) throws -> any SalvageSource {
      try opening(place) {
        let pages = try place.pages()
        guard let key = try key() else { return pages }
        return try SealingKey(key).pages(pages)
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
      return try SealingKey(key).storage(storage)
    }

    /// The bytes of the key; nil where none was given.
    private func key() throws -> Data? {
      if let keyFile {
        guard let content = FileManager.default.contents(atPath: keyFile) else {
          throw CommandFailure.opening("\(keyFile): there is no such file, or it may not be read.")
        }
        if let key = SealingKey.bytes(content) { return key }
        throw CommandFailure.opening("\(keyFile): this is no key. One has 16, 24 or 32 bytes.")
      }
      guard let text = ProcessInfo.processInfo.environment["GARAGE_KEY"], !text.isEmpty else { return nil }
      if let key = SealingKey.bytes(Data(text.utf8), isText: true) { return key }
      throw CommandFailure.opening(
        "GARAGE_KEY is no key. One has 16, 24 or 32 bytes, in hexadecimal or Base64.")
    }
  }
#endif
