#if Command
  import ArgumentParser
  import GarageStorage

  /// `garage verify STORE`
  struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "verify", abstract: "Read every byte of a store, and say what is damaged or does not fit.",
      discussion: "Ends with 1 where it finds something. Docs/Care.md says what each finding means.")

    @OptionGroup var access: StoreAccess
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
      let complaints = try store.complaintsBeforeOpening()
      if !complaints.isEmpty { return try show(complaints) }
      let garage = try access.open(store)
      defer { try? garage.close() }
      let line = ProgressLine("verifying")
      let report = try garage.verify { line.show($0.completedUnitCount, of: $0.totalUnitCount) }
      line.end()
      try show(
        Report(
          objects: report.objectCount, keys: report.keyCount, bytes: report.byteCount,
          isSound: report.isSound,
          findings: report.findings.map {
            Report.Entry(
              severity: "\($0.severity)", place: $0.place.rawValue, type: $0.type, id: $0.identifier,
              path: $0.path,
              message: $0.message)
          }, findingCount: report.findingCounts.values.reduce(0, +)), "\(report)")
    }

    /// Shows what is wrong with pages that the engine would not survive to read.
    private func show(_ complaints: [String]) throws {
      let findings = complaints.map {
        Report.Entry(
          severity: "damage", place: "engine",
          message: "\($0). Restore a backup, or salvage what can be read: garage salvage.")
      }
      let text =
        ["The pages of the store are damaged, and it was not read further:"] + findings.map(\.message)
      try show(
        Report(
          objects: 0, keys: 0, bytes: 0, isSound: false, findings: findings, findingCount: findings.count),
        text.joined(separator: "\n"))
    }

    private func show(_ report: Report, _ text: String) throws {
      if json {
        try Output.json(report)
      } else {
        for line in text.split(separator: "\n") { Output.write(Output.quotedIfOdd(String(line))) }
      }
      if report.findingCount > 0 { throw ExitCode(CommandFailure.findingStatus) }
    }
  }
#endif
