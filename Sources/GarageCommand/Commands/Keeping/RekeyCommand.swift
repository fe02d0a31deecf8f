#if Command
  import ArgumentParser
  import GarageSealing
  import GarageStorage

  /// `garage rekey STORE`
  struct RekeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "rekey", abstract: "Seal everything in a sealed store again, with a new key.",
      discussion: """
        In batches, between which others read and write; they have to know the new key by now, and must not write with the \
        old one any more. Where the command was ended early, both keys are needed, and the same command goes on. Ends with 1 \
        where something does not open; it is left as it is. Unused parts of the file may still hold what was sealed with the \
        old key: copy makes a store without them.
        """)

    @OptionGroup var access: StoreAccess
    @Option(
      help: ArgumentHelp(
        "The new key, as --key-file gives the old one. Without it, GARAGE_NEW_KEY is looked at.",
        valueName: "file"), completion: .file())
    var newKeyFile: String?
    @Argument(help: "The store.") var store: StorePlace
    @Flag(help: "As JSON.") var json = false

    private struct Rekeying: Encodable {
      var entries: Int
      var resealed: Int
      var failed: Int
      /// Why entries did not open: the first hundred errors.
      var failures: [String]
      /// Whether the old key is not needed any more.
      var isComplete: Bool
    }

    func run() throws {
      if try !store.complaintsBeforeOpening().isEmpty { throw CommandFailure.damagedPages(store.path) }
      let storage = try access.openForRekeying(store, newKeyFile: newKeyFile)
      defer { try? storage.close() }
      let line = ProgressLine("sealing")
      let result = try storage.rekey { line.show($0.examinedCount, of: $0.totalCount) }
      line.end()
      let answer = Rekeying(
        entries: result.examinedCount, resealed: result.resealedCount, failed: result.failedCount,
        failures: result.failures.map(\.message), isComplete: result.isComplete)
      if json {
        try Output.json(answer)
      } else {
        Output.write("\(answer.resealed) of \(answer.entries) entries sealed again")
        for failure in answer.failures { Output.write(Output.quotedIfOdd(failure)) }
        Output.write(
          answer.isComplete
            ? "the old key is not needed any more"
            : "the old key is still needed: \(answer.failed) entries do not open, or others wrote with it")
      }
      if !answer.isComplete { throw ExitCode(CommandFailure.findingStatus) }
    }
  }
#endif
