#if Command
  import ArgumentParser
  import Foundation
  import GarageStorage

  /// `garage import FILE TO`
  struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "import", abstract: "Take in what export wrote, wholly or not at all.",
      discussion: """
        What is there under the same identifier or key is replaced. A destination that is not there is made: a folder where \
        the path ends in a slash or .lmdb, an SQLite file otherwise.
        """)

    @OptionGroup var access: StoreAccess
    @Argument(help: "The file.", completion: .file()) var file: String
    @Argument(help: "The store, new or not.") var to: StorePlace
    @Flag(help: "As JSON.") var json = false

    func run() throws {
      guard FileManager.default.isReadableFile(atPath: file) else {
        throw CommandFailure.opening("\(file): there is no such file, or it may not be read.")
      }
      let isNew = !to.isThere
      let garage = try access.openOrMake(to)
      do {
        defer { try? garage.close() }
        let line = ProgressLine("importing")
        let result = try garage.import(from: URL(filePath: file)) {
          line.show($0.completedUnitCount, of: $0.totalUnitCount)
        }
        line.end()
        try Exchanged(result).show(json, "taken in")
      } catch {
        if isNew { to.removeFiles() }
        throw error
      }
    }
  }
#endif
