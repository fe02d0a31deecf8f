#if Command
  import ArgumentParser
  import GarageStorage

  /// `garage delete STORE TYPE ID`
  struct DeleteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "delete", abstract: "Say who refers to an object, or with --write delete it.",
      discussion: """
        What it refers to stays, and who refers to it leads to nothing then: what its type declares for its deletion is not \
        known here.
        """)

    @OptionGroup var access: StoreAccess
    @Argument(help: "The store.") var store: StorePlace
    @Argument(help: "The type, whole or what stands behind its last dots.") var type: String
    @Argument(help: "The identifier, as ls prints it.") var identifier: String
    @Flag(help: "Delete it.") var write = false
    @Flag(help: "As JSON.") var json = false

    private struct Deletion: Encodable {
      struct Referrer: Encodable {
        var type: String
        var id: String
      }
      var referrers: [Referrer]
      var isMade: Bool
    }

    func run() throws {
      let garage = try access.open(store, forWriting: write)
      defer { try? garage.close() }
      let name = try garage.typeName(matching: type)
      guard let identity = try garage.identity(describedAs: identifier, ofTypeNamed: name) else {
        throw CommandFailure.missing(
          "There is no \(name) \"\(identifier)\". garage ls lists those there are.")
      }
      let referrers = try self.referrers(of: identity, garage).map {
        Deletion.Referrer(type: garage.listedName(of: $0), id: "\($0.identifier)")
      }
      if write { try garage.deleteStoredObject(ofTypeNamed: name, identifier: identity.identifier) }
      if json { return try Output.json(Deletion(referrers: referrers, isMade: write)) }
      for referrer in referrers {
        Output.write("\(Output.quotedIfOdd(referrer.type)) \(referrer.id.debugDescription) refers to it")
      }
      if write { Output.write("deleted") } else { Output.complain("nothing was deleted; --write deletes it") }
    }

    /// The referrers, without error if one entry is damaged: that may be the object to be deleted, and must not prevent its
    /// deletion.
    private func referrers(of identity: RecordIdentity, _ garage: Garage) throws -> [RecordIdentity] {
      do { return try garage.referrers(of: identity) } catch let error as GarageError where error.isOfOneEntry
      {
        Output.complain("who refers to it cannot be told: \(error)")
        return []
      }
    }
  }
#endif
