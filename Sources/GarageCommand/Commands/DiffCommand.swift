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
      /// `removed` is in the first store only, `added` in the second, `changed` in both.
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
          let names = Set(try one.storedTypes().map(\.name)).union(try two.storedTypes().map(\.name))
          for name in names.sorted() { differences += try Self.objects(ofTypeNamed: name, one, two) }
          differences += Self.keys(try one.storedKeyValues(), try two.storedKeyValues())
        }
      }
      if json {
        try Output.json(differences)
      } else {
        for difference in differences {
          let sign = ["removed": "-", "added": "+"][difference.kind] ?? "~"
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
      try forEachIdentifier(ofTypeNamed: name, one) { identifier in
        guard let before = try one.storedObject(ofTypeNamed: name, identifier: identifier) else { return }
        let after = try two.storedObject(ofTypeNamed: name, identifier: identifier)
        if let after, after.type == before.type, after.value == before.value,
          after.syncStatus == before.syncStatus,
          after.typeVersion == before.typeVersion
        {
          return
        }
        differences.append(
          Difference(kind: after == nil ? "removed" : "changed", type: before.type, id: "\(identifier)"))
      }
      try forEachIdentifier(ofTypeNamed: name, two) { identifier in
        if try one.storedObject(ofTypeNamed: name, identifier: identifier) != nil { return }
        differences.append(Difference(kind: "added", type: name, id: "\(identifier)"))
      }
      return differences
    }

    private static func forEachIdentifier(
      ofTypeNamed name: String, _ reader: some GarageReading, _ visit: (Identifier) throws -> Void
    ) throws {
      var last: Identifier?
      while true {
        let page = try reader.identifiers(ofTypeNamed: name, after: last, limit: 1000)
        try page.forEach(visit)
        last = page.last
        if page.isEmpty { return }
      }
    }

    private static func keys(_ one: [StoredKeyValue], _ two: [StoredKeyValue]) -> [Difference] {
      let before = Dictionary(one.map { ($0.name, $0.value) }) { first, _ in first }
      let after = Dictionary(two.map { ($0.name, $0.value) }) { first, _ in first }
      return Set(before.keys).union(after.keys).sorted().compactMap { name in
        if before[name] == after[name] { return nil }
        let kind = after[name] == nil ? "removed" : before[name] == nil ? "added" : "changed"
        return Difference(kind: kind, key: name)
      }
    }
  }
#endif
