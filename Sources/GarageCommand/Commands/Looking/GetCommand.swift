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
        try write(object, reader, ValueText(typeName: typeName))
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

    /// An object that is being written out.
    private struct Level {
      var lines: ArraySlice<ValueText.Line>
      /// How far all of it is indented.
      var indentation: Int
      /// What led to it; nil of the first.
      var identity: RecordIdentity?
    }

    /// Writes the object, and behind each reference what it leads to, as deep as was asked for. Followed with a list, so that a long
    /// way needs no more stack than a short one.
    private func write(_ root: StoredObject, _ reader: some GarageReading, _ text: ValueText) throws {
      var levels = [Level(lines: lines(of: root, text), indentation: 0)]
      // What stands above is not shown again: circles end.
      var above: Set<RecordIdentity> = []
      while let level = levels.last {
        guard let line = levels[levels.count - 1].lines.popFirst() else {
          if let identity = level.identity { above.remove(identity) }
          levels.removeLast()
          continue
        }
        Output.write(line.text(behind: level.indentation))
        guard let identity = line.reference, levels.count <= depth, !above.contains(identity) else {
          continue
        }
        let indentation = level.indentation + line.indentation + 1
        switch try reader.look(at: identity) {
        case .object(let target):
          above.insert(identity)
          levels.append(
            Level(lines: lines(of: target, text), indentation: indentation, identity: identity))
        case .nothing: break
        case .damaged(let error):
          Output.write(ValueText.Line(text: Output.quotedIfOdd("\(error)")).text(behind: indentation))
        }
      }
    }

    private func lines(of object: StoredObject, _ text: ValueText) -> ArraySlice<ValueText.Line> {
      var facts = ["parked \(JSONValue.text(of: object.modificationDate))", "\(object.byteCount) bytes"]
      if let status = object.syncStatus { facts.append("\(status)") }
      if object.typeVersion > 0 { facts.append("version \(object.typeVersion)") }
      let head = "\(Output.quotedIfOdd(object.type)) \(object.identifier.description.debugDescription)"
      return [ValueText.Line(text: "\(head)  (\(facts.joined(separator: ", ")))")]
        + text.lines(object.value).filter { !$0.text.isEmpty }
    }
  }
#endif
