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

    func run() throws {
      let garage = try access.open(store)
      defer { try? garage.close() }
      let line = ProgressLine("counting")
      let statistics = try garage.statistics { line.show($0.completedUnitCount, of: $0.totalUnitCount) }
      line.end()
      if json { return try Output.json(StatisticsAnswer(statistics)) }
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
      let free = statistics.freeByteCount.map { "; \($0) bytes of the file are free" } ?? ""
      Output.write(
        """
        \(statistics.keyCount) typed keys with \(statistics.keyByteCount) bytes; \(statistics.otherByteCount) bytes \
        beside\(free)
        """)
    }
  }
#endif
