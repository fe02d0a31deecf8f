#if Command
  import ArgumentParser
  import GarageStorage

  /// `garage keys STORE`
  struct KeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "keys", abstract: "Show the typed keys with their values.")

    @OptionGroup var access: StoreAccess
    @Argument(help: "The store.") var store: StorePlace
    @Flag(help: "As JSON.") var json = false

    private struct Keys: Encodable {
      struct Entry: Encodable {
        var key: String
        var bytes: Int
        var value: JSONValue
      }
      var keys: [Entry]
    }

    func run() throws {
      let garage = try access.open(store)
      defer { try? garage.close() }
      var damage = DamageNotes()
      let keys = try garage.storedKeyValues { damage.note($0) }
      if json {
        try Output.json(
          Keys(
            keys: keys.map {
              Keys.Entry(
                key: $0.name, bytes: $0.byteCount, value: JSONValue($0.value, typeName: garage.listedName))
            }))
        return try damage.end()
      }
      let text = ValueText(typeName: garage.listedName)
      for key in keys {
        let lines = text.lines(key.value)
        Output.write("\(Output.quotedIfOdd(key.name)) = \(lines[0].text)")
        for line in lines.dropFirst() { Output.write(line.text()) }
      }
      try damage.end()
    }
  }
#endif
