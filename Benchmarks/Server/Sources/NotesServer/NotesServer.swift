import ArgumentParser
import Foundation
import GarageLMDB
import GarageMemory
import GarageSQLite
import GarageStorage
import Hummingbird
import Logging
import Notes

/// Serves notes on loopback until it is ended.
@main
struct NotesServer: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "notes-server", abstract: "Serves notes: GET, POST, PUT and DELETE below /notes.")

  enum Store: String, CaseIterable, ExpressibleByArgument { case sqlite, lmdb, memory, grdb }

  @Option(help: "What keeps the notes.")
  var store = Store.sqlite

  @Option(help: ArgumentHelp("Where.", valueName: "folder"), completion: .directory)
  var folder = "notes"

  @Option(help: "The port on 127.0.0.1.")
  var port = 8080

  func run() async throws {
    let folder = URL(filePath: folder, directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    switch store {
    case .sqlite: try await serve(GarageNotes(Garage(SQLiteStorage(at: folder.appending(path: "garage")))))
    case .lmdb: try await serve(GarageNotes(Garage(LMDBStorage(at: folder.appending(path: "garage-lmdb")))))
    case .memory: try await serve(GarageNotes(Garage(MemoryStorage())))
    case .grdb: try await serve(GRDBNotes(at: folder.appending(path: "grdb.sqlite")))
    }
  }

  private func serve(_ store: some NoteStore) async throws {
    var logger = Logger(label: "notes")
    logger.logLevel = .warning
    let application = Application(
      router: noteRoutes(on: store), configuration: .init(address: .hostname("127.0.0.1", port: port)),
      logger: logger)
    try await application.runService()
  }
}
