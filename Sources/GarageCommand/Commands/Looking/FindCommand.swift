#if Command
  import ArgumentParser
  import GarageStorage

  /// `garage find STORE TYPE CONDITION`
  struct FindCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "find", abstract: "List the objects of a type whose stored fields are as asked for.",
      discussion: """
        For instance: garage find todo.garage Task 'due >= "2026-11-24" and not (title contains "water")'. Operators: = != < \
        <= > >= starts with, ends with, contains, is nil, is not nil; and, or, not, brackets. Reads all objects of the type.
        """)

    @OptionGroup var access: StoreAccess
    @Argument(help: "The store.") var store: StorePlace
    @Argument(help: "The type, whole or what stands behind its last dots.") var type: String
    @Argument(help: "The condition.") var condition: String
    @Option(help: "How many objects at most.") var limit = 50
    @Flag(help: "As JSON, with what the objects hold.") var json = false

    private struct Entry: Encodable {
      var type: String
      var id: String
      var value: JSONValue
    }

    func validate() throws {
      if limit < 1 { throw ValidationError("--limit has to be 1 at least.") }
    }

    func run() throws {
      let condition = try FieldCondition(condition)
      let garage = try access.open(store)
      defer { try? garage.close() }
      let name = try garage.typeName(matching: type)
      var entries: [Entry] = []
      var hasMore = false
      var damage = DamageNotes()
      try garage.read { reader in
        try reader.forEachIdentifier(ofTypeNamed: name, onDamage: { damage.note($0) }) { identifier in
          let look = try reader.look(atTypeNamed: name, identifier)
          if case .damaged(let error) = look { damage.note(error) }
          guard let object = look.object, condition.holds(for: object.value) else { return true }
          hasMore = entries.count == limit
          if hasMore { return false }
          entries.append(
            Entry(
              type: object.type, id: "\(identifier)",
              value: JSONValue(object.value, typeName: reader.listedName)))
          return true
        }
      }
      if json {
        try Output.json(entries)
        return try damage.end()
      }
      for entry in entries { Output.write(Output.quotedIfOdd(entry.id)) }
      if hasMore { Output.complain("there are more: --limit \(limit * 10)") }
      try damage.end()
    }
  }
#endif
