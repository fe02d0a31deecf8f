import Foundation
import GarageDriver
import GaragePostgres
import PostgresStacks
import Synchronization
import Testing

/// Many who change the same things.
@Suite(.serialized) struct ContentionTests {
  @Test(arguments: PostgreSQLStorage.Options.Writers.allCases)
  func sixteenProcessesKeepTheSum(_ writers: PostgreSQLStorage.Options.Writers) throws {
    let name = Server.newName()
    let storage = try Server.open(name, writers)
    try Transfers.begin(in: storage)
    let expected = Transfers.accountCount * Transfers.firstAmount
    var children: [(Process, Pipe)] = []
    for seed in 1...16 {
      let (child, output) = (Process(), Pipe())
      child.executableURL = childExecutable
      child.arguments = ["transfer", name, "25", "\(seed)"]
      child.standardOutput = output
      try child.run()
      children.append((child, output))
    }
    // They end by themselves, also where the server is gone.
    while children.contains(where: { $0.0.isRunning }) {
      #expect(try Transfers.sum(in: storage) == expected)
    }
    for (child, _) in children {
      child.waitUntilExit()
      #expect(child.terminationStatus == 0)
    }
    #expect(try Transfers.sum(in: storage) == expected)
  }

  /// Two are on call, and each may leave as long as the other one stays: 300 times, both at the same moment.
  @Test func writeSkewNeverSucceeds() throws {
    let storage = try Server.open(Server.newName())
    var conflictCount = 0
    for round in 0..<300 {
      try storage.write { transaction in
        for name in ["a", "b"] { try transaction.put([1], for: key(name)) }
        return .commit(())
      }
      let barrier = Atomic<Int>(0)
      let conflicts = Atomic<Int>(0)
      try inThreads(2) { thread in
        do {
          try storage.write { transaction in
            let others = try ["a", "b"].count { try transaction.contains(key($0)) }
            barrier.add(1, ordering: .sequentiallyConsistent)
            while barrier.load(ordering: .sequentiallyConsistent) < 2 { usleep(20) }
            if others == 2 { try transaction.remove(key(thread == 0 ? "a" : "b")) }
            return .commit(())
          }
        } catch let error as StorageError where error.kind == .conflict {
          conflicts.add(1, ordering: .sequentiallyConsistent)
        }
      }
      let left = try storage.read { transaction in try ["a", "b"].count { try transaction.contains(key($0)) }
      }
      #expect(left >= 1, "round \(round)")
      conflictCount += conflicts.load(ordering: .sequentiallyConsistent)
    }
    #expect(conflictCount >= 300)
  }
}
