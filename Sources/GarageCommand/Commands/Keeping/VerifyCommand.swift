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

    func run() throws {
      let complaints = try store.complaintsBeforeOpening()
      if !complaints.isEmpty { return try show(complaints) }
      let garage = try access.open(store)
      defer { try? garage.close() }
      let line = ProgressLine("verifying")
      let report = try garage.verify { line.show($0.completedUnitCount, of: $0.totalUnitCount) }
      line.end()
      try show(VerificationAnswer(report), "\(report)")
    }

    /// Shows the damage of pages that the engine would not survive reading.
    private func show(_ complaints: [String]) throws {
      let findings = complaints.map {
        VerificationAnswer.Entry(
          severity: "damage", place: "engine",
          message: "\($0). Restore a backup, or salvage what can be read: garage salvage.")
      }
      let text =
        ["The pages of the store are damaged, and it was not read further:"] + findings.map(\.message)
      try show(
        VerificationAnswer(
          objects: 0, keys: 0, bytes: 0, isSound: false, findings: findings, findingCount: findings.count),
        text.joined(separator: "\n"))
    }

    private func show(_ report: VerificationAnswer, _ text: String) throws {
      if json {
        try Output.json(report)
      } else {
        for line in text.split(separator: "\n") { Output.write(Output.quotedIfOdd(String(line))) }
      }
      if report.findingCount > 0 { throw ExitCode(CommandFailure.findingStatus) }
    }
  }
#endif
