#if Command
  import ArgumentParser
  import GarageStorage

  /// `garage get STORE TYPE ID`
  struct GetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "get", abstract: "Show one object, and to a depth what it refers to.")

    @OptionGroup var access: StoreAccess
    @Argument(help: "The store.") var store: StorePlace
    @Argument(help: "The type, whole or what stands behind its last dots.") var type: String
    @Argument(help: "The identifier, as ls prints it.") var identifier: String
    @Option(help: "How many references deep.") var depth = 0
    @Flag(help: "As JSON.") var json = false

    private struct Entry: Encodable {
      var type: String
      var id: String
      var modified: String
      var bytes: Int
      var syncStatus: String?
      var version: Int?
      var value: JSONValue
    }

    func run() throws {
      let garage = try access.open(store)
      defer { try? garage.close() }
      let name = try garage.typeName(matching: type)
      try garage.read { reader in
        guard let found = try garage.identifier(describedAs: identifier, ofTypeNamed: name),
          let object = try reader.storedObject(ofTypeNamed: name, identifier: found)
        else {
          throw CommandFailure.missing(
            "There is no \(name) \"\(identifier)\". garage ls lists those there are.")
        }
        func typeName(_ identity: RecordIdentity) -> String {
          reader.listedName(of: identity)
        }
        if json { return try Output.json(try entries(of: object, reader, typeName)) }
        for line in try lines(of: object, depth, [], reader, typeName) { Output.write(line) }
      }
    }

    private func entry(_ object: StoredObject, _ typeName: (RecordIdentity) -> String) -> Entry {
      Entry(
        type: object.type, id: "\(object.identifier)", modified: JSONValue.text(of: object.modificationDate),
        bytes: object.byteCount, syncStatus: object.syncStatus.map { "\($0)" },
        version: object.typeVersion == 0 ? nil : object.typeVersion,
        value: JSONValue(object.value, typeName: typeName))
    }

    /// The object, and behind it those that it reaches within the depth, each once, the nearest first.
    private func entries(
      of root: StoredObject, _ reader: some GarageReading, _ typeName: (RecordIdentity) -> String
    ) throws -> [Entry] {
      var entries = [entry(root, typeName)]
      var seen: Set<RecordIdentity> = []
      var level = [root]
      for _ in 0..<max(0, depth) {
        var next: [StoredObject] = []
        for identity in level.flatMap({ $0.value.references }) where seen.insert(identity).inserted {
          // The root may be met again, under the tag that a reference has for it.
          switch try reader.look(at: identity) {
          case .object(let object): if object != root { next.append(object) }
          case .nothing: break
          case .damaged(let error): Output.complain("\(error)")
          }
        }
        // All that it reaches is there, however deep one was to look.
        if next.isEmpty { break }
        entries += next.map { entry($0, typeName) }
        level = next
      }
      return entries
    }

    private func lines(
      of object: StoredObject, _ depth: Int, _ above: [RecordIdentity], _ reader: some GarageReading,
      _ typeName: @escaping (RecordIdentity) -> String
    ) throws -> [String] {
      var facts = ["parked \(JSONValue.text(of: object.modificationDate))", "\(object.byteCount) bytes"]
      if let status = object.syncStatus { facts.append("\(status)") }
      if object.typeVersion > 0 { facts.append("version \(object.typeVersion)") }
      let head = "\(Output.quotedIfOdd(object.type)) \(object.identifier.description.debugDescription)"
      let text = ValueText(typeName: typeName) { identity in
        // What stands above is not shown again: circles end.
        guard depth > 0, !above.contains(identity) else { return nil }
        switch try reader.look(at: identity) {
        case .object(let target):
          return try lines(of: target, depth - 1, above + [identity], reader, typeName)
        case .nothing: return nil
        case .damaged(let error): return [Output.quotedIfOdd("\(error)")]
        }
      }
      return try ["\(head)  (\(facts.joined(separator: ", ")))"]
        + text.lines(object.value).filter { !$0.isEmpty }
    }
  }
#endif
