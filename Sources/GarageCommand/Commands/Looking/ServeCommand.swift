#if Command
  import ArgumentParser
  import GarageStorage

  /// `garage serve STORE`
  struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "serve", abstract: "Show a store in the browser: the inspector.",
      discussion: """
        Prints an address of this machine, which nobody else can reach, with a token in it, and goes on until it is ended \
        (Ctrl-C). The page shows changes of other processes as they come. It changes nothing itself, unless --write is given.
        """)

    @OptionGroup var access: StoreAccess
    @Argument(help: "The store.") var store: StorePlace
    @Option(help: "The port on 127.0.0.1; 0 for one that is free.") var port = 0
    @Flag(help: "Let the page change fields and delete objects, after asking.") var write = false
    @Flag(help: "Print address and token as JSON.") var json = false

    func validate() throws {
      if !(0...65_535).contains(port) { throw ValidationError("--port is a number from 0 to 65535.") }
    }

    #if Inspector
      func run() throws {
        let complaints = try store.complaintsBeforeOpening()
        if !complaints.isEmpty { throw CommandFailure.damagedPages(store.path) }
        let garage = try access.open(store, forWriting: write)
        let (store, write, json) = (store, write, json)
        let server = InspectorServer(garage: garage, place: store, isWritable: write, port: port)
        try server.run { announcement in
          if json { return try Output.json(announcement) }
          Output.write("\(Output.quotedIfOdd(store.path)), \(write ? "to be changed" : "for reading only"):")
          Output.write(announcement.address)
          Output.write("Who has this address can see the store. Ctrl-C ends it.")
        }
      }
    #else
      func run() throws {
        throw CommandFailure(
          message: """
            built without the inspector. Build it with 'make garage TRAITS=Inspector,Crypto', or \
            'swift build --traits Inspector'.
            """, status: CommandFailure.usageStatus)
      }
    #endif
  }
#endif
