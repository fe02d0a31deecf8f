import Foundation

/// Bare engines that are told at once which records a question finds: each gets these by their keys, and makes the objects of what
/// stands ready in memory. No index is read and nothing is decoded, so that whoever keeps an object in a record of its own, and
/// makes it through `Codable`, cannot answer sooner.
struct RawQuestions {
  private let engines: [(subject: String, engine: RawEngine)]
  private let entries: Entries

  /// - Parameter visitors: all of them, in the order of their identifiers, which are 0, 1, 2 …
  init(_ visitors: [Visitor], below root: URL) throws {
    entries = try Entries(visitors)
    func place(_ subject: String) throws -> URL {
      let folder = root.appending(path: "raw \(subject)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      return folder
    }
    engines = [
      ("sqlite", try .sqlite(at: place("sqlite"))), ("lmdb", try .lmdb(at: place("lmdb"))),
    ]
    for (_, engine) in engines {
      let code = entries.withRaw { engine.putAll($0, nil) }
      try WrongResult.unless(code == 0, "the engine returned \(code)")
    }
  }

  static func who(_ subject: String) -> String { "\(subject), \(RawCodingStore.who)" }

  /// - Parameters:
  ///   - found: what is found, of one time that the question is asked or of all of them.
  ///   - times: how often it is asked.
  func operations(_ name: String, _ found: [IndexedVisitor], times: Int) throws -> [Operation] {
    let replay = try Replay(found)
    let places = found.map { UInt32($0.id) }
    // Each time finds another one, or all of them.
    let findsOne = found.count == times
    return engines.map { subject, engine in
      var made: [IndexedVisitor] = []
      var equal = 0
      return Operation(
        name: name, who: Self.who(subject), count: times,
        run: {
          equal = 0
          for _ in 0..<(findsOne ? 1 : times) {
            // Those of one time in one transaction.
            equal += entries.withRaw { engine.get($0, places, places.count, findsOne ? 0 : 1) }
            made = try replay.objects(IndexedVisitor.self, count: places.count)
          }
        },
        verify: {
          try WrongResult.unless(
            equal == (findsOne ? 1 : times) * places.count && made == found, "other values, or other objects")
        })
    }
  }

  /// Goes through all records.
  func scans(_ name: String, who: (String) -> String) -> [Operation] {
    engines.map { subject, engine in
      var equal = 0
      return Operation(
        name: name, who: who(subject), count: 1, run: { equal = entries.withRaw(engine.scan) },
        verify: { try WrongResult.unless(equal == entries.count, "other values") })
    }
  }

  /// Gets the entries of an index by their keys, all in one transaction, and not the records that they lead to.
  ///
  /// - Parameter places: of which of the `entries`, in their order.
  func gets(_ name: String, _ entries: Entries, _ places: [UInt32], who: (String) -> String) throws -> [Operation] {
    try engines.map { subject, engine in
      let code = entries.withRaw { engine.putAll($0, nil) }
      try WrongResult.unless(code == 0, "the engine returned \(code)")
      var equal = 0
      return Operation(
        name: name, who: who(subject), count: places.count,
        run: { equal = entries.withRaw { engine.get($0, places, places.count, 1) } },
        verify: { try WrongResult.unless(equal == places.count, "other values") })
    }
  }

  func close() {
    for (_, engine) in engines { engine.close() }
  }
}
