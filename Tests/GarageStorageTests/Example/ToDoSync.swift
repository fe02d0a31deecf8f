import Foundation
import GarageStorage

/// What a web service offers. An app's own would call `URLSession`.
protocol WebService: Sendable {
  func put(_ body: Data, id: UUID) async throws
  /// What others have put since `version`, and the version after it.
  func changes(since version: Int) async throws -> (bodies: [Data], version: Int)
}

/// Where the last exchange with the service ended.
enum SyncSettings: Namespace { static let id = "sync" }
extension KeyType where Self == Key<SyncSettings, Int> {
  static var fetchedVersion: Self { Key(id: "fetchedVersion", defaultValue: 0) }
}

/// Keeps the objects of one type and a web service in step. The app parks what the user changes with the status
/// `.notSynced`, and calls ``send()`` and ``fetch()`` now and then, one after the other.
struct Synchronizer<Item: Codable & Identifiable & Syncable & Sendable>: Sendable where Item.ID == UUID {
  let garage: Garage
  let service: any WebService

  /// To be called after launch: what was on its way when the app ended has to be sent again.
  func recover() throws {
    try garage.write { writer in
      try writer.setSyncStatus(.notSynced, for: writer.retrieveAll(Item.self, withStatus: .syncing))
    }
  }

  /// Sends what waits. Without a connection it waits for the next call.
  func send() async throws {
    let waiting = try await garage.write { writer in
      let waiting = try writer.retrieveAll(Item.self, withStatus: .notSynced)
      try writer.setSyncStatus(.syncing, for: waiting)
      return waiting
    }
    do {
      for item in waiting {
        try await service.put(JSONEncoder().encode(item), id: item.id)
        try markAsSent(item)
      }
    } catch {
      try recover()
      throw error
    }
  }

  private func markAsSent(_ item: Item) throws {
    try garage.write { writer in
      // What the user has changed meanwhile is `.notSynced` again, and what was deleted has no status.
      guard let present = try writer.retrieve(Item.self, identifier: item.id) else { return }
      if present.syncStatus == .syncing { try writer.setSyncStatus(.synced, for: present) }
    }
  }

  /// Takes over what others have changed. What waits here to be sent is newer, and stays.
  func fetch() async throws {
    let (bodies, version) = try await service.changes(since: garage.get(.fetchedVersion))
    let items = try bodies.map { try JSONDecoder().decode(Item.self, from: $0) }
    // The objects and how far we are: both or neither.
    try await garage.write { writer in
      for var item in items {
        let present = try writer.retrieve(Item.self, identifier: item.id)
        guard present == nil || present?.syncStatus == .synced else { continue }
        item.syncStatus = .synced
        try writer.park(item)
      }
      try writer.set(.fetchedVersion, value: version)
    }
  }
}
