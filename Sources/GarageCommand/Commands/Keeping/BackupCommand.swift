#if Command
  import ArgumentParser
  import Foundation
  import GarageStorage

  /// `garage backup STORE TO`
  struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "backup", abstract: "Make a copy of a store while others write to it.",
      discussion: """
        The copy is a store of the same kind: a file of a file, a folder of a folder. It appears when it is complete; until \
        then there is a folder with .partial behind its name.
        """)

    @OptionGroup var access: StoreAccess
    @Argument(help: "The store.") var store: StorePlace
    @Argument(help: "Where the copy is to be: a new file or folder.", completion: .file()) var to: String
    @Flag(help: "Leave out what the store does not use.") var compact = false
    @Flag(help: "As JSON.") var json = false

    private struct Backup: Encodable { var bytes: Int }

    func run() throws {
      let garage = try access.open(store)
      defer { try? garage.close() }
      let line = ProgressLine("copying")
      let url = URL(filePath: to)
      try garage.backup(to: url, compacting: compact) {
        line.show($0.completedUnitCount, of: $0.totalUnitCount)
      }
      line.end()
      let bytes = StorePlace.byteCount(at: to)
      if json {
        try Output.json(Backup(bytes: bytes))
      } else {
        Output.write("\(bytes) bytes copied to \(to)")
      }
    }
  }
#endif
