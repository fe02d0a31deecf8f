#if Command
  import ArgumentParser
  import Foundation
  import GarageDriver
  import GarageStorage

  /// `garage watch STORE`
  struct WatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "watch", abstract: "Say what is committed to a store, as it comes.",
      discussion: """
        Goes on until it is ended (Ctrl-C). Others do not tell what they change: after each commit all keys and the heads of \
        all records are read, and compared with what was there before, so that commits that follow one another quickly come as \
        one. A store in a database, which does not tell of commits, is read once a second. Memory: the keys of all objects, \
        twice, and 32 bytes for each. With --json there is a line for each commit.
        """)

    @OptionGroup var access: StoreAccess
    @Argument(help: "The store.") var store: StorePlace
    @Option(help: "How many objects and keys are listed of one commit at most.") var limit = 1000
    @Option(help: "End after that many commits.") var count: Int?
    @Flag(help: "As lines of JSON.") var json = false

    /// How often a store is read that does not signal commits of others.
    private static let lookSeconds = 1.0

    func validate() throws {
      if limit < 0 || (count ?? 1) < 1 {
        throw ValidationError("--limit has to be 0 at least, and --count 1.")
      }
    }

    func run() throws {
      let garage = try access.open(store)
      defer { try? garage.close() }
      let command = self
      try UntilSignal.run { try await command.watch(garage) }
    }

    private func watch(_ garage: Garage) async throws {
      // It listens before it reads, so that no change in between is missed.
      var changes = garage.changes().makeAsyncIterator()
      var marks = StoreMarks()
      let beginning = try garage.differences(from: &marks, limit: 0)
      try announce(
        objects: beginning.objectCounts[.added] ?? 0, keys: beginning.keyCounts[.added] ?? 0)
      var seen = 0
      while seen != count, !Task.isCancelled {
        if garage.hearsOtherProcesses {
          guard await changes.next() != nil else { return }
        } else {
          try await Task.sleep(for: .seconds(Self.lookSeconds))
        }
        let differences = try garage.differences(from: &marks, limit: limit)
        if differences.isEmpty { continue }
        try show(differences)
        seen += 1
      }
    }

    // MARK: Showing

    private struct Beginning: Encodable {
      var watching: String
      var objects: Int
      var keys: Int
    }

    private struct Change: Encodable {
      struct Object: Encodable {
        var type: String
        var id: String
      }
      var at: String
      /// Objects that did not exist before.
      var added: [Object]
      var changed: [Object]
      var deleted: [Object]
      var keysSet: [String]
      var keysRemoved: [String]
      /// The number of all changed objects, even if not all are listed.
      var objectCount: Int
      var keyCount: Int
    }

    private func announce(objects: Int, keys: Int) throws {
      if json { return try Output.jsonLine(Beginning(watching: store.path, objects: objects, keys: keys)) }
      Output.complain("\(Output.quotedIfOdd(store.path)) has \(objects) objects. Ctrl-C ends the watch.")
    }

    private func show(_ differences: StoreDifferences) throws {
      let at = JSONValue.text(of: Date())
      let objectCount = differences.objectCounts.values.reduce(0, +)
      let keyCount = differences.keyCounts.values.reduce(0, +)
      if json {
        func objects(_ kind: StoreDifferences.Kind) -> [Change.Object] {
          differences.entries.compactMap { entry in
            entry.kind == kind ? entry.type.map { Change.Object(type: $0, id: entry.name) } : nil
          }
        }
        func keys(_ isRemoved: Bool) -> [String] {
          differences.entries.filter { $0.type == nil && ($0.kind == .removed) == isRemoved }.map(\.name)
        }
        return try Output.jsonLine(
          Change(
            at: at, added: objects(.added), changed: objects(.changed), deleted: objects(.removed),
            keysSet: keys(false), keysRemoved: keys(true), objectCount: objectCount, keyCount: keyCount))
      }
      var facts: [String] = []
      for (kind, word) in [
        (StoreDifferences.Kind.added, "new"), (.changed, "changed"), (.removed, "deleted"),
      ] {
        if let count = differences.objectCounts[kind] { facts.append("\(count) \(word)") }
      }
      if keyCount > 0 { facts.append("\(keyCount) typed key\(keyCount == 1 ? "" : "s")") }
      Output.write("\(at)  \(facts.joined(separator: ", "))")
      for entry in differences.entries {
        let sign = [.added: "+", .removed: "-"][entry.kind] ?? "~"
        let what =
          entry.type.map { "\(Output.quotedIfOdd($0)) \(entry.name.debugDescription)" }
          ?? "key \(Output.quotedIfOdd(entry.name))"
        Output.write("  \(sign) \(what)")
      }
      let rest = objectCount + keyCount - differences.entries.count
      if rest > 0 { Output.write("  and \(rest) more") }
    }
  }
#endif
