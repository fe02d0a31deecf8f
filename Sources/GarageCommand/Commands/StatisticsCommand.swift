#if Command
  import ArgumentParser
  import GarageStorage

  /// `garage stats STORE`
  struct StatisticsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "stats", abstract: "Count objects, bytes and references, by type. Reads the whole store.")

    @OptionGroup var access: StoreAccess
    @Argument(help: "The store.") var store: StorePlace
    @Flag(help: "As JSON.") var json = false

    private struct Statistics: Encodable {
      struct Entry: Encodable {
        var type: String
        var objects: Int
        var bytes: Int
        var largestBytes: Int
        var largest: String
        var referencesOut: [String: Int]
        var referencesIn: Int
        var syncStatuses: [String: Int]
        var damaged: Int
      }
      var types: [Entry]
      var keys: Int
      var keyBytes: Int
      var otherBytes: Int
      var objects: Int
      var bytes: Int
    }

    func run() throws {
      let garage = try access.open(store)
      defer { try? garage.close() }
      let line = ProgressLine("counting")
      let statistics = try garage.statistics { line.show($0.completedUnitCount, of: $0.totalUnitCount) }
      line.end()
      if json { return try Output.json(Self.encodable(statistics)) }
      let head = ["objects", "bytes", "largest", "out", "in", "type"]
      Output.table(
        [head]
          + statistics.types.map { type in
            [
              "\(type.objectCount)", "\(type.byteCount)", "\(type.largestByteCount)",
              "\(type.outgoingReferences.values.reduce(0, +))", "\(type.incomingReferenceCount)",
              Output.quotedIfOdd(type.name)
                + (type.damagedCount > 0 ? " (\(type.damagedCount) damaged)" : ""),
            ]
          })
      Output.write(
        "\(statistics.keyCount) typed keys with \(statistics.keyByteCount) bytes; \(statistics.otherByteCount) bytes beside"
      )
    }

    private static func encodable(_ statistics: StoreStatistics) -> Statistics {
      Statistics(
        types: statistics.types.map { type in
          Statistics.Entry(
            type: type.name, objects: type.objectCount, bytes: type.byteCount,
            largestBytes: type.largestByteCount,
            largest: type.largestIdentifier, referencesOut: named(type.outgoingReferences),
            referencesIn: type.incomingReferenceCount, syncStatuses: named(type.syncStatuses),
            damaged: type.damagedCount)
        },
        keys: statistics.keyCount, keyBytes: statistics.keyByteCount, otherBytes: statistics.otherByteCount,
        objects: statistics.objectCount, bytes: statistics.byteCount)
    }

    private static func named<Key: Hashable>(_ counts: [Key: Int]) -> [String: Int] {
      Dictionary(counts.map { ("\($0.key)", $0.value) }) { $0 + $1 }
    }
  }
#endif
