#if Command
  import ArgumentParser
  import GarageStorage

  /// `garage set STORE TYPE ID FIELD VALUE`
  struct SetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "set", abstract: "Show what a field of an object would become, or with --write change it.",
      discussion: """
        Text, numbers, truth values, dates and UUIDs, each to another one of its kind. What the object is found by cannot be \
        changed. Nobody asks the type of the object whether it would allow the value.
        """)

    @OptionGroup var access: StoreAccess
    @Argument(help: "The store.") var store: StorePlace
    @Argument(help: "The type, whole or what stands behind its last dots.") var type: String
    @Argument(help: "The identifier, as ls prints it.") var identifier: String
    @Argument(help: "Keys, and positions in arrays, with dots between them: address.city, rooms.0.")
    var field: String
    @Argument(help: "The new value, written as get shows it, text without quotes.") var value: String
    @Flag(help: "Change it.") var write = false
    @Flag(help: "As JSON.") var json = false

    private struct Change: Encodable {
      var kind: String
      var before: String
      var after: String
      var isMade: Bool
    }

    func run() throws {
      let garage = try access.open(store, forWriting: write)
      defer { try? garage.close() }
      let name = try garage.typeName(matching: type)
      guard let found = try garage.identifier(describedAs: identifier, ofTypeNamed: name),
        let object = try garage.storedObject(ofTypeNamed: name, identifier: found)
      else {
        throw CommandFailure.missing(
          "There is no \(name) \"\(identifier)\". garage ls lists those there are.")
      }
      do {
        let path = try steps(in: object.value)
        guard let leaf = ValueLeaf(try ValueEdit.value(at: path, in: object.value)) else {
          throw ValueEdit.Refusal.notALeaf
        }
        let edit = ValueEdit(path: path, before: leaf.text, kind: leaf.kind, text: value)
        var copy = object.value
        try edit.apply(to: &copy, of: found)
        if write {
          try garage.changeStoredObject(ofTypeNamed: name, identifier: found) {
            try edit.apply(to: &$0, of: found)
          }
        }
        try show(Change(kind: leaf.kind, before: leaf.text, after: value, isMade: write))
      } catch let refusal as ValueEdit.Refusal {
        let isUsage = if case .unreadable = refusal { true } else { false }
        throw CommandFailure(
          message: "\(field): \(refusal)",
          status: isUsage ? CommandFailure.usageStatus : CommandFailure.findingStatus)
      }
    }

    /// The path to the field. Keys may contain dots.
    private func steps(in value: RecordValue) throws -> [ValueEdit.Step] {
      if value[field] != nil { return [.key(field)] }
      var steps: [ValueEdit.Step] = []
      for part in field.split(separator: ".", omittingEmptySubsequences: false).map(String.init) {
        var here = try ValueEdit.value(at: steps, in: value)
        while true {
          switch here {
          case .versioned(_, let inner), .withSyncStatus(_, let inner):
            here = inner
            continue
          default: break
          }
          break
        }
        if case .array = here, let index = Int(part) {
          steps.append(.index(index))
        } else {
          steps.append(.key(part))
        }
      }
      return steps
    }

    private func show(_ change: Change) throws {
      if json { return try Output.json(change) }
      Output.write("\(change.before.debugDescription) → \(change.after.debugDescription)")
      if !change.isMade { Output.complain("nothing was changed; --write changes it") }
    }
  }
#endif
