import Foundation
import GarageLMDB
import GarageMemory
import GarageSQLite
import GarageStorage
import Hummingbird
import HummingbirdTesting
import Notes
import Testing

/// The interface does the same on every store.
@Suite struct NoteRouteTests {
  enum Store: CaseIterable { case memory, sqlite, lmdb, grdb }

  private func make(_ store: Store, at folder: URL) throws -> any NoteStore {
    switch store {
    case .memory: GarageNotes(try Garage(MemoryStorage()))
    case .sqlite: GarageNotes(try Garage(SQLiteStorage(at: folder.appending(path: "garage"))))
    case .lmdb: GarageNotes(try Garage(LMDBStorage(at: folder.appending(path: "lmdb"))))
    case .grdb: try GRDBNotes(at: folder.appending(path: "grdb.sqlite"))
    }
  }

  @Test(arguments: Store.allCases) func notesComeAndGo(_ store: Store) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "notes-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await trial(of: try make(store, at: folder))
  }

  private func trial(of store: some NoteStore) async throws {
    let application = Application(router: noteRoutes(on: store))
    try await application.test(.router) { client in
      let body = ByteBuffer(string: #"{"id": 7, "text": "milk"}"#)
      try await client.execute(uri: "/notes/7", method: .get) { #expect($0.status == .notFound) }
      try await client.execute(uri: "/notes", method: .post, body: body) { #expect($0.status == .created) }
      try await client.execute(uri: "/notes/7", method: .get) { response in
        let note = try JSONDecoder().decode(Note.self, from: Data(buffer: response.body))
        #expect(note == Note(id: 7, text: "milk"))
      }
      let other = ByteBuffer(string: #"{"id": 0, "text": "bread"}"#)
      try await client.execute(uri: "/notes/8", method: .put, body: other) { #expect($0.status == .ok) }
      try await client.execute(uri: "/notes", method: .get) { response in
        let notes = try JSONDecoder().decode([Note].self, from: Data(buffer: response.body))
        #expect(notes == [Note(id: 7, text: "milk"), Note(id: 8, text: "bread")])
      }
      try await client.execute(uri: "/notes/7", method: .delete) { #expect($0.status == .noContent) }
      try await client.execute(uri: "/notes/7", method: .delete) { #expect($0.status == .notFound) }
      try await client.execute(uri: "/notes/x", method: .get) { #expect($0.status == .badRequest) }
      let bad = ByteBuffer(string: "{}")
      try await client.execute(uri: "/notes", method: .post, body: bad) { #expect($0.status == .badRequest) }
    }
    #expect(try await store.notes() == [Note(id: 8, text: "bread")])
  }
}
