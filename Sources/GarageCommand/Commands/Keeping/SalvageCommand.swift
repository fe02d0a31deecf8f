#if Command
  import ArgumentParser
  import GarageStorage

  /// `garage salvage DAMAGED TO`
  struct SalvageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "salvage", abstract: "Bring over what can be read of a damaged store into another one.",
      discussion: """
        The pages are read as they are, without the engine, and what is whole comes over. The damaged store is not changed; \
        nobody may have it open. Ends with 1 where something is damaged. A destination that is not there is made.
        """)

    @OptionGroup var access: StoreAccess
    @Argument(help: "The damaged store.") var from: StorePlace
    @Argument(help: "Where to bring what is whole: a store, new or not.") var to: StorePlace
    @Flag(help: "Bring over what may have been deleted before, too.") var older = false
    @Flag(help: "As JSON.") var json = false

    private struct Older: Encodable {
      var type: String
      var id: String
    }

    private struct Report: Encodable {
      var objects: Int
      var keys: Int
      var damaged: Int
      var older: Int
      /// The first objects of an older state, which `--older` saves as well.
      var olderObjects: [Older]
      var notes: [String]
    }

    func run() throws {
      if from.isSame(as: to) {
        throw CommandFailure(
          message:
            "\(to.path) is the damaged store itself, which is not to be changed. Bring it over to another place.",
          status: CommandFailure.usageStatus)
      }
      let source = try access.salvageSource(from)
      let garage = try access.openOrMake(to)
      defer { try? garage.close() }
      let line = ProgressLine("bringing over")
      let report = try GarageSalvage(from: source, into: garage, includingOlder: older).run {
        line.show($0.completedUnitCount, of: $0.totalUnitCount)
      }
      line.end()
      let older = report.olderObjects.map {
        Older(type: garage.listedName(of: $0), id: "\($0.identifier)")
      }
      if json {
        try Output.json(
          Report(
            objects: report.objectCount, keys: report.keyCount, damaged: report.damagedCount,
            older: report.olderCount, olderObjects: older, notes: report.notes))
      } else {
        Output.write("\(report)")
        for object in older {
          Output.write("? \(Output.quotedIfOdd(object.type)) \(object.id.debugDescription)")
        }
        if !older.isEmpty && !self.older { Output.complain("--older brings those over, too") }
      }
      if report.damagedCount > 0 || !report.notes.isEmpty { throw ExitCode(CommandFailure.findingStatus) }
    }
  }
#endif
