#if Command
  import ArgumentParser
  import GarageStorage

  /// `garage gc STORE --roots TYPE TYPE:ID …`
  struct CollectGarbageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "gc", abstract: "List the objects that no root reaches, or with --write delete them.")

    @OptionGroup var access: StoreAccess
    @Argument(help: "The store.") var store: StorePlace
    @Option(
      parsing: .upToNextOption,
      help: ArgumentHelp(
        "What is in use: types, whole or what stands behind their last dots, and objects as TYPE:ID.",
        discussion: "Of a type alone, all objects are in use. An identifier is written as ls prints it."))
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
      if roots.isEmpty { throw ValidationError("Name what is in use: --roots TYPE TYPE:ID …") }
    }

    /// A type, or one of its objects.
    private func root(_ text: String, _ garage: Garage) throws -> GarageRoot {
      let names = try garage.storedTypeNames()
      let isType = names.contains { $0 == text || $0.hasSuffix("." + text) }
      guard !isType, let colon = text.firstIndex(of: ":") else {
        return .allNamed(try garage.typeName(matching: text))
      }
      let name = try garage.typeName(matching: String(text[..<colon]))
      let identifier = String(text[text.index(after: colon)...])
      guard let identity = try garage.identity(describedAs: identifier, ofTypeNamed: name) else {
        throw CommandFailure.missing(
          "There is no \(name) \"\(identifier)\". garage ls lists those there are.")
      }
      return .object(identity)
    }

    func run() throws {
      if try write && !store.complaintsBeforeOpening().isEmpty {
        throw CommandFailure.damagedPages(store.path)
      }
      let garage = try access.open(store, forWriting: write)
      defer { try? garage.close() }
      let roots = try roots.map { try root($0, garage) } + (ignoreKeys ? [] : [.keys])
      let line = ProgressLine("searching")
      var damages: [GarageError] = []
      let garbage = try garage.unreachable(
        from: roots, progress: { line.show($0.completedUnitCount, of: $0.totalUnitCount) }
      ) { damages.append($0) }
      let names = garbage.map { garage.listedName(of: $0) }
      let deleted =
        try write
        ? garage.collectGarbage(roots: roots) { line.show($0.completedUnitCount, of: $0.totalUnitCount) } : 0
      line.end()
      // They are not in use either, and have no name to be listed by.
      for damage in damages { Output.complain("\(damage)") }
      if json {
        return try Output.json(
          Garbage(
            objects: zip(names, garbage).map { Garbage.Entry(type: $0, id: "\($1.identifier)") },
            deleted: deleted))
      }
      for (name, identity) in zip(names, garbage) {
        Output.write("\(Output.quotedIfOdd(name)) \(identity.identifier.description.debugDescription)")
      }
      let found = garbage.count + damages.count
      let count = "\(found) object\(found == 1 ? "" : "s")"
      Output.write(write ? "\(deleted) deleted" : "\(count) not in use; --write deletes them")
    }
  }
#endif
