import Foundation
import GarageDriver
import GarageLMDB
import GarageMemory
import GarageSQLite
import GarageStorage
import Testing

/// `backup` makes another store of one state, while others write, and leaves nothing where it ends early. `compact` gives
/// room back and loses nothing.
@Suite struct BackupTests {
  private struct Stop: Error {}

  static let backends = Backend.durable.filter { !$0.isPostgres }
  private static let withSealed: [Backend] = [.sqlite, .lmdb, .sealedSQLite]

  /// What a backup made, opened as the store that it is of.
  private func open(_ place: Place, _ name: String) throws -> any StorageDriver {
    let copy = try Place(place.backend)
    try FileManager.default.moveItem(at: place.folder.appending(path: name), to: copy.storePath)
    return try copy.open()
  }

  private func fill(_ garage: Garage, _ count: Int = 6000) throws {
    try garage.parkAll((0..<count).map { Counter(id: $0) })
  }

  @Test(arguments: backends, [false, true])
  func aCopyHoldsTheSame(_ backend: Backend, compacting: Bool) throws {
    let store = try CareStore(backend)
    var calls: [CareProgress] = []
    try store.garage.backup(to: store.place.folder.appending(path: "copy"), compacting: compacting) {
      calls.append($0)
    }
    let last = try #require(calls.last)
    #expect(last.completedUnitCount == last.totalUnitCount)
    #expect(
      try Set(FileManager.default.contentsOfDirectory(atPath: store.place.folder.path)).isSuperset(of: [
        "copy"
      ]))
    #expect(!FileManager.default.fileExists(atPath: store.place.folder.path + "/copy.partial"))
    let copy = try open(store.place, "copy")
    #expect(try Driver.contents(copy) == Driver.contents(store.driver))
    let garage = try Garage(copy, types: [Dog.self, Puppy.self])
    #expect(try garage.verify().findings.isEmpty)
    // It is a store like any other.
    try garage.park(Counter(id: 1))
    #expect(try garage.count(Counter.self) == 1 && garage.get(CareKeys.number) == 7)
  }

  /// Commits without a pause neither hold it up nor come in half.
  @Test(arguments: withSealed, [false, true])
  func itEndsBesideAWriterWhoDoesNotRest(_ backend: Backend, compacting: Bool) async throws {
    let place = try Place(backend)
    let garage = try place.garage()
    try fill(garage)
    let writer = Task.detached {
      var value = 0
      while !Task.isCancelled {
        value += 1
        // Both always have the same value.
        try await garage.parkAll([Counter(id: 0, value: value), Counter(id: 5999, value: value)])
      }
      return value
    }
    while try here({ try garage.retrieve(Counter.self, identifier: 0)?.value == 0 }) {
      try await Task.sleep(for: .milliseconds(1))
    }
    for round in 0..<3 {
      try await garage.backup(to: place.folder.appending(path: "copy \(round)"), compacting: compacting)
      let copy = try Garage(open(place, "copy \(round)"))
      let ends = try [0, 5999].map { try copy.retrieve(Counter.self, identifier: $0)?.value }
      #expect(ends[0] == ends[1] && ends[0] != nil)
      #expect(try here { try copy.verify().findings.isEmpty && copy.count(Counter.self) == 6000 })
    }
    writer.cancel()
    _ = await writer.result
    #expect(try here { try garage.verify().findings.isEmpty })
  }

  @Test(arguments: withSealed)
  func whatIsThereIsLeftAsItIs(_ backend: Backend) throws {
    let store = try CareStore(backend)
    let target = store.place.folder.appending(path: "taken")
    try Data("mine".utf8).write(to: target)
    expectStorageError(.alreadyThere) { try store.garage.backup(to: target) }
    #expect(try Data(contentsOf: target) == Data("mine".utf8))
    #expect(!FileManager.default.fileExists(atPath: target.path + ".partial"))
    expectStorageError(.notFound) {
      try store.garage.backup(to: store.place.folder.appending(path: "none/copy"))
    }
    // A log that lies about would be taken for the copy's.
    if backend != .lmdb {
      try Data("log".utf8).write(to: store.place.folder.appending(path: "other-wal"))
      expectStorageError(.alreadyThere) {
        try store.garage.backup(to: store.place.folder.appending(path: "other"))
      }
    }
    // What an earlier process left of one is made anew.
    let partial = store.place.folder.appending(path: "copy.partial")
    try FileManager.default.createDirectory(
      at: partial.appending(path: "store"), withIntermediateDirectories: true)
    try Data("half".utf8).write(to: partial.appending(path: "store/data.mdb"))
    try Data().write(to: partial.appending(path: "lock"))
    try store.garage.backup(to: store.place.folder.appending(path: "copy"))
    #expect(!FileManager.default.fileExists(atPath: partial.path))
    #expect(try Driver.contents(open(store.place, "copy")) == Driver.contents(store.driver))
  }

  /// An empty folder gives way to a folder. Where a file is made it is in the way, and that is said before any work is done.
  @Test(arguments: withSealed)
  func anEmptyFolderIsInTheWayOfAFile(_ backend: Backend) throws {
    let store = try CareStore(backend)
    let folders = ["backup", "export"].map { store.place.folder.appending(path: $0) }
    for folder in folders {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    }
    var calls = 0
    if backend == .lmdb {
      try store.garage.backup(to: folders[0])
      #expect(FileManager.default.fileExists(atPath: folders[0].path + "/data.mdb"))
    } else {
      expectStorageError(.alreadyThere) { try store.garage.backup(to: folders[0]) { _ in calls += 1 } }
    }
    expectStorageError(.alreadyThere) { try store.garage.export(to: folders[1]) { _ in calls += 1 } }
    #expect(calls == 0)
    for folder in folders { #expect(!FileManager.default.fileExists(atPath: folder.path + ".partial")) }
  }

  /// Whoever could not read the store can read neither its copy nor what was exported.
  @Test(arguments: [Backend.sqlite, .sealedSQLite], [false, true])
  func itIsAsPrivateAsTheStore(_ backend: Backend, compacting: Bool) throws {
    let store = try CareStore(backend)
    func mode(_ url: URL) throws -> Int? {
      try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
    }
    for wanted in [0o600, 0o640, 0o644] {
      try FileManager.default.setAttributes(
        [.posixPermissions: wanted], ofItemAtPath: store.place.storePath.path)
      let copy = store.place.folder.appending(path: "copy \(wanted)")
      try store.garage.backup(to: copy, compacting: compacting)
      #expect(try mode(copy) == wanted)
    }
    let lines = store.place.folder.appending(path: "lines")
    try store.garage.export(to: lines)
    #expect(try mode(lines) == 0o600)
  }

  /// Ended by its callback, or with its task, at any point, it leaves nothing.
  @Test(arguments: withSealed, [false, true])
  func endedEarlyItLeavesNothing(_ backend: Backend, compacting: Bool) async throws {
    let place = try Place(backend)
    let garage = try place.garage()
    try fill(garage, 20_000)
    let before = try FileManager.default.contentsOfDirectory(atPath: place.folder.path)
    let target = place.folder.appending(path: "copy")
    for last in 1...3 {
      var calls = 0
      var isStopped = false
      do {
        try here {
          try garage.backup(to: target, compacting: compacting) { progress in
            calls += 1
            if calls == last { throw Stop() }
            #expect(progress.completedUnitCount <= progress.totalUnitCount)
          }
        }
      } catch is Stop { isStopped = true }
      // Small stores may be copied before anybody asks again.
      if isStopped {
        #expect(
          try FileManager.default.contentsOfDirectory(atPath: place.folder.path) == before, "call \(last)")
      } else {
        try FileManager.default.removeItem(at: target)
      }
      #expect(isStopped || last > 1)
    }
    let task = Task { try await garage.backup(to: target, compacting: compacting) }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(!FileManager.default.fileExists(atPath: target.path))
    try await garage.close()
    #expect(throws: GarageError.closed) { try garage.backup(to: target) }
  }

  @Test func whatIsInMemoryHasNoFileToCopy() throws {
    let store = try CareStore(.memory)
    expectStorageError(.notSupported) {
      try store.garage.backup(to: store.place.folder.appending(path: "copy"))
    }
    #expect(try store.garage.compact() == CompactionResult(byteCountBefore: 0, byteCountAfter: 0))
  }

  /// Inside a transaction SQLite copies the last commit; LMDB would wait for the writer that asks.
  @Test(arguments: [Backend.sqlite, .lmdb])
  func insideATransaction(_ backend: Backend) throws {
    let store = try CareStore(backend)
    let target = store.place.folder.appending(path: "copy")
    try store.garage.read { _ in try store.garage.backup(to: target) }
    #expect(try Driver.contents(open(store.place, "copy")) == Driver.contents(store.driver))
    try store.garage.write { writer in
      try writer.park(Counter(id: 1))
      if backend == .lmdb {
        #expect(throws: GarageError.nestedWrite) { try store.garage.backup(to: target) }
      } else {
        try store.garage.backup(to: target)
      }
      #expect(throws: GarageError.nestedWrite) { try store.garage.compact() }
    }
    if backend == .sqlite { #expect(try Garage(open(store.place, "copy")).count(Counter.self) == 0) }
  }

  @Test(arguments: backends)
  func compactingLosesNothing(_ backend: Backend) async throws {
    let place = try Place(backend)
    let driver = try place.open()
    let garage = try Garage(driver)
    for start in stride(from: 0, to: 20_000, by: 2000) {
      try await garage.parkAll(
        (start..<(start + 2000)).map { Letter(id: $0, text: String(repeating: "x\($0) ", count: 40)) })
    }
    try here {
      try garage.write { writer in
        for id in 0..<20_000 where id % 10 != 0 { try writer.delete(Letter.self, identifier: id) }
      }
    }
    let contents = try Driver.contents(driver)
    let result = try await garage.compact()
    #expect(result.byteCountAfter < result.byteCountBefore / 2, "\(result)")
    #expect(try Driver.contents(driver) == contents)
    #expect(try here { try garage.verify().findings.isEmpty })
    // And it goes on as before.
    try await garage.parkAll((0..<3000).map { Letter(id: $0, text: "new") })
    #expect(try here { try garage.verify().findings.isEmpty })
    try await garage.close()
    let again = try place.garage()
    #expect(try here { try again.verify().findings.isEmpty })
    #expect(try here { try again.retrieve(Letter.self, identifier: 2999)?.text == "new" })
  }

  /// Readers of an older state read on, before, during and after.
  @Test(arguments: [Backend.sqlite, .lmdb])
  func compactingUnderAReader(_ backend: Backend) throws {
    let place = try Place(backend)
    let garage = try place.garage()
    try garage.parkAll((0..<5000).map { Letter(id: $0, text: String(repeating: "\($0) ", count: 50)) })
    try garage.read { reader in
      let writer = Thread {
        try? garage.deleteAll(Letter.self)
        try? garage.parkAll((0..<100).map { Letter(id: $0, text: "after") })
        _ = try? garage.compact()
        try? garage.parkAll((100..<3000).map { Letter(id: $0, text: "after that") })
        _ = try? garage.compact()
      }
      writer.start()
      while !writer.isFinished {
        for id in stride(from: 0, to: 5000, by: 97) {
          let text = try reader.retrieve(Letter.self, identifier: id)?.text
          #expect(text == String(repeating: "\(id) ", count: 50))
        }
      }
    }
    #expect(try garage.count(Letter.self) == 3000)
    #expect(try garage.verify().findings.isEmpty)
  }

  @Test(arguments: [Backend.sqlite, .lmdb])
  func whatOnlyReadsDoesNotCompact(_ backend: Backend) throws {
    let store = try CareStore(backend)
    let reading = try Garage(store.place.open(readOnly: true))
    expectStorageError(.readOnly) { try reading.compact() }
    try reading.backup(to: store.place.folder.appending(path: "copy"))
    #expect(try Driver.contents(open(store.place, "copy")) == Driver.contents(store.driver))
    struct Enough: Error {}
    #expect(throws: Enough.self) {
      try store.garage.parkAll((0..<20_000).map { Letter(id: $0, text: "some") })
      try store.garage.deleteAll(Letter.self)
      try store.garage.compact { _ in throw Enough() }
    }
    #expect(try store.garage.verify().findings.isEmpty)
  }
}

/// Text of any size.
struct Letter: Codable, Identifiable, Equatable {
  var id: Int
  var text: String
}

/// Expects an error of the storage, of this kind.
func expectStorageError(
  _ kind: StorageError.Kind, _ body: () throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
) {
  do {
    try body()
    Issue.record("no error", sourceLocation: sourceLocation)
  } catch GarageError.storage(let error) {
    #expect(error.kind == kind, "\(error)", sourceLocation: sourceLocation)
    #expect(error.message.count > 20, sourceLocation: sourceLocation)
  } catch {
    Issue.record("\(error)", sourceLocation: sourceLocation)
  }
}
