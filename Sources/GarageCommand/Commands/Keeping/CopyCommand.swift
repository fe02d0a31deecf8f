#if Command
  import ArgumentParser
  import GarageDriver
  import GarageStorage

  /// `garage copy FROM TO`
  struct CopyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "copy", abstract: "Copy a store to another place, or to another driver, byte for byte.",
      discussion: """
        A destination that is a folder, or whose path ends in a slash or .lmdb, becomes an LMDB store, any other an SQLite \
        file. Where the command was ended early, the same command goes on.
        """)

    @OptionGroup var access: StoreAccess
    @Argument(help: "The store.") var from: StorePlace
    @Argument(help: "Where the copy is to be: a new file or folder.") var to: StorePlace
    @Flag(help: "Seal the copy of a plain store with the key, which does not open the store.") var seal =
      false
    @Flag(help: "Let the copy of a sealed store be a plain one.") var unseal = false
    @Flag(help: "As JSON.") var json = false

    private struct Copied: Encodable { var entries: Int }

    func validate() throws {
      if seal && unseal {
        throw ValidationError("Of --seal and --unseal there can be one: the copy is sealed or it is not.")
      }
    }

    func run() throws {
      if seal { try access.expectKey(for: "--seal") }
      let garage = try access.open(from, usesKey: !seal)
      defer { try? garage.close() }
      let destination = unseal ? try to.makeStorage() : try access.makeStorage(to)
      defer { try? destination.close() }
      let line = ProgressLine("copying")
      var count = 0
      try garage.copy(to: destination) {
        line.show($0.completedUnitCount, of: $0.totalUnitCount)
        count = $0.totalUnitCount
      }
      line.end()
      if json {
        try Output.json(Copied(entries: count))
      } else {
        Output.write("\(count) entries copied to \(to.path)")
      }
    }
  }
#endif
