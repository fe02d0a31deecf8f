import Foundation
import GarageDriver
import GarageStorage
import Testing

/// What an `init(from:)` does with the writer whose verb runs it.
private struct Reentrant: Codable, Identifiable, Syncable {
  /// One thread's: tests run in tasks of their own.
  @TaskLocal static var action: Action?
  final class Action: @unchecked Sendable {
    var run: (GarageWriter) throws -> Void = { _ in }
    weak var writer: GarageWriter?
    var errors: [GarageError] = []
    var count = 0
  }

  var id: Int
  var syncStatus = SyncStatus.notSynced
  init(_ id: Int) { self.id = id }

  enum CodingKeys: CodingKey { case id }

  init(from decoder: any Decoder) throws {
    id = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .id)
    guard let action = Reentrant.action, let writer = action.writer else { return }
    action.count += 1
    do { try action.run(writer) } catch let error as GarageError { action.errors.append(error) }
  }
}

private enum ReentrantSpace: Namespace { static let id = "reentrant" }

/// A writer changes nothing while it decodes, on every driver alike, and what it changes otherwise is kept.
@Suite struct ChangeWhileDecodingTests {
  enum Change: String, CaseIterable, Sendable {
    case park, parkAll, delete, deleteAll, set, update, remove, setStatus, deleteAllObjects, migrateAll

    func make(_ writer: GarageWriter) throws {
      switch self {
      case .park: try writer.park(Counter(id: 9))
      case .parkAll: try writer.parkAll([Counter(id: 9)])
      case .delete: try writer.delete(Counter.self, identifier: 1)
      case .deleteAll: try writer.deleteAll(Counter.self)
      case .set: try writer.set(.launchCount, value: 9)
      case .update: try writer.update(.launchCount) { $0 = 9 }
      case .remove: try writer.remove(.launchCount)
      case .setStatus: try writer.setSyncStatus(.synced, for: Reentrant(1))
      case .deleteAllObjects: try writer.deleteAllObjects()
      // It takes several writes, and is the garage's.
      case .migrateAll: try writer.garage.migrateAll(Counter.self)
      }
    }
  }

  private static let key = Key<ReentrantSpace, Reentrant?>(id: "held", defaultValue: nil)

  /// Every way in which a writer decodes.
  private static let readings: [(String, @Sendable (GarageWriter) throws -> Void)] = [
    ("retrieve", { _ = try $0.retrieve(Reentrant.self, identifier: 1) }),
    ("by identifier", { _ = try $0.retrieve(Reentrant.self, identifier: $0.identifier(for: Reentrant(1))) }),
    ("reference", { _ = try $0.retrieve(Reference(Reentrant.self, identifier: 1)) }),
    ("retrieveAll", { _ = try $0.retrieveAll(Reentrant.self) }),
    ("retrieveAll onError", { _ = try $0.retrieveAll(Reentrant.self) { _ in } }),
    ("forEach", { try $0.forEach(Reentrant.self) { _ in } }),
    ("forEach onError", { try $0.forEach(Reentrant.self, onError: { _ in }) { _ in } }),
    ("status", { _ = try $0.retrieveAll(Reentrant.self, withStatus: .notSynced) }),
    ("every status", { let _: [any Syncable] = try $0.retrieveAll(withStatus: .notSynced) }),
    ("key", { _ = try $0.get(key) }),
    ("update", { try $0.update(key) { _ in } }),
  ]

  @Test(arguments: Backend.engines, [false, true])
  func isRefusedAndForbidsNothing(_ backend: Backend, roundTripsAreExpensive: Bool) throws {
    let base = try Place(backend).open()
    let storage = CountingStorage(base, roundTripsAreExpensive: roundTripsAreExpensive)
    let garage = try Garage(storage, types: [Reentrant.self])
    try garage.parkAll([Counter(id: 1), Counter(id: 2)])
    try garage.parkAll([Reentrant(1), Reentrant(2)])
    try garage.set(.launchCount, value: 1)
    try garage.set(Self.key, value: Reentrant(1))
    let action = Reentrant.Action()
    try Reentrant.$action.withValue(action) {
      for autosaves in [true, false] {
        garage.isAutosaveEnabled = autosaves
        for (name, read) in Self.readings {
          for change in Change.allCases {
            let comment = Testing.Comment("\(name), \(change), \(autosaves)")
            (action.errors, action.count) = ([], 0)
            try garage.write { writer in
              action.writer = writer
              action.run = change.make
              try writer.park(Counter(id: 3, value: 7))
              try read(writer)
              action.writer = nil
              // What comes afterwards is served.
              try writer.park(Counter(id: 4, value: 7))
              try writer.delete(Counter.self, identifier: 3)
            }
            #expect(action.count > 0, comment)
            let expected: GarageError = change == .migrateAll ? .nestedWrite : .changeWhileDecoding
            #expect(action.errors == Array(repeating: expected, count: action.count), comment)
            #expect(try garage.retrieveAll(Counter.self).map(\.id) == [1, 2, 4], comment)
            #expect(try garage.get(.launchCount) == 1, comment)
          }
        }
      }
    }
    // Reads are served.
    action.run = { _ = try $0.retrieve(Counter.self, identifier: 1) }
    try Reentrant.$action.withValue(action) {
      try garage.write { writer in
        action.writer = writer
        action.errors = []
        _ = try writer.retrieveAll(Reentrant.self)
      }
    }
    #expect(action.errors == [])
  }

  /// The closures of `forEach` are not part of decoding.
  @Test(arguments: Backend.engines)
  func theClosuresOfForEachChangeWhatTheyLike(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    try garage.parkAll((0..<10).map { Counter(id: $0) })
    try garage.write { writer in
      try writer.forEach(Counter.self) { counter in
        try writer.park(Counter(id: counter.id, value: 1))
        if counter.id % 2 == 0 { try writer.delete(Counter.self, identifier: counter.id) }
      }
      try writer.forEach(Counter.self, onError: { _ in }) { try writer.delete($0) }
    }
    #expect(try garage.count(Counter.self) == 0)
  }
}
