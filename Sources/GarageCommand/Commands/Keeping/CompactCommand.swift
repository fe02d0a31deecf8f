#if Command
  import ArgumentParser
  import GarageStorage

  /// `garage compact STORE`
  struct CompactCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "compact", abstract: "Give back the room that a store does not use any more.",
      discussion: "An LMDB store keeps its length, and gets holes. backup --compact makes a shorter one.")

    @OptionGroup var access: StoreAccess
    @Argument(help: "The store.") var store: StorePlace
    @Flag(help: "As JSON.") var json = false

    private struct Compaction: Encodable {
      var bytesBefore: Int
      var bytesAfter: Int
    }

    func run() throws {
      if try !store.complaintsBeforeOpening().isEmpty { throw CommandFailure.damagedPages(store.path) }
      let garage = try access.open(store, forWriting: true)
      defer { try? garage.close() }
      let line = ProgressLine("compacting")
      let result = try garage.compact { line.show($0.completedUnitCount, of: $0.totalUnitCount) }
      line.end()
      if json {
        return try Output.json(
          Compaction(bytesBefore: result.byteCountBefore, bytesAfter: result.byteCountAfter))
      }
      Output.write("\(result.byteCountBefore) bytes before, \(result.byteCountAfter) now")
    }
  }
#endif
