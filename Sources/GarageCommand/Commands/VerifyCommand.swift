#if Command
  import ArgumentParser
  import GarageStorage

  /// `garage verify STORE`
  struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "verify", abstract: "Read every byte of a store, and say what is damaged or does not fit.",
      discussion: "Ends with 1 where it finds something. Docs/Care.md says what each finding means.")

    @Argument(help: "The store.") var store: StorePlace
    @Flag(help: "As JSON.") var json = false

    private struct Report: Encodable {
      struct Entry: Encodable {
        var severity: String
        var place: String
        var type: String?
        var id: String?
        var path: String?
        var message: String
      }
      var objects: Int
      var keys: Int
      var bytes: Int
      var isSound: Bool
      var findings: [Entry]
      /// All of them, also where not all are listed.
      var findingCount: Int
    }

    func run() throws {
      let garage = try store.open()
      defer { try? garage.close() }
      let line = ProgressLine("verifying")
      let report = try garage.verify { line.show($0.completedUnitCount, of: $0.totalUnitCount) }
      line.end()
      let count = report.findingCounts.values.reduce(0, +)
      if json {
        try Output.json(
          Report(
            objects: report.objectCount, keys: report.keyCount, bytes: report.byteCount,
            isSound: report.isSound,
            findings: report.findings.map {
              Report.Entry(
                severity: "\($0.severity)", place: $0.place.rawValue, type: $0.type, id: $0.identifier,
                path: $0.path,
                message: $0.message)
            }, findingCount: count))
      } else {
        for line in "\(report)".split(separator: "\n") { Output.write(Output.quotedIfOdd(String(line))) }
      }
      if count > 0 { throw ExitCode(CommandFailure.findingStatus) }
    }
  }
#endif
