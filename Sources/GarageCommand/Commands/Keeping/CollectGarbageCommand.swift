#if Command
  import ArgumentParser
  import GarageStorage

  /// `garage gc STORE --roots TYPE …`
  struct CollectGarbageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "gc", abstract: "List the objects that no root reaches, or with --write delete them.")

    @OptionGroup var access: StoreAccess
    @Argument(help: "The store.") var store: StorePlace
    @Option(
      parsing: .upToNextOption,
      help: "Types, whole or what stands behind their last dots, all of whose objects are in use.")
    var roots: [String] = []
    @Flag(help: "What typed keys refer to is not in use by that.") var ignoreKeys = false
    @Flag(help: "Delete them.") var write = false
    @Flag(help: "As JSON.") var json = false

    private struct Garbage: Encodable {
      struct Entry: Encodable {
        var type: String
        var id: String
      }
      var objects: [Entry]
      var deleted: Int
    }

    func validate() throws {
      if roots.isEmpty { throw ValidationError("Name the types that are in use: --roots TYPE …") }
    }

    func run() throws {
      if try write && !store.complaintsBeforeOpening().isEmpty {
        throw CommandFailure.damagedPages(store.path)
      }
      let garage = try access.open(store, forWriting: write)
      defer { try? garage.close() }
      let roots =
        try roots.map { GarageRoot.allNamed(try garage.typeName(matching: $0)) } + (ignoreKeys ? [] : [.keys])
      let line = ProgressLine("searching")
      let garbage = try garage.unreachable(from: roots) {
        line.show($0.completedUnitCount, of: $0.totalUnitCount)
      }
      let names = try garbage.map { try garage.typeName(of: $0) ?? "an unnamed type" }
      let deleted =
        try write
        ? garage.collectGarbage(roots: roots) { line.show($0.completedUnitCount, of: $0.totalUnitCount) } : 0
      line.end()
      if json {
        return try Output.json(
          Garbage(
            objects: zip(names, garbage).map { Garbage.Entry(type: $0, id: "\($1.identifier)") },
            deleted: deleted))
      }
      for (name, identity) in zip(names, garbage) {
        Output.write("\(Output.quotedIfOdd(name)) \(identity.identifier.description.debugDescription)")
      }
      let count = "\(garbage.count) object\(garbage.count == 1 ? "" : "s")"
      Output.write(write ? "\(deleted) deleted" : "\(count) not in use; --write deletes them")
    }
  }
#endif
