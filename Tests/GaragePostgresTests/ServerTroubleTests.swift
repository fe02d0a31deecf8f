import Foundation
import GarageDriver
import GaragePostgres
import GarageStorage
import Synchronization
import Testing

/// Servers that are killed, full, crowded, silent, slow, strict or old: each time a clear error, and all goes on when the
/// server does.
@Suite(.serialized, .enabled(if: OwnServer.isPossible)) struct ServerTroubleTests {
  private struct Receipt: Codable, Identifiable {
    var id: Int
  }

  private func put(_ storage: PostgreSQLStorage, _ name: String, _ value: [UInt8] = [1]) throws {
    try storage.write { transaction in
      try transaction.put(value, for: key(name))
      return .commit(())
    }
  }

  private func get(_ storage: PostgreSQLStorage, _ name: String) throws -> [UInt8]? {
    try storage.read { try $0.value(for: key(name)) }
  }

  private func error(_ body: () throws -> Void) -> StorageError? {
    do { try body() } catch { return error as? StorageError }
    return nil
  }

  /// Killed with -9 under load, and started again: what was acknowledged is there, what was refused is not, and who parks
  /// goes on by himself.
  @Test func aKilledServerLosesNothing() throws {
    let server = try OwnServer()
    defer { server.stop() }
    let name = Server.newName()
    let garages = try (0..<2).map { _ in try Garage(server.open(name)) }
    let next = Atomic<Int>(0)
    let acknowledgedCount = Atomic<Int>(0)
    let isOver = Atomic<Bool>(false)
    let acknowledged = Mutex<[Int]>([])
    let refused = Mutex<[Int]>([])
    let group = DispatchGroup()
    for thread in 0..<6 {
      group.enter()
      Thread.detachNewThread {
        defer { group.leave() }
        while !isOver.load(ordering: .sequentiallyConsistent) {
          let id = next.add(1, ordering: .sequentiallyConsistent).oldValue
          do {
            try garages[thread % 2].park(Receipt(id: id))
            acknowledged.withLock { $0.append(id) }
            acknowledgedCount.add(1, ordering: .sequentiallyConsistent)
          } catch {
            let error = error as? GarageError
            #expect(error?.isRetryable == true, "\(String(describing: error))")
            refused.withLock { $0.append(id) }
          }
        }
      }
    }
    for _ in 0..<(runsLongTests ? 20 : 3) {
      let before = acknowledgedCount.load(ordering: .sequentiallyConsistent)
      let end = ContinuousClock.now + .seconds(60)
      while acknowledgedCount.load(ordering: .sequentiallyConsistent) < before + 50 {
        if ContinuousClock.now > end { break }
        usleep(10_000)
      }
      #expect(acknowledgedCount.load(ordering: .sequentiallyConsistent) >= before + 50)
      try server.kill()
      try server.start()
    }
    isOver.store(true, ordering: .sequentiallyConsistent)
    group.wait()
    let there = try Set(garages[0].retrieveAll(Receipt.self).map(\.id))
    #expect(acknowledged.withLock(\.self).allSatisfy { there.contains($0) })
    #expect(refused.withLock(\.self).allSatisfy { !there.contains($0) })
    #expect(try garages[1].verify().findings.isEmpty)
  }

  @Test func aRestartedServerIsUsedAgain() throws {
    let server = try OwnServer()
    defer { server.stop() }
    for writers in PostgreSQLStorage.Options.Writers.allCases {
      let storage = try server.open { $0.writers = writers }
      try put(storage, "a")
      try storage.read { _ in
        try server.kill()
        try server.start()
      }
      // Once a connection that rested may turn out to be lost.
      var tries = 0
      while true {
        tries += 1
        do {
          try put(storage, "b")
          break
        } catch let error as StorageError where error.isRetryable && tries < 5 {
          #expect(error.kind == .disconnected, "\(error)")
        }
      }
      #expect(try storage.read { try $0.contains(key("a")) && $0.contains(key("b")) })
      let error = error {
        try storage.write { transaction in
          _ = try transaction.value(for: key("a"))
          try server.kill()
          try server.start()
          try transaction.put([2], for: key("a"))
          return .commit(())
        }
      }
      #expect(error?.kind == .disconnected)
      #expect(try get(storage, "a") == [1])
    }
  }

  /// Connections that the server has ended while they rested are not used any more, however many there are.
  @Test(arguments: PostgreSQLStorage.Options.Writers.allCases)
  func connectionsThatWereEndedAtRestAreLeft(_ writers: PostgreSQLStorage.Options.Writers) throws {
    let server = try OwnServer(["fsync=off"])
    defer { server.stop() }
    let storage = try server.open { $0.writers = writers }
    try put(storage, "a")
    func descend(_ depth: Int) throws { if depth > 0 { try storage.read { _ in try descend(depth - 1) } } }
    func endAll() throws {
      try descend(14)
      try server.sql(
        """
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'Garage' AND pid <> pg_backend_pid()
        """)
      usleep(300_000)
    }
    try endAll()
    // None of these is made again by somebody else.
    try put(storage, "b", [2])
    try endAll()
    #expect(try storage.deferredRead { try $0.value(for: key("b")) } == [2])
    try endAll()
    #expect(try get(storage, "b") == [2])
  }

  /// A server that takes no more connections says so, to who opens and to who nests, and those that there are go on.
  @Test func aCrowdedServerSaysSo() throws {
    let server = try OwnServer(["max_connections=8", "superuser_reserved_connections=0"])
    defer { server.stop() }
    let name = Server.newName()
    let storage = try server.open(name)
    try put(storage, "a")
    var deepest = 0
    func descend(_ depth: Int) throws {
      deepest = depth
      try storage.read { transaction in
        #expect(try transaction.contains(key("a")))
        let opening = depth == 8 ? error { _ = try server.open(name) } : nil
        if depth == 8 { #expect(opening?.kind == .readersFull, "\(String(describing: opening))") }
        try descend(depth + 1)
      }
    }
    let crowded = error { try descend(1) }
    #expect(crowded?.kind == .readersFull, "\(String(describing: crowded))")
    #expect(crowded?.message.contains("max_connections") == true)
    #expect(deepest == 9)
    try put(storage, "b")
    // It keeps the connections for later.
    try storage.close()
    usleep(200_000)
    #expect(try server.open(name).read { try $0.contains(key("b")) })
  }

  /// A server that hangs is not waited for without end: reading ends, and of a commit it is told that nobody knows. It is
  /// used again when it goes on.
  @Test(arguments: PostgreSQLStorage.Options.Writers.allCases)
  func aSilentServerIsGivenUp(_ writers: PostgreSQLStorage.Options.Writers) throws {
    let server = try OwnServer()
    defer { server.stop() }
    let name = Server.newName()
    let storage = try server.open(name) {
      $0.writers = writers
      $0.answerTimeout = .seconds(1)
      $0.resolveTimeout = .seconds(1)
      $0.connectTimeout = .seconds(1)
    }
    try put(storage, "a")
    let reading = error {
      try storage.read { transaction in
        try server.pause()
        _ = try transaction.value(for: key("a"))
      }
    }
    #expect(reading?.kind == .disconnected && reading?.message.contains("did not answer") == true)
    let opening = error { _ = try server.open(name) { $0.connectTimeout = .seconds(1) } }
    #expect(opening?.kind == .disconnected)
    try server.resume()
    try put(storage, "b")
    let committing = error {
      try storage.write { transaction in
        _ = try transaction.value(for: key("b"))
        try transaction.put([3], for: key("b"))
        try server.pause()
        return .commit(())
      }
    }
    #expect(committing?.kind == .outcomeUnknown && committing?.isRetryable == false)
    try server.resume()
    // The commit had arrived, or it never will.
    try put(storage, "c")
    let value = try get(storage, "b")
    usleep(200_000)
    #expect(try get(storage, "b") == value && [[1], [3]].contains(value))
  }

  /// Milliseconds for each message: everything is right, and takes as many trips as without them.
  @Test func aSlowServerIsWaitedFor() throws {
    let proxy = try CuttingProxy(before: Server.port(), delay: .milliseconds(5))
    defer { proxy.close() }
    let storage = try Server.open(Server.newName(), port: proxy.port)
    let garage = try Garage(storage)
    try garage.park(Receipt(id: 0))
    let before = storage.roundTripCount
    try garage.park(Receipt(id: 1))
    #expect(storage.roundTripCount - before <= 2)
    try garage.parkAll((2..<500).map { Receipt(id: $0) })
    #expect(try garage.retrieveAll(Receipt.self).count == 500)
    #expect(try garage.verify().findings.isEmpty)
    try garage.close()
  }

  /// What another transaction holds is waited for as long as the options say; one whose client was cut off ends.
  @Test func aTransactionLeftOpenHoldsNobodyUp() throws {
    let server = try OwnServer()
    defer { server.stop() }
    let name = Server.newName()
    let storage = try server.open(name)
    let hasty = try server.open(name) { $0.lockTimeout = .milliseconds(200) }
    try put(storage, "a")
    let abandoned = error {
      try storage.write { transaction in
        try transaction.put([2], for: key("a"))
        // What was put is sent before this.
        try transaction.scanKeys(.all, .forward) { _ in .continue }
        let waiting = error { try inThreads(1) { _ in try put(hasty, "a") } }
        #expect(waiting?.kind == .busy && waiting?.isRetryable == true, "\(String(describing: waiting))")
        try server.sql(
          """
          SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE state = 'idle in transaction' AND pid <> pg_backend_pid()
          """)
        try inThreads(1) { _ in
          while let error = error({ try put(hasty, "a") }), error.isRetryable { usleep(10_000) }
        }
        return .commit(())
      }
    }
    #expect(abandoned?.kind == .disconnected, "\(String(describing: abandoned))")
    #expect(try get(storage, "a") == [1])
  }

  /// Wrong passwords, none, roles without rights: what is to be done, and no word of the password.
  @Test func aStrictServerRefusesClearly() throws {
    let server = try OwnServer()
    defer { server.stop() }
    let (name, secret) = (Server.newName(), "hunter2secret")
    try server.sql("CREATE ROLE app LOGIN PASSWORD '\(secret)'")
    try server.askForPassword(of: "app")
    for password in [nil, "wrong" + secret] {
      let refused = error { _ = try server.open(name, user: "app", password: password) }
      #expect(refused?.kind == .permissionDenied, "\(String(describing: refused))")
      #expect(refused?.isRetryable == false && refused?.message.contains(secret) == false)
    }
    try server.sql("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
    let making = error { _ = try server.open(name, user: "app", password: secret) }
    #expect(making?.kind == .permissionDenied && making?.operation == .open)
    // Where the tables are, no right to make some is needed.
    try put(server.open(name), "a")
    try server.sql("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO app")
    let storage = try server.open(name, user: "app", password: secret)
    try put(storage, "b", [UInt8](repeating: 1, count: 2 << 20))
    try put(storage, "b")
    #expect(try get(storage, "a") == [1] && get(storage, "b") == [1])
    try server.sql("REVOKE INSERT, UPDATE ON ALL TABLES IN SCHEMA public FROM app")
    #expect(error { try put(storage, "c") }?.kind == .permissionDenied)
    #expect(try get(storage, "a") == [1])
  }

  /// A server that is too old, a store of a later version, and tables that are none of ours.
  @Test func whatIsNotKnownIsLeftAlone() throws {
    let server = try OwnServer()
    defer { server.stop() }
    let name = Server.newName()
    try put(server.open(name), "a")
    try server.sql("UPDATE \"\(name)_store\" SET version = 99")
    #expect(error { _ = try server.open(name) }?.kind == .newerFormat)
    try server.sql("UPDATE \"\(name)_store\" SET version = 1; ALTER TABLE \"\(name)_kv\" RENAME TO elsewhere")
    #expect(error { _ = try server.open(name) }?.kind == .notAStorage)
    try server.sql("CREATE TABLE other_store (something int)")
    #expect(error { _ = try server.open("other") }?.kind == .notAStorage)
    // As if it were version 11: what it says of itself is looked up in another schema first.
    try server.sql(
      """
      CREATE FUNCTION public.current_setting(text) RETURNS text LANGUAGE sql AS
      $$ SELECT CASE WHEN $1 = 'server_version_num' THEN '110005' ELSE pg_catalog.current_setting($1) END $$;
      ALTER ROLE garage SET search_path = public, pg_catalog
      """)
    let old = error { _ = try server.open() }
    #expect(old?.kind == .engine && old?.message.contains("version 11") == true, "\(String(describing: old))")
  }

  /// A full disk is told; what was there stays, and the storage is used again when there is room.
  @Test(.enabled(if: SmallDisk.isPossible)) func aFullDiskIsTold() throws {
    let disk = try SmallDisk(mebibytes: 96)
    defer { disk.remove() }
    let log = FileManager.default.temporaryDirectory.appending(path: "garage-log-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: log) }
    do {
      let server = try OwnServer(["autovacuum=off"], in: disk.folder.appending(path: "server"), log: log)
      defer { server.stop() }
      let garage = try Garage(server.open())
      try garage.park(Receipt(id: -1))
      let ballast = disk.folder.appending(path: "ballast")
      var status = statvfs()
      #expect(statvfs(disk.folder.path, &status) == 0)
      // By a process of its own: of a file that is open here, a server that another test starts at that moment would keep
      // a handle, and with it the room.
      let byteCount = max(0, Int(status.f_bavail) * Int(status.f_frsize) - (4 << 20))
      #expect(system("head -c \(byteCount) /dev/zero >'\(ballast.path)'") == 0)
      var full: GarageError?
      for round in 0..<200 where full == nil {
        do { try garage.parkAll((0..<2000).map { Receipt(id: round * 2000 + $0) }) } catch {
          full = error as? GarageError
        }
      }
      guard case .storage(let error)? = full else {
        Issue.record("\(String(describing: full))")
        return
      }
      #expect(error.kind == .storageFull && !error.isRetryable, "\(error)")
      #expect(try garage.retrieve(Receipt.self, identifier: -1) != nil)
      #expect(try garage.verify().findings.isEmpty)
      try FileManager.default.removeItem(at: ballast)
      try garage.parkAll((0..<2000).map { Receipt(id: 1_000_000 + $0) })
      #expect(try garage.contains(Receipt.self, identifier: 1_000_000))
      try garage.close()
    }
  }
}
