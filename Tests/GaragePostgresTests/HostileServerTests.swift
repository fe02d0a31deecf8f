import Foundation
import GarageDriver
import GaragePostgres
import GarageStorage
import PostgresStacks
import Synchronization
import Testing

/// Roles, databases and administrators that others have set up otherwise than this library would: nothing goes elsewhere, nothing
/// is taken for lost, and what cannot be is said.
@Suite(.serialized, .enabled(if: OwnServer.isPossible)) struct HostileServerTests {
  private struct Receipt: Codable, Identifiable, Equatable {
    var id: Int
    var text = ""
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

  /// A little of everything, the second part in a store of its own.
  private func use(_ storage: PostgreSQLStorage, _ openAnother: () throws -> PostgreSQLStorage) throws {
    let large = (0..<(2 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    try put(storage, "large", large)
    #expect(try get(storage, "large") == large)
    let garage = try Garage(openAnother())
    try garage.parkAll((0..<5000).map { Receipt(id: $0, text: "\($0)") })
    #expect(try garage.retrieve(Receipt.self, identifier: 4321)?.text == "4321")
    #expect(try garage.retrieveAll(Receipt.self).count == 5000)
    try garage.delete(Receipt.self, identifier: 17)
    #expect(try garage.count(Receipt.self) == 4999)
    #expect(try garage.verify().findings.isEmpty)
  }

  /// What an administrator may set for a role or a database, against what the driver needs.
  @Test(arguments: PostgreSQLStorage.Options.Writers.allCases)
  func settingsOfTheRoleAreNotInTheWay(_ writers: PostgreSQLStorage.Options.Writers) throws {
    let server = try OwnServer(["fsync=off"])
    defer { server.stop() }
    try server.sql(
      """
      CREATE DATABASE strict TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C';
      """)
    for setting in [
      "statement_timeout = '1s'", "idle_in_transaction_session_timeout = '1s'", "lock_timeout = '1ms'",
      "default_transaction_isolation = 'repeatable read'", "default_transaction_read_only = on",
      "default_transaction_deferrable = on", "client_encoding = 'LATIN1'", "bytea_output = 'escape'",
      "standard_conforming_strings = off", "escape_string_warning = off", "enable_indexscan = off",
      "DateStyle = 'SQL, DMY'", "IntervalStyle = 'iso_8601'", "TimeZone = 'Asia/Kolkata'",
    ] { try server.sql("ALTER DATABASE strict SET \(setting)") }
    var options = PostgreSQLStorage.Options()
    options.name = "gärage \\"
    options.writers = writers
    let url = server.url().replacing("/postgres", with: "/strict")
    let storage = try PostgreSQLStorage(url, options: options)
    var others = options
    others.name += "2"
    try use(storage) { try PostgreSQLStorage(url, options: others) }
    // Longer than those time limits.
    try storage.write { transaction in
      try transaction.put([9], for: key("slow"))
      try transaction.scanKeys(.all, .forward) { _ in .continue }
      usleep(1_300_000)
      try transaction.put([8], for: key("slow"))
      return .commit(())
    }
    #expect(try get(storage, "slow") == [8])
    // A question on a connection of its own, under the same settings.
    let isFirst = Atomic<Bool>(true)
    let proxy = try CuttingProxy(before: server.port) {
      isFirst.exchange(false, ordering: .sequentiallyConsistent) ? .answer : .none
    }
    defer { proxy.close() }
    options.resolveTimeout = .seconds(3)
    let behind = try PostgreSQLStorage(
      url.replacing(":\(server.port)", with: ":\(proxy.port)"), options: options)
    #expect(error { try put(behind, "cut") } == nil)
    #expect(proxy.counts[.answer] == 1)
    #expect(try get(storage, "cut") == [1])
  }

  /// A database that knows no encoding, and one with texts ordered by a language.
  @Test func encodingsDoNotMatter() throws {
    let server = try OwnServer(["fsync=off"])
    defer { server.stop() }
    for (number, encoding) in ["SQL_ASCII", "LATIN1", "EUC_JP", "UTF8"].enumerated() {
      try server.sql(
        "CREATE DATABASE d\(number) TEMPLATE template0 ENCODING '\(encoding)' LC_COLLATE 'C' LC_CTYPE 'C'")
      let url = server.url().replacing("/postgres", with: "/d\(number)")
      let storage = try PostgreSQLStorage(url)
      for byte in UInt8.min...UInt8.max {
        try storage.write { transaction in
          try transaction.put([byte, 0, byte], for: StorageKey([byte]))
          try transaction.put([byte], for: StorageKey([0, byte, 0]))
          return .commit(())
        }
      }
      var keys: [[UInt8]] = []
      try storage.read {
        try $0.scan(.all, .forward) { key, value in
          keys.append([UInt8](copying: key))
          let bytes = [UInt8](copying: value)
          #expect(bytes == (keys.last!.count == 1 ? [keys.last![0], 0, keys.last![0]] : [keys.last![1]]))
          return .continue
        }
      }
      #expect(keys.count == 512 && keys == keys.sorted { $0.lexicographicallyPrecedes($1) })
      var options = PostgreSQLStorage.Options()
      options.name = "other"
      try use(storage) { try PostgreSQLStorage(url, options: options) }
    }
  }

  /// Connections that are made later lead to the store that was opened, or are refused: also where the role's search path, or
  /// the tables, are others by then.
  @Test func laterConnectionsLeadToTheSameStore() throws {
    let server = try OwnServer(["fsync=off"])
    defer { server.stop() }
    let name = Server.newName()
    let storage = try server.open(name)
    try put(storage, "a")
    try server.sql("CREATE SCHEMA other; ALTER ROLE garage SET search_path = other")
    let other = try server.open(name) { $0.writers = .one }
    try put(other, "b")
    // The first connection is in use: another one is made.
    try storage.read { _ in
      let nested = error { _ = try get(storage, "a") }
      #expect(nested?.kind == .notFound && nested?.isRetryable == false, "\(String(describing: nested))")
    }
    #expect(try get(storage, "a") == [1] && get(storage, "b") == nil)
    // Where the lost answer would be asked for in the other one, it is not known what became of the commit.
    let isFirst = Atomic<Bool>(true)
    try server.sql("ALTER ROLE garage RESET search_path")
    let proxy = try CuttingProxy(before: server.port) {
      isFirst.exchange(false, ordering: .sequentiallyConsistent) ? .answer : .none
    }
    defer { proxy.close() }
    var options = PostgreSQLStorage.Options()
    options.name = name
    options.resolveTimeout = .milliseconds(500)
    let behind = try PostgreSQLStorage(
      "postgresql://garage@127.0.0.1:\(proxy.port)/postgres", options: options)
    try server.sql("ALTER ROLE garage SET search_path = other")
    #expect(error { try put(behind, "c") }?.kind == .outcomeUnknown)
    try server.sql("ALTER ROLE garage RESET search_path")
    #expect(try get(storage, "c") == [1])
    // Dropped, and made anew by somebody else.
    try server.sql(
      "DROP TABLE \"\(name)_kv\", \"\(name)_piece\", \"\(name)_token\", \"\(name)_store\"; DROP FUNCTION \"\(name)_sweep\""
    )
    #expect(error { try put(storage, "d") }?.kind == .notFound)
    let anew = try server.open(name)
    #expect(try get(anew, "a") == nil)
    try storage.read { _ in
      #expect(error { _ = try get(storage, "a") }?.kind == .notFound)
    }
  }

  /// Columns, indexes and statistics that come while the store is in use.
  @Test func tablesMayBeTouchedMeanwhile() throws {
    let server = try OwnServer(["fsync=off"])
    defer { server.stop() }
    let name = Server.newName()
    let storage = try server.open(name)
    try put(storage, "a")
    for (number, command) in [
      "ALTER TABLE \"\(name)_kv\" ADD COLUMN noted timestamptz DEFAULT now()",
      "CREATE INDEX ON \"\(name)_kv\" (ver)", "VACUUM FULL \"\(name)_kv\"", "ANALYZE",
      "REINDEX TABLE \"\(name)_kv\"", "ALTER TABLE \"\(name)_kv\" SET (fillfactor = 50)",
      "CLUSTER \"\(name)_kv\" USING \"\(name)_kv_pkey\"", "ALTER TABLE \"\(name)_kv\" DROP COLUMN noted",
    ].enumerated() {
      try server.sql(command)
      #expect(error { try put(storage, "\(number)", [UInt8(number)]) } == nil, "\(command)")
      #expect(try get(storage, "\(number)") == [UInt8(number)], "\(command)")
    }
    try use(storage) { try server.open() }
  }

  /// Sessions that an administrator ends, at any moment: what is told of each write is so.
  @Test func endedSessionsAreToldRightly() throws {
    let server = try OwnServer(["fsync=off"])
    defer { server.stop() }
    let name = Server.newName()
    let storage = try server.open(name)
    let isOver = Atomic<Bool>(false)
    let group = DispatchGroup()
    group.enter()
    Thread.detachNewThread {
      defer { group.leave() }
      while !isOver.load(ordering: .sequentiallyConsistent) {
        _ = try? server.sql(
          """
          SELECT CASE WHEN random() < 0.5 THEN pg_terminate_backend(pid) ELSE pg_cancel_backend(pid) END
          FROM pg_stat_activity WHERE application_name = 'Garage'
          """)
      }
    }
    var refusedCount = 0
    var number = 0
    // On a busy machine sessions are ended less often: then it takes more writes until one is.
    let wanted = runsLongTests ? 20_000 : 1500
    while number < wanted || refusedCount == 0 && number < 20 * wanted {
      defer { number += 1 }
      let refused = error {
        try storage.write { transaction in
          if number % 3 == 0 { _ = try transaction.value(for: key("\(number)")) }
          try transaction.put([1], for: key("\(number)"))
          return .commit(())
        }
      }
      if let refused {
        refusedCount += 1
        #expect(refused.isRetryable, "\(refused)")
      }
      var isThere: Bool?
      while isThere == nil {
        do { isThere = try storage.read { try $0.contains(key("\(number)")) } } catch let error
          as StorageError
        {
          #expect(error.isRetryable, "\(error)")
        }
      }
      #expect(isThere == (refused == nil), "\(number): \(String(describing: refused))")
    }
    isOver.store(true, ordering: .sequentiallyConsistent)
    group.wait()
    #expect(refusedCount > 0)
  }

  /// Of several hosts the first says nothing, as one whose machine is gone: the next one is asked.
  @Test func aSilentHostIsPassedOver() throws {
    let silent = try OwnServer(["fsync=off"])
    defer { silent.stop() }
    let server = try OwnServer(["fsync=off"])
    defer { server.stop() }
    let name = Server.newName()
    try put(server.open(name), "a")
    try silent.pause()
    defer { try? silent.resume() }
    for ending in ["connect_timeout=2", "target_session_attrs=read-write", "target_session_attrs=any"] {
      var options = PostgreSQLStorage.Options()
      options.name = name
      options.connectTimeout = .seconds(2)
      let url = "postgresql://garage@127.0.0.1:\(silent.port),127.0.0.1:\(server.port)/postgres?\(ending)"
      let storage = try PostgreSQLStorage(url, options: options)
      #expect(try get(storage, "a") == [1])
      // As words, too.
      let words = "host=127.0.0.1,127.0.0.1 port=\(silent.port),\(server.port) user=garage dbname=postgres"
      #expect(try get(PostgreSQLStorage(words, options: options), "a") == [1])
    }
  }

  /// Tokens of commits go after a day, also while a store stays open.
  @Test func oldTokensGo() throws {
    let server = try OwnServer(["fsync=off"])
    defer { server.stop() }
    let name = Server.newName()
    try server.open(name).close()
    func tokens(_ condition: String = "true") throws -> Int {
      try Int(
        server.sql("SELECT count(*) FROM \"\(name)_token\" WHERE \(condition)")
          .trimmingCharacters(in: .whitespacesAndNewlines)) ?? -1
    }
    let old = "int8send((extract(epoch FROM now()) * 1000)::int8 - 25 * 3600000 + n) || int8send(n)"
    let storage = try server.open(name)
    try server.sql("INSERT INTO \"\(name)_token\" SELECT \(old) FROM generate_series(1, 17000) AS n")
    for number in 0..<5000 { try put(storage, "\(number % 100)") }
    let day = "token < int8send((extract(epoch FROM now()) * 1000)::int8 - 24 * 3600000)"
    #expect(try tokens(day) == 0)
    // Those of the last day are all there.
    #expect(try tokens() == 5000)
  }

  /// A role that has nowhere to make tables is told so.
  @Test func aSearchPathOfNothingIsToldOf() throws {
    let server = try OwnServer(["fsync=off"])
    defer { server.stop() }
    try server.sql("ALTER ROLE garage SET search_path = nowhere")
    let nowhere = error { _ = try server.open() }
    #expect(nowhere?.kind == .notFound && nowhere?.message.contains("search_path") == true, "\(nowhere!)")
  }

  /// Names and passwords with all that URLs and `key=value` texts have a meaning for.
  @Test func unusualNamesAndPasswordsAreTaken() throws {
    let server = try OwnServer(["fsync=off"])
    defer { server.stop() }
    let (role, password, database) = ("Ro le'/@:?#ü", "p@ss:/?#[]%&= '\\\"ü", "da/ta?ba'se =ü")
    func sql(_ text: String) -> String { text.replacing("'", with: "''") }
    try server.sql(
      "SET standard_conforming_strings = on; CREATE ROLE \"\(role)\" LOGIN PASSWORD '\(sql(password))'")
    try server.sql("CREATE DATABASE \"\(database)\" OWNER \"\(role)\"")
    try server.askForPassword(of: "all")
    func escaped(_ text: String) -> String {
      text.addingPercentEncoding(withAllowedCharacters: .alphanumerics)!
    }
    func quoted(_ text: String) -> String {
      "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
    }
    let url =
      "postgresql://\(escaped(role)):\(escaped(password))@127.0.0.1:\(server.port)/\(escaped(database))"
    let words =
      "host=127.0.0.1 port=\(server.port) user=\(quoted(role)) password=\(quoted(password)) dbname=\(quoted(database))"
    try put(PostgreSQLStorage(url), "a")
    #expect(try get(PostgreSQLStorage(words), "a") == [1])
    let wrong = error { _ = try PostgreSQLStorage(url.replacing("\(escaped(password))@", with: "wr%40ng@")) }
    #expect(wrong?.kind == .permissionDenied && wrong?.message.contains("wr@ng") == false)
  }

  /// A commit that waits for a standby that is not there is not told as committed, though the server itself has it.
  @Test func whatNoStandbyHasIsNotAcknowledged() throws {
    let server = try OwnServer(["max_wal_senders=2", "wal_level=replica"])
    defer { server.stop() }
    let name = Server.newName()
    let storage = try server.open(name) {
      $0.answerTimeout = .seconds(1)
      $0.resolveTimeout = .seconds(3)
    }
    try put(storage, "a")
    try server.sql("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
    try server.sql("SELECT pg_reload_conf()")
    usleep(300_000)
    // The session that waits is ended by somebody: from then on the server shows what no standby has.
    let group = DispatchGroup()
    group.enter()
    Thread.detachNewThread {
      defer { group.leave() }
      for _ in 0..<20 {
        usleep(200_000)
        _ = try? server.sql(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
      }
    }
    let told = error { try put(storage, "b") }
    #expect(told?.kind == .outcomeUnknown && told?.isRetryable == false, "\(String(describing: told))")
    group.wait()
    #expect(try get(storage, "b") == [1])
  }
}
