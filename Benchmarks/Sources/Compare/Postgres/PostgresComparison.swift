#if PostgreSQL
  import Foundation
  import GarageDriver
  import GaragePostgres
  import GarageStorage

  /// The garage on a PostgreSQL server beside plain SQL over the same libpq on the same server, in the same run: which moves
  /// the same keys and values, and codes nothing. And how often the garage waits for the server, as the driver counts it.
  struct PostgresComparison {
    let url: String
    let isWanted: (String) -> Bool

    /// Says all of them, as the name of a row for `--only`.
    static let allName = "postgresql"
    static let parkAll = "park 100k on a server"
    static let retrieveAll = "retrieveAll on a server"
    static let retrieve = "retrieve by id on a server"
    static let parkOne = "park one on a server"
    static let trips = "round trips"
    static func tasks(_ count: Int, slow: Bool) -> String {
      "park one on a server, \(count) tasks\(slow ? ", 3 ms commits" : "")"
    }
    static let sql = "plain SQL"
    static let must = "must"
    static let oneTask = "one task"
    static let names =
      [allName, parkAll, retrieveAll, retrieve, parkOne, trips]
      + [16, 64].flatMap { [tasks($0, slow: false), tasks($0, slow: true)] }
    private static let subject = "postgresql"
    private static let count = 100_000

    /// One store's tables, beside a table of plain SQL's.
    private let name = "garage_compare_\(getpid())"
    private var plain: String { "\(name)_plain" }

    func rows(_ rounds: Rounds) throws -> [ResultRow] {
      func wants(_ names: String...) -> Bool { names.contains { isWanted(Self.allName) || isWanted($0) } }
      let sql = try PlainSQL(url)
      defer { try? drop(sql) }
      var samples = Samples()
      var rows: [ResultRow] = []
      if wants(Self.parkAll, Self.retrieveAll, Self.retrieve, Self.parkOne) {
        let people = Person.make(Self.count, seed: 4)
        try rounds.run("on a server") { round in
          samples.beginRound()
          try measure(people, sql, round, &samples)
        }
        rows += [Self.parkAll, Self.retrieveAll, Self.retrieve, Self.parkOne].compactMap {
          ResultRow($0, Self.subject, Self.sql, samples)
        }
      }
      for slow in [false, true] where wants(Self.tasks(16, slow: slow), Self.tasks(64, slow: slow)) {
        try rounds.run("tasks on a server") { _ in
          samples.beginRound()
          try measureTasks(slow: slow, sql, &samples)
        }
        rows += [16, 64].compactMap {
          ResultRow(
            Self.tasks($0, slow: slow), Self.subject, Self.oneTask, who: "\(Self.oneTask) \(slow)", samples)
        }
      }
      if wants(Self.trips) { rows += try trips(sql) }
      return rows
    }

    private func open(_ url: String? = nil) throws -> PostgreSQLStorage {
      var options = PostgreSQLStorage.Options()
      options.name = name
      return try PostgreSQLStorage(url ?? self.url, options: options)
    }

    /// Removes all that was made.
    private func drop(_ sql: PlainSQL) throws {
      for table in ["kv", "piece", "token", "store", "plain"] {
        try sql.run("SET client_min_messages = warning; DROP TABLE IF EXISTS \"\(name)_\(table)\" CASCADE")
      }
      try sql.run("DROP FUNCTION IF EXISTS \"\(name)_sweep\"")
    }

    // MARK: Beside plain SQL

    private func measure(_ people: [Person], _ sql: PlainSQL, _ round: Int, _ samples: inout Samples) throws {
      try drop(sql)
      let storage = try open()
      let garage = try Garage(storage)
      defer { try? garage.close() }
      try sql.run("CREATE TABLE \(plain) (k bytea PRIMARY KEY, v bytea NOT NULL); ALTER TABLE \(plain) ALTER v SET STORAGE EXTERNAL")
      try sql.prepare(
        "put\(round)",
        "INSERT INTO \(plain) SELECT * FROM unnest($1::bytea[], $2::bytea[]) ON CONFLICT (k) DO UPDATE SET v = excluded.v")
      try sql.prepare("all\(round)", "SELECT k, v FROM \(plain) ORDER BY k")
      try sql.prepare("get\(round)", "SELECT v FROM \(plain) WHERE k = $1::bytea")
      // The type's name and shape are there, so that its first park is one like all others.
      try garage.park(people[0])
      try samples.measure(
        Operation(
          name: Self.parkAll, who: Self.subject, count: people.count, run: { try garage.parkAll(people) },
          verify: { try WrongResult.unless(garage.count(Person.self) == people.count, "another number is there") }))
      let entries = try records(storage)
      try samples.measure(
        Operation(
          name: Self.parkAll, who: Self.sql, count: entries.count,
          run: {
            try sql.run("BEGIN")
            for start in stride(from: 0, to: entries.count, by: 2000) {
              let block = entries[start..<min(start + 2000, entries.count)]
              try sql.run("put\(round)", [PlainSQL.array(block.map(\.key)), PlainSQL.array(block.map(\.value))])
            }
            try sql.run("COMMIT")
          }, verify: {}))
      try measureReading(people, garage, entries, sql, round, &samples)
      try measureSingle(people, garage, entries, sql, round, &samples)
    }

    private typealias Entry = (key: [UInt8], value: [UInt8])

    /// What the store keeps of the people.
    private func records(_ storage: PostgreSQLStorage) throws -> [Entry] {
      try storage.read { transaction in
        var entries: [Entry] = []
        // Where the records begin: Docs/Format.md.
        try transaction.scan(.prefix([0x10]), .forward) { key, value in
          entries.append(([UInt8](copying: key), [UInt8](copying: value)))
          return .continue
        }
        return entries
      }
    }

    private func measureReading(
      _ people: [Person], _ garage: Garage, _ entries: [Entry], _ sql: PlainSQL, _ round: Int, _ samples: inout Samples
    ) throws {
      for _ in 0..<3 {
        var found: [Person] = []
        try samples.measure(
          Operation(
            name: Self.retrieveAll, who: Self.subject, count: people.count,
            run: { found = try garage.retrieveAll(Person.self) },
            verify: { try WrongResult.unless(found == people, "other people came back") }))
        var values: [[UInt8]] = []
        try samples.measure(
          Operation(
            name: Self.retrieveAll, who: Self.sql, count: entries.count,
            run: {
              values = []
              try sql.run("all\(round)", []) { values.append([UInt8]($0[1])) }
            }, verify: { try WrongResult.unless(values == entries.map(\.value), "other rows came back") }))
      }
      var random = SplitMix(state: 7)
      let wanted = (0..<2000).map { _ in Int.random(in: 0..<people.count, using: &random) }
      try samples.measureInParts(
        [
          Operation(
            name: Self.retrieve, who: Self.subject, count: wanted.count, run: {},
            runPart: { part in
              for index in wanted[part] {
                let person = try garage.retrieve(Person.self, identifier: people[index].id)
                try WrongResult.unless(person == people[index], "somebody else came back")
              }
            }, verify: {}),
          Operation(
            name: Self.retrieve, who: Self.sql, count: wanted.count, run: {},
            runPart: { part in
              for index in wanted[part] {
                var value: [UInt8] = []
                try sql.run("get\(round)", [entries[index].key]) { value = [UInt8]($0[0]) }
                try WrongResult.unless(value == entries[index].value, "another row came back")
              }
            }, verify: {}),
        ], of: 200)
    }

    /// Each in a commit of its own.
    private func measureSingle(
      _ people: [Person], _ garage: Garage, _ entries: [Entry], _ sql: PlainSQL, _ round: Int, _ samples: inout Samples
    ) throws {
      try samples.measureInParts(
        [
          Operation(
            name: Self.parkOne, who: Self.subject, count: 1000, run: {},
            runPart: { part in for index in part { try garage.park(people[index * 50]) } }, verify: {}),
          Operation(
            name: Self.parkOne, who: Self.sql, count: 1000, run: {},
            runPart: { part in
              for index in part {
                let entry = entries[index * 50]
                try sql.run("put\(round)", [PlainSQL.array([entry.key]), PlainSQL.array([entry.value])])
              }
            }, verify: {}),
        ], of: 100)
    }

    // MARK: Many at a time

    private func measureTasks(slow: Bool, _ sql: PlainSQL, _ samples: inout Samples) throws {
      try drop(sql)
      // As on a slower disk, or with a standby that is waited for: needs a role that may say so, and fsync.
      let delay = "options=-c%20commit_delay%3D3000%20-c%20commit_siblings%3D0"
      let garage = try Garage(open(slow ? url + (url.contains("?") ? "&" : "?") + delay : url))
      defer { try? garage.close() }
      let people = Person.make(64 * 20, seed: 5)
      try garage.park(people[0])
      for (taskCount, who) in [(1, "\(Self.oneTask) \(slow)"), (16, Self.subject), (64, Self.subject)] {
        let each = taskCount == 1 ? 200 : 20
        // What one task takes stands beside both.
        for tasks in taskCount == 1 ? [16, 64] : [taskCount] {
          try samples.measure(
            Operation(
              name: Self.tasks(tasks, slow: slow), who: who, count: taskCount * each,
              run: {
                try Self.wait {
                  try await withThrowingTaskGroup(of: Void.self) { group in
                    for task in 0..<taskCount {
                      group.addTask {
                        for number in 0..<each { try await garage.park(people[task * each + number]) }
                      }
                    }
                    try await group.waitForAll()
                  }
                }
              }, verify: {}))
        }
      }
    }

    private static func wait(_ body: @escaping @Sendable () async throws -> Void) throws {
      let outcome = Outcome()
      let done = DispatchSemaphore(value: 0)
      Task.detached {
        do { try await body() } catch { outcome.error = error }
        done.signal()
      }
      done.wait()
      if let error = outcome.error { throw error }
    }

    /// Written before the semaphore is signalled, read after it was waited for.
    private final class Outcome: @unchecked Sendable { var error: (any Error)? }

    // MARK: Round trips

    private final class Node: Codable, Identifiable {
      let id: Int
      let children: [Node]

      /// - Parameter next: the number of the next one.
      init(levels: Int, _ next: inout Int) {
        id = next
        next += 1
        var children: [Node] = []
        if levels > 1 { for _ in 0..<5 { children.append(Node(levels: levels - 1, &next)) } }
        self.children = children
      }
    }

    private struct Fresh: Codable, Identifiable { var id: Int }

    private struct Chore: Codable, Identifiable, Syncable {
      var id: Int
      var syncStatus = SyncStatus.notSynced
    }

    private enum Keys: Namespace {
      static let id = "compare"
      static let number = Key<Keys, Int>(id: "number", defaultValue: 0)
    }

    /// What `Docs/PostgreSQL.md` promises, and what it is.
    private func trips(_ sql: PlainSQL) throws -> [ResultRow] {
      try drop(sql)
      let storage = try open()
      let garage = try Garage(storage)
      defer { try? garage.close() }
      var rows: [ResultRow] = []
      func count(_ what: String, _ expected: Int, _ body: () throws -> Void) throws {
        let before = storage.roundTripCount
        try body()
        rows.append(
          ResultRow(Self.trips, note: what, Self.subject, Self.must, trips: storage.roundTripCount - before, expected))
      }
      try garage.park(Person.make(1, seed: 1)[0])
      try garage.park(Person.make(1, seed: 2)[0])
      try count("park one", 1) { try garage.park(Person.make(1, seed: 3)[0]) }
      try count("park one of a new type", 2) { try garage.park(Fresh(id: 1)) }
      // 781 objects.
      var next = 0
      try garage.park(Node(levels: 5, &next))
      try count("retrieve a graph, five deep", 5) {
        try WrongResult.unless(garage.retrieve(Node.self, identifier: 0)?.children.count == 5, "another graph")
      }
      try garage.set(Keys.number, value: 1)
      try count("key set", 1) { try garage.set(Keys.number, value: 2) }
      try count("key get", 1) { try WrongResult.unless(garage.get(Keys.number) == 2, "another number") }
      try count("key update", 2) { try garage.update(Keys.number) { $0 += 1 } }
      try garage.park(Chore(id: -1))
      try count("park 1000 with sync statuses", 2) { try garage.parkAll((0..<1000).map { Chore(id: $0) }) }
      return rows
    }
  }
#endif
