import Foundation
import GarageDriver
import GaragePostgres
import GarageStorage
import Synchronization
import Testing

/// Three nodes, of which one writes and at least one other has what is acknowledged: the first dies, another takes over, and
/// the garage goes on by itself.
@Suite(.serialized, .enabled(if: OwnServer.isPossible)) struct FailoverTests {
  private struct Receipt: Codable, Identifiable {
    var id: Int
  }

  @Test func nothingAcknowledgedIsLostWhenTheFirstNodeDies() throws {
    for round in 0..<(runsLongTests ? 20 : 1) {
      let cluster = try Cluster()
      defer { cluster.stop() }
      var options = PostgreSQLStorage.Options()
      options.name = Server.newName()
      let storage = try PostgreSQLStorage(cluster.url, options: options)
      let garage = try Garage(storage)
      let load = Load()
      let group = DispatchGroup()
      for _ in 0..<4 {
        group.enter()
        Thread.detachNewThread {
          defer { group.leave() }
          load.run { try garage.park(Receipt(id: $0)) }
        }
      }
      try load.wait(for: 100)
      try cluster.failOver()
      try load.wait(for: 100)
      load.isOver.store(true, ordering: .sequentiallyConsistent)
      group.wait()
      let there = try Set(garage.retrieveAll(Receipt.self).map(\.id))
      let (acknowledged, refused) = (load.acknowledged.withLock(\.self), load.refused.withLock(\.self))
      #expect(acknowledged.allSatisfy { there.contains($0) }, "round \(round)")
      #expect(refused.allSatisfy { !there.contains($0) }, "round \(round)")
      #expect(try garage.verify().findings.isEmpty)
      FileHandle.standardError.write(
        Data("failover: \(acknowledged.count) acknowledged, the longest gap \(load.longestGap)\n".utf8))

      // Who only reads may ask a standby.
      options.isReadOnly = true
      let reading = try Garage(PostgreSQLStorage(cluster.standbyURL, options: options))
      #expect(try reading.count(Receipt.self) > 0)
      #expect(throws: GarageError.self) { try reading.park(Receipt(id: -1)) }
    }
  }

  /// Parks until it is told to end, and notes what came of it.
  private final class Load: Sendable {
    let isOver = Atomic<Bool>(false)
    let acknowledged = Mutex<[Int]>([])
    let refused = Mutex<[Int]>([])
    private let next = Atomic<Int>(0)
    private let gaps = Mutex<(last: ContinuousClock.Instant, longest: Duration)>((.now, .zero))

    /// The longest time in which nobody was acknowledged.
    var longestGap: Duration { gaps.withLock(\.longest) }

    func run(_ park: (Int) throws -> Void) {
      while !isOver.load(ordering: .sequentiallyConsistent) {
        let id = next.add(1, ordering: .sequentiallyConsistent).oldValue
        do {
          try park(id)
          acknowledged.withLock { $0.append(id) }
          gaps.withLock { gaps in
            let now = ContinuousClock.now
            gaps = (now, max(gaps.longest, now - gaps.last))
          }
        } catch {
          let error = error as? GarageError
          if case .storage(let storageError) = error, storageError.kind == .outcomeUnknown { continue }
          #expect(error?.isRetryable == true, "\(String(describing: error))")
          refused.withLock { $0.append(id) }
        }
      }
    }

    /// Waits until so many more are acknowledged.
    func wait(for count: Int) throws {
      let before = acknowledged.withLock(\.count)
      let end = ContinuousClock.now + .seconds(90)
      while acknowledged.withLock(\.count) < before + count {
        if ContinuousClock.now > end { throw TooSlow() }
        usleep(10_000)
      }
    }

    struct TooSlow: Error {}
  }
}

/// A server and two standbys, one of which has to have each commit before it is acknowledged.
private final class Cluster {
  private let folder = FileManager.default.temporaryDirectory.appending(
    path: "garage-cluster-\(UUID().uuidString)")
  private let names = ["one", "two", "three"]
  private let ports: [String]
  private static let settings = [
    "max_connections=100", "shared_buffers=16MB", "max_wal_senders=8", "hot_standby=on",
  ]

  init() throws {
    ports = try (0..<3).map { _ in try OwnServer.run("port").trimmingCharacters(in: .whitespacesAndNewlines) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try OwnServer.run(["start", path(0), ports[0]] + Self.settings)
    for node in 1...2 { try OwnServer.run(["standby", path(node), ports[node], ports[0]] + Self.settings) }
    try setStandbys("ANY 1 (two, three)", at: 0)
  }

  private func path(_ node: Int) -> String { folder.appending(path: names[node]).path }

  private func sql(_ node: Int, _ command: String) throws -> String {
    try OwnServer.run("sql", ports[node], command).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  private func setStandbys(_ names: String, at node: Int) throws {
    _ = try sql(node, "ALTER SYSTEM SET synchronous_standby_names = '\(names)'")
    _ = try sql(node, "SELECT pg_reload_conf()")
  }

  /// Whichever of them writes.
  var url: String {
    "postgresql://garage@" + ports.map { "127.0.0.1:\($0)" }.joined(separator: ",")
      + "/postgres?target_session_attrs=read-write&connect_timeout=2"
  }

  /// One that only reads, after the failing over.
  var standbyURL: String {
    url.replacing("read-write", with: "standby")
  }

  /// The first node dies; of the other two the one that has more takes over, and the other follows it.
  func failOver() throws {
    try OwnServer.run("kill", path(0))
    let first = try sql(
      1, "SELECT pg_last_wal_receive_lsn() >= '\(sql(2, "SELECT pg_last_wal_receive_lsn()"))'")
    let (next, other) = first == "t" ? (1, 2) : (2, 1)
    try setStandbys("ANY 1 (\(names[other]))", at: next)
    try OwnServer.run("promote", path(next))
    _ = try sql(
      other,
      "ALTER SYSTEM SET primary_conninfo = 'host=127.0.0.1 port=\(ports[next]) user=garage application_name=\(names[other])'"
    )
    _ = try sql(other, "SELECT pg_reload_conf()")
  }

  func stop() {
    for node in 0..<3 { _ = try? OwnServer.run("kill", path(node)) }
    try? FileManager.default.removeItem(at: folder)
  }
}
