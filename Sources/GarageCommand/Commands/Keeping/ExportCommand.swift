#if Command
  import ArgumentParser
  import Foundation
  import GarageStorage

  /// `garage export STORE FILE`
  struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "export", abstract: "Write all objects and typed keys to a file of JSON lines.",
      discussion: "What a sealed store holds stands open in it. import takes it in again, as it was.")

    @OptionGroup var access: StoreAccess
    @Argument(help: "The store.") var store: StorePlace
    @Argument(help: "The file, which must not be there.", completion: .file()) var file: String
    @Flag(help: "As JSON.") var json = false

    func run() throws {
      let garage = try access.open(store)
      defer { try? garage.close() }
      let line = ProgressLine("exporting")
      let result = try garage.export(to: URL(filePath: file)) {
        line.show($0.completedUnitCount, of: $0.totalUnitCount)
      }
      line.end()
      try Exchanged(result).show(json, "exported to \(file)")
    }
  }

  /// The output of `export` and `import`.
  struct Exchanged: Encodable {
    var objects: Int
    var keys: Int
    var bytes: Int

    init(_ result: ExchangeResult) {
      (objects, keys, bytes) = (result.objectCount, result.keyCount, result.byteCount)
    }

    func show(_ json: Bool, _ what: String) throws {
      if json { return try Output.json(self) }
      Output.write(
        "\(objects) object\(objects == 1 ? "" : "s") and \(keys) key\(keys == 1 ? "" : "s") \(what)")
    }
  }
#endif
