import Foundation
import GarageDriver
import GarageMemory
import GarageStorage

/// The corpus: objects of many shapes parked and retrieved by the garage's public calls, on memory, beside
/// Foundation's JSON coders and beside code by hand.
struct ShapeComparison {
  /// How often each round goes through all objects of a shape. All who are compared take turns.
  let passes: Int
  let isWanted: (String) -> Bool

  static let name = "shapes"
  static let names = [name] + corpus.map(\.title)
  static let handWritten = "hand-written"
  static let handWrittenStored = "hand-written, stored"
  /// A way in that keeps nothing, and a way out of what stands ready in memory.
  static let codableAlone = "Codable alone"

  /// `parkAll` is the way in, `retrieveAll` the way out.
  enum Way: String, CaseIterable {
    case into = "in"
    case out

    func name(of title: String) -> String { "\(rawValue): \(title)" }
    /// The title in a name; nil for a name of another way, or of something else.
    func title(in name: String) -> String? {
      let start = self.name(of: "")
      return name.hasPrefix(start) ? String(name.dropFirst(start.count)) : nil
    }
    var json: String { self == .into ? "JSONEncoder" : "JSONDecoder" }
    var peers: [String] {
      [json, handWritten, handWrittenStored, codableAlone]
    }
    var meanName: String { name(of: "geometric mean") }
    var slowestName: String { name(of: "slowest shape") }
  }

  private static let corpus = [
    // Plain fields.
    MeasuredShape(Tally.self), MeasuredShape(Product.self), MeasuredShape(Company.self),
    MeasuredShape(Profile.self), MeasuredShape(Shipment.self), MeasuredShape(Switches.self),
    MeasuredShape(Register.self), MeasuredShape(Account.self), MeasuredShape(Customer.self),
    MeasuredShape(Questionnaire.self),
    // Foundation's values, and one's own.
    MeasuredShape(Document.self), MeasuredShape(Invoice.self), MeasuredShape(Bookmarks.self),
    MeasuredShape(Workout.self), MeasuredShape(Booking.self), MeasuredShape(History.self),
    MeasuredShape(Membership.self), MeasuredShape(Ticket.self), MeasuredShape(Meeting.self),
    // Coded by hand.
    MeasuredShape(Recipe.self), MeasuredShape(Mixer.self), MeasuredShape(Preferences.self),
    MeasuredShape(Polygon.self), MeasuredShape(Reading.self), MeasuredShape(Weather.self),
    // Text and bytes.
    MeasuredShape(Article.self), MeasuredShape(CyrillicArticle.self), MeasuredShape(ChineseArticle.self),
    MeasuredShape(Chat.self), MeasuredShape(Log.self), MeasuredShape(Digest.self),
    MeasuredShape(Thumbnail.self), MeasuredShape(Photo.self),
    // Arrays.
    MeasuredShape(Order.self), MeasuredShape(Track.self), MeasuredShape(Series.self),
    MeasuredShape(Matrix.self), MeasuredShape(Survey.self), MeasuredShape(Playlist.self),
    MeasuredShape(Embedding.self), MeasuredShape(Shift.self), MeasuredShape(Draft.self),
    // Dictionaries and sets.
    MeasuredShape(Prices.self), MeasuredShape(Contacts.self), MeasuredShape(Chapters.self),
    MeasuredShape(Diary.self), MeasuredShape(Roster.self), MeasuredShape(OpeningHours.self),
    MeasuredShape(Wallet.self), MeasuredShape(Translations.self), MeasuredShape(BookIndex.self),
    MeasuredShape(Glossary.self),
    MeasuredShape(Labels.self), MeasuredShape(Board.self), MeasuredShape(Schedule.self),
    // Enums with payloads, and what holds itself.
    MeasuredShape(Drawing.self), MeasuredShape(Delivery.self), MeasuredShape(Payment.self),
    MeasuredShape(Inbox.self), MeasuredShape(Formula.self), MeasuredShape(Folders.self),
    MeasuredShape(Payload.self), MeasuredShape(Feature.self),
    // Classes and generics.
    MeasuredShape(Dog.self), MeasuredShape(Cat.self), MeasuredShape(Taxi.self),
    MeasuredShape(Sensor.self), MeasuredShape(Listing.self), MeasuredShape(Envelope<Order.Line>.self),
  ]

  func rows(_ rounds: Rounds) throws -> [ResultRow] {
    let corpus = Self.corpus.filter { isWanted(Self.name) || isWanted($0.title) }
    var samples = Samples()
    try rounds.run(Self.name) { round in
      samples.beginRound()
      for shape in corpus {
        let (parking, retrieving) = try shape.operations()
        for pass in 0..<passes {
          for operations in [parking, retrieving] {
            for operation in operations.rotated(by: round + pass) {
              try samples.measure(operation, verifies: pass == 0)
            }
          }
        }
      }
    }
    return Way.allCases.flatMap { way in
      let rows = corpus.flatMap { shape in
        way.peers.compactMap { ResultRow(way.name(of: shape.title), "memory", $0, samples) }
      }
      // Of a few shapes they would say nothing.
      return rows + (isWanted(Self.name) ? Self.summary(way, rows) : [])
    }
  }

  /// For each peer the mean of all shapes and the slowest of them.
  private static func summary(_ way: Way, _ rows: [ResultRow]) -> [ResultRow] {
    way.peers.map { peer in ResultRow(meanOf: rows.filter { $0.peer == peer }, way.meanName) }
      + way.peers.compactMap { peer in
        let rows = rows.filter { $0.peer == peer }
        return ResultRow(slowestOf: rows, way.slowestName) { way.title(in: $0.name) }
      }
  }
}

/// One shape of the corpus, its type known to the code that measures it.
private struct MeasuredShape: Sendable {
  var title: String
  /// What is done with objects that are made anew: all ways in, and all ways out.
  var operations: @Sendable () throws -> (parking: [Operation], retrieving: [Operation])

  init<Object: Shape>(_ type: Object.Type) {
    title = Object.title
    operations = {
      let objects = Object.makeAll()
      let codings = [
        try Self.garage(objects), try Self.json(objects), try Self.handWritten(objects),
        try Self.handWrittenStored(objects),
      ]
      return (
        codings.map(\.parking) + [Self.codableAlone(objects)],
        codings.map(\.retrieving) + [Self.replayed(objects)].compactMap { $0 }
      )
    }
  }

  private typealias Coding = (parking: Operation, retrieving: Operation)

  /// An empty store and a warm garage at the start of each pass; the coders of the others are made once, too.
  private static func garage<Object: Shape>(_ objects: [Object]) throws -> Coding {
    let garage = try GarageStore.garage(MemoryStorage(), types: Object.types)
    return coding(
      objects, "memory", "memory", empty: { try garage.deleteAllObjects() },
      park: { try garage.parkAll(objects) }, retrieve: { $0 = try garage.retrieveAll(Object.self) })
  }

  private static func json<Object: Shape>(_ objects: [Object]) throws -> Coding {
    let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
    let encoded = try objects.map(encoder.encode)
    return coding(
      objects, ShapeComparison.Way.into.json, ShapeComparison.Way.out.json,
      park: {
        try objects.withUnsafeBufferPointer { objects in
          for index in objects.indices { consume(try encoder.encode(objects[index])) }
        }
      },
      retrieve: { decoded in
        for data in encoded { decoded.append(try decoder.decode(Object.self, from: data)) }
      })
  }

  private static func handWritten<Object: Shape>(_ objects: [Object]) throws -> Coding {
    var writer = HandWriter()
    let encoded = objects.map { writer.bytes(of: $0) }
    return coding(
      objects, ShapeComparison.handWritten, ShapeComparison.handWritten,
      park: {
        var writer = HandWriter()
        objects.withUnsafeBufferPointer { objects in
          for index in objects.indices { consume(writer.bytes(of: objects[index])) }
        }
      },
      retrieve: { decoded in
        for bytes in encoded {
          decoded.append(try bytes.withUnsafeBytes { try HandReader.object(Object.self, of: $0) })
        }
      })
  }

  /// What is left of any coder when it does nothing with what it is given.
  private static func codableAlone<Object: Shape>(_ objects: [Object]) -> Operation {
    Operation(
      name: ShapeComparison.Way.into.name(of: Object.title), who: ShapeComparison.codableAlone,
      count: objects.count,
      prepare: {},
      run: {
        try objects.withUnsafeBufferPointer { objects in
          for index in objects.indices { try objects[index].encode(to: EmptyEncoder()) }
        }
      },
      verify: {})
  }

  /// The same for the way out; nil for shapes that ask for keys, which it does not keep.
  private static func replayed<Object: Shape>(_ objects: [Object]) -> Operation? {
    guard let replay = try? Replay(objects),
      let found = try? replay.objects(Object.self, count: objects.count), found == objects
    else { return nil }
    var decoded: [Object] = []
    return Operation(
      name: ShapeComparison.Way.out.name(of: Object.title), who: ShapeComparison.codableAlone, count: objects.count,
      prepare: {
        decoded = []
        decoded.reserveCapacity(objects.count)
      },
      run: { try replay.append(objects.count, to: &decoded) },
      verify: { try WrongResult.unless(decoded == objects, "other objects came back") })
  }

  /// The same bytes in a store of their own: what is left of the garage without `Codable`.
  private static func handWrittenStored<Object: Shape>(_ objects: [Object]) throws -> Coding {
    let storage = MemoryStorage()
    let everything = StorageKeyRange.all
    return coding(
      objects, ShapeComparison.handWrittenStored, ShapeComparison.handWrittenStored,
      empty: {
        try storage.write { transaction in
          try transaction.removeAll(in: everything)
          return .commit(())
        }
      },
      park: {
        var writer = HandWriter()
        try storage.write { transaction in
          try objects.withUnsafeBufferPointer { objects in
            for index in objects.indices {
              let key = UInt64(index).bigEndian
              try withUnsafeBytes(of: key) { key in
                try writer.withBytes(of: objects[index]) { try transaction.put($0.bytes, for: key.bytes) }
              }
            }
          }
          return .commit(())
        }
      },
      retrieve: { decoded in
        try storage.read { transaction in
          try transaction.scan(everything, .forward) { _, value in
            decoded.append(try value.withUnsafeBytes { try HandReader.object(Object.self, of: $0) })
            return .continue
          }
        }
      })
  }

  /// - Parameter empty: what has to be done before all objects can be parked again; not timed.
  private static func coding<Object: Shape>(
    _ objects: [Object], _ parker: String, _ retriever: String, empty: @escaping () throws -> Void = {},
    park: @escaping () throws -> Void, retrieve: @escaping (inout [Object]) throws -> Void
  ) -> Coding {
    var retrieved: [Object] = []
    /// The objects of the run before go outside the time.
    func forget() {
      retrieved = []
      retrieved.reserveCapacity(objects.count)
    }
    func verify() throws {
      try WrongResult.unless(retrieved == objects, "the objects are others than those that were parked")
    }
    return (
      Operation(
        name: ShapeComparison.Way.into.name(of: Object.title), who: parker, count: objects.count,
        prepare: empty,
        run: park,
        verify: {
          forget()
          try retrieve(&retrieved)
          try verify()
        }),
      Operation(
        name: ShapeComparison.Way.out.name(of: Object.title), who: retriever, count: objects.count,
        prepare: forget, run: { try retrieve(&retrieved) }, verify: verify)
    )
  }
}
