import Foundation
import GarageDriver
import GaragePostgres
import PostgresStacks
import Testing

/// What the suite cannot know: servers, connections, round trips.
@Suite(.serialized) struct PostgresStorageTests {
  private func put(_ storage: PostgreSQLStorage, _ name: String, _ value: [UInt8] = [1]) throws {
    try storage.write { transaction in
      try transaction.put(value, for: key(name))
      return .commit(())
    }
  }

  /// Two spellings of one server's address lead to one store.
  @Test func theServerSaysWhichStoreItIs() throws {
    let name = Server.newName()
    let first = try Server.open(name)
    var options = PostgreSQLStorage.Options()
    options.name = name
    let components = try Server.components()
    let second = try PostgreSQLStorage(
      "host=\(components.host ?? "") port=\(components.port ?? 5432) user=\(components.user ?? "") "
        + "dbname=\(components.path.dropFirst())", options: options)
    try put(first, "a")
    try first.write { transaction in
      let error = #expect(throws: StorageError.self) { try put(second, "b") }
      #expect(error?.kind == .nestedWrite)
      return .commit(())
    }
    #expect(try second.read { try $0.contains(key("a")) })
  }

  @Test func roundTripsAreFew() throws {
    let storage = try Server.open(Server.newName())
    func count(_ body: () throws -> Void) throws -> Int {
      // A connection is there.
      try storage.read { _ in }
      let before = storage.roundTripCount
      try body()
      return storage.roundTripCount - before
    }
    #expect(try count { try put(storage, "a") } == 1)
    #expect(try count { try storage.read { _ = try $0.value(for: key("a")) } } == 2)
    let update = try count {
      try storage.write { transaction in
        let value = try transaction.value(for: key("a")) ?? []
        try transaction.put(value + [2], for: key("a"))
        return .commit(())
      }
    }
    #expect(update == 2)
    let many = try count {
      try storage.write { transaction in
        for number in 0..<1900 { try transaction.put([1], for: key("many-\(number)")) }
        return .commit(())
      }
    }
    #expect(many == 1)
    let scan = try count {
      try storage.read { transaction in
        var count = 0
        try transaction.scan(.prefix([UInt8]("many".utf8)), .forward) { _, _ in
          count += 1
          return .continue
        }
        #expect(count == 1900)
      }
    }
    // 64, 256, 1024, and the rest.
    #expect(scan == 5)
    let gets = try count {
      try storage.read { transaction in
        try transaction.withValues(for: (0..<1900).map { key("many-\($0)") }) { _, value in
          #expect(value?.byteCount == 1)
        }
      }
    }
    #expect(gets == 2)
    #expect(try count { try storage.write { _ in .commit(()) } } == 0)
  }

  /// A deferred read is one state, that of its first operation, and one trip.
  @Test(arguments: PostgreSQLStorage.Options.Writers.allCases)
  func deferredReadsAreOneStateAndOneTrip(_ writers: PostgreSQLStorage.Options.Writers) throws {
    let storage = try Server.open(Server.newName(), writers)
    try put(storage, "a")
    try put(storage, "b")
    let before = storage.roundTripCount
    #expect(try storage.deferredRead { try $0.value(for: key("a")) } == [1])
    #expect(storage.roundTripCount - before == 1)
    try storage.deferredRead { transaction in
      try inThreads(1) { _ in try put(storage, "a", [2]) }
      #expect(try transaction.value(for: key("a")) == [2])
      try inThreads(1) { _ in try put(storage, "b", [3]) }
      #expect(try transaction.value(for: key("b")) == [1])
      #expect(try storage.deferredRead { try $0.value(for: key("b")) } == [3])
    }
    // Nothing is asked, and nothing is left behind on the connection.
    for _ in 0..<3 { try storage.deferredRead { _ in } }
    struct Stop: Error {}
    #expect(throws: Stop.self) { try storage.deferredRead { _ in throw Stop() } }
    try put(storage, "c")
    #expect(try storage.deferredRead { try $0.contains(key("c")) })
  }

  @Test func errorsSayWhatToDoAndNoPassword() throws {
    func error(_ url: String, _ change: (inout PostgreSQLStorage.Options) -> Void = { _ in }) -> StorageError?
    {
      var options = PostgreSQLStorage.Options()
      options.name = Server.newName()
      options.connectTimeout = .seconds(3)
      change(&options)
      do {
        _ = try PostgreSQLStorage(url, options: options)
        return nil
      } catch { return error as? StorageError }
    }
    let secret = "hunter2secret"
    let nobody = error("postgresql://garage:\(secret)@127.0.0.1:1/postgres")
    #expect(nobody?.kind == .disconnected)
    #expect(nobody?.isRetryable == true)
    let noDatabase = error(try Server.url(database: "no_such_database"))
    #expect(noDatabase?.kind == .notFound)
    let noURL = error("postgresql://garage:\(secret)@:::::/%zz")
    #expect(noURL?.kind == .notFound)
    let noName = error(try Server.url()) { $0.name = "" }
    #expect(noName?.kind == .notFound)
    let longName = error(try Server.url()) { $0.name = String(repeating: "n", count: 60) }
    #expect(longName?.kind == .notFound)
    for each in [nobody, noDatabase, noURL, noName, longName] {
      #expect(each?.message.contains(secret) == false)
      #expect(each?.operation == .open)
      #expect((each?.message.count ?? 0) > 30)
    }
  }

  /// Names that SQL would take apart are names.
  @Test func anyNameIsAName() throws {
    for name in [
      "gt_quoted\"name", "gt_Ünïcode", "gt_with space; DROP TABLE x", "gt_'", "gt_$body$", "gt_$body_$body$",
      "gt_$$",
    ] {
      let storage = try Server.open(name)
      try put(storage, "a")
      #expect(try storage.read { try $0.contains(key("a")) })
      try storage.close()
    }
  }

  /// Where the store's own limit of connections is reached, a thread that has none waits, and is served.
  @Test func threadsWaitForConnections() throws {
    var options = PostgreSQLStorage.Options()
    options.name = Server.newName()
    options.maximumConnectionCount = 2
    let storage = try PostgreSQLStorage(Server.url(), options: options)
    try inThreads(12) { number in
      for round in 0..<5 { try put(storage, "\(number)-\(round)") }
      // More than there are, on a thread that holds one: served all the same.
      try storage.read { _ in try storage.read { _ in try storage.read { _ in } } }
    }
    var count = 0
    try storage.read {
      try $0.scanKeys(.all, .forward) { _ in
        count += 1; return .continue
      }
    }
    #expect(count == 60)
    options.lockTimeout = .milliseconds(200)
    let hasty = try PostgreSQLStorage(Server.url(), options: options)
    _ = try hasty.read { _ in
      _ = try hasty.read { _ in
        #expect(throws: StorageError.self) { try inThreads(1) { _ in _ = try hasty.read { _ in } } }
      }
    }
  }

  /// Times that cannot be meant are taken as far as they can be.
  @Test(arguments: [Int64.max, Int64.max / 1000, 3_000_000])
  func timesAreBounded(_ seconds: Int64) throws {
    var options = PostgreSQLStorage.Options()
    options.name = Server.newName()
    options.maximumConnectionCount = 1
    options.lockTimeout = .seconds(seconds)
    options.connectTimeout = .seconds(seconds)
    options.answerTimeout = .seconds(seconds)
    options.resolveTimeout = .seconds(seconds)
    let storage = try PostgreSQLStorage(Server.url(), options: options)
    // One waits for the other.
    try inThreads(2) { number in for round in 0..<20 { try put(storage, "\(number)-\(round)") } }
    options.lockTimeout = .seconds(-seconds)
    try put(PostgreSQLStorage(Server.url(), options: options), "negative")
  }

  /// A value is replaced by a smaller one, or removed: nothing of it is left.
  @Test func piecesGoWithTheirValue() throws {
    let storage = try Server.open(Server.newName())
    let large = [UInt8](repeating: 7, count: 3 << 20)
    for value in [large, [1], large + [8], large] {
      try put(storage, "a", value)
      #expect(try storage.read { try $0.value(for: key("a")) } == value)
    }
    try storage.write { transaction in
      try transaction.remove(key("a"))
      return .commit(())
    }
    #expect(try storage.read { try $0.value(for: key("a")) } == nil)
  }
}

/// Runs `body` on that many threads at a time, and throws the first error.
func inThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
  let errors = Errors()
  let group = DispatchGroup()
  for number in 0..<count {
    group.enter()
    Thread.detachNewThread {
      do { try body(number) } catch { errors.add(error) }
      group.leave()
    }
  }
  group.wait()
  if let error = errors.first { throw error }
}

private final class Errors: @unchecked Sendable {
  // @unchecked: guarded by the lock.
  private let lock = NSLock()
  private var all: [any Error] = []
  var first: (any Error)? { lock.withLock { all.first } }
  func add(_ error: any Error) { lock.withLock { all.append(error) } }
}
