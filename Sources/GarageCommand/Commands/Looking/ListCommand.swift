#if Command
  import ArgumentParser
  import GarageStorage

  /// `garage ls STORE [TYPE]`
  struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "ls",
      abstract: "List the types in a store with their objects, or the identifiers of one type.")

    @OptionGroup var access: StoreAccess
    @Argument(help: "The store.") var store: StorePlace
    @Argument(help: "A type, whole or what stands behind its last dots.") var type: String?
    @Option(help: "How many identifiers at most.") var limit = 50
    @Option(help: "The last identifier of the page before.") var after: String?
    @Flag(help: "As JSON.") var json = false

    private struct Types: Encodable {
      struct Entry: Encodable {
        var type: String
        var objects: Int
        var bytes: Int
      }
      var types: [Entry]
      var keys: Int
    }

    private struct Page: Encodable {
      var type: String
      var identifiers: [String]
      /// The argument of `--after` for the next page; nil if this is the last one.
      var next: String?
    }

    func validate() throws {
      if limit < 1 { throw ValidationError("--limit has to be 1 at least.") }
    }

    func run() throws {
      let garage = try access.open(store)
      defer { try? garage.close() }
      if let type { try listObjects(garage, garage.typeName(matching: type)) } else { try listTypes(garage) }
    }

    private func listTypes(_ garage: Garage) throws {
      let types = try garage.storedTypes()
      let keyCount = try garage.storedKeyCount()
      if json {
        return try Output.json(
          Types(
            types: types.map { Types.Entry(type: $0.name, objects: $0.objectCount, bytes: $0.byteCount) },
            keys: keyCount))
      }
      Output.table(
        [["objects", "bytes", "type"]]
          + types.map { ["\($0.objectCount)", "\($0.byteCount)", Output.quotedIfOdd($0.name)] })
      if keyCount > 0 { Output.write("\(keyCount) typed key\(keyCount == 1 ? "" : "s"): garage keys") }
    }

    private func listObjects(_ garage: Garage, _ type: String) throws {
      let last = try after.map { text in
        guard let identifier = try garage.identifier(describedAs: text, ofTypeNamed: type) else {
          throw CommandFailure.missing("There is no \(type) \"\(text)\" to begin behind.")
        }
        return identifier
      }
      // One more than the limit, to know whether there is another page.
      var damage = DamageNotes()
      let found = try garage.identifiers(ofTypeNamed: type, after: last, limit: max(limit, limit &+ 1)) {
        damage.note($0)
      }
      let page = found.prefix(limit).map(\.description)
      let next = found.count > limit ? page.last : nil
      if json {
        try Output.json(Page(type: type, identifiers: page, next: next))
        return try damage.end()
      }
      for identifier in page { Output.write(Output.quotedIfOdd(identifier)) }
      if let next { Output.complain("there are more: --after \(next.debugDescription)") }
      try damage.end()
    }
  }
#endif
