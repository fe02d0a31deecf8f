#if Command
  import ArgumentParser
  import GarageStorage

  /// `garage diff A B`
  struct DiffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "diff", abstract: "Compare two stores, object by object and key by key.",
      discussion: """
        Compared is what objects hold, their sync status and the version of their type, and not when they were parked. Ends \
        with 1 where there is a difference.
        """)

    @OptionGroup var access: StoreAccess
    @Argument(help: "A store.") var first: StorePlace
    @Argument(help: "Another one.") var second: StorePlace
    @Flag(help: "As JSON.") var json = false

    private struct Difference: Encodable {
      /// `removed`: only in the first store. `added`: only in the second. `changed`: in both. `damaged`: unreadable in one of
      /// them.
      var kind: String
      var type: String?
      var id: String?
      var key: String?
    }

    func run() throws {
      let (one, two) = (try access.open(first), try access.open(second))
      defer {
        try? one.close()
        try? two.close()
      }
      var differences: [Difference] = []
      try one.read { one in
        try two.read { two in
          let names = Set(try one.storedTypeNames()).union(try two.storedTypeNames())
          for name in names.sorted() { differences += try Self.objects(ofTypeNamed: name, one, two) }
          differences += try Self.keys(one, two)
        }
      }
      if json {
        try Output.json(differences)
      } else {
        for difference in differences {
          let sign = ["removed": "-", "added": "+", "damaged": "!"][difference.kind] ?? "~"
          let what =
            difference.key.map { Output.quotedIfOdd($0) }
            ?? "\(Output.quotedIfOdd(difference.type ?? "")) \((difference.id ?? "").debugDescription)"
          Output.write("\(sign) \(what)")
        }
      }
      if !differences.isEmpty { throw ExitCode(CommandFailure.findingStatus) }
    }

    private static func objects(
      ofTypeNamed name: String, _ one: some GarageReading, _ two: some GarageReading
    ) throws -> [Difference] {
      var differences: [Difference] = []
      // If identifiers are hidden, it is not known whose record this is.
      func note(_ damage: GarageError) {
        Output.complain("\(damage)")
        differences.append(Difference(kind: "damaged", type: name))
      }
      try one.forEachIdentifier(ofTypeNamed: name, onDamage: note) { identifier in
        let before = try one.look(atTypeNamed: name, identifier)
        if let kind = kind(before, try two.look(atTypeNamed: name, identifier)) {
          differences.append(
            Difference(kind: kind, type: before.object?.type ?? name, id: "\(identifier)"))
        }
        return true
      }
      try two.forEachIdentifier(ofTypeNamed: name, onDamage: note) { identifier in
        if case .nothing = try one.look(atTypeNamed: name, identifier) {
          differences.append(Difference(kind: "added", type: name, id: "\(identifier)"))
        }
        return true
      }
      return differences
    }

    /// How an object changed; nil if it is the same.
    private static func kind(_ before: ObjectLook, _ after: ObjectLook) -> String? {
      switch (before, after) {
      case (.damaged, _), (_, .damaged): "damaged"
      case (.nothing, .nothing): nil
      case (.nothing, .object): "added"
      case (.object, .nothing): "removed"
      case (.object(let before), .object(let after)):
        after.type == before.type && after.value == before.value && after.syncStatus == before.syncStatus
          && after.typeVersion == before.typeVersion ? nil : "changed"
      }
    }

    private static func keys(_ one: some GarageReading, _ two: some GarageReading) throws -> [Difference] {
      var damaged: Set<String> = []
      func values(_ reader: some GarageReading) throws -> [String: RecordValue] {
        let values = try reader.storedKeyValues { error in
          switch error {
          case .corruptValue(let name, _), .newerRecordFormat(_, let name, _): damaged.insert(name)
          default: throw error
          }
        }
        return Dictionary(values.map { ($0.name, $0.value) }) { first, _ in first }
      }
      let (before, after) = (try values(one), try values(two))
      return Set(before.keys).union(after.keys).union(damaged).sorted().compactMap { name in
        if damaged.contains(name) { return Difference(kind: "damaged", key: name) }
        if before[name] == after[name] { return nil }
        let kind = after[name] == nil ? "removed" : before[name] == nil ? "added" : "changed"
        return Difference(kind: kind, key: name)
      }
    }
  }
#endif
