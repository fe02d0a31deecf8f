#if Command
  import ArgumentParser
  import GarageStorage

  /// `garage repair STORE`
  struct RepairCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "repair",
      abstract: "Make again what can be made from the records: indexes, and entries for sync statuses.",
      discussion:
        "Records are never changed. A damaged one stays as it is: delete the object, or restore a backup.")

    @OptionGroup var access: StoreAccess
    @Argument(help: "The store.") var store: StorePlace
    @Flag(help: "As JSON.") var json = false

    private struct Report: Encodable {
      var addedSyncStatuses: Int
      var removedSyncStatuses: Int
      var texts: [String]
      var indexes: [String]
    }

    func run() throws {
      if try !store.complaintsBeforeOpening().isEmpty { throw CommandFailure.damagedPages(store.path) }
      let garage = try access.open(store, forWriting: true)
      defer { try? garage.close() }
      let line = ProgressLine("repairing")
      let report = try garage.repair { line.show($0.completedUnitCount, of: $0.totalUnitCount) }
      line.end()
      if json {
        return try Output.json(
          Report(
            addedSyncStatuses: report.addedSyncStatuses, removedSyncStatuses: report.removedSyncStatuses,
            texts: report.texts, indexes: report.indexes))
      }
      Output.write("\(report)")
    }
  }
#endif
