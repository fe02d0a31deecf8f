import Foundation
import GarageDriver
import Synchronization
import Testing

/// One connection to each store, opened by the first value and closed by the last.
struct SharedStoreTests {
  /// Notes where it is opened twice, or used after it was closed.
  private final class Engine: Sendable {
    struct State: Sendable {
      var open: Set<String> = []
      var opened = 0
      var closed = 0
      var faults: [String] = []
    }
    let state = Mutex(State())

    func open(_ name: String) -> Connection {
      state.withLock { state in
        if !state.open.insert(name).inserted { state.faults.append("\(name) was opened twice") }
        state.opened += 1
      }
      return Connection(engine: self, name: name)
    }
  }

  private final class Connection: Sendable {
    let engine: Engine
    let name: String
    private let isClosed = Atomic<Bool>(false)

    init(engine: Engine, name: String) {
      self.engine = engine
      self.name = name
    }

    func use() {
      if isClosed.load(ordering: .acquiring) {
        engine.state.withLock { $0.faults.append("\(name) was closed") }
      }
    }

    func close() {
      // Closing takes its time, in which the store is neither open nor closed.
      isClosed.store(true, ordering: .releasing)
      usleep(UInt32.random(in: 0...50))
      engine.state.withLock { state in
        state.open.remove(name)
        state.closed += 1
      }
    }
  }

  private func stores() -> SharedStores<Connection> { SharedStores { $0.close() } }

  @Test func theFirstOpensAndTheLastCloses() throws {
    let (engine, stores) = (Engine(), stores())
    let one = stores.open("a") { engine.open("a") }
    let two = stores.open("a") { engine.open("a") }
    let other = stores.open("b") { engine.open("b") }
    #expect(one.connection === two.connection && one.connection !== other.connection)
    try one.close()
    try one.close()
    two.connection.use()
    #expect(engine.state.withLock { $0.open } == ["a", "b"])
    try two.close()
    #expect(engine.state.withLock { $0.open } == ["b"])
    let again = stores.open("a") { engine.open("a") }
    #expect(again.connection !== one.connection)
    try again.close()
    try other.close()
    #expect(engine.state.withLock { $0.opened == 3 && $0.closed == 3 && $0.faults.isEmpty })
  }

  @Test func aValueThatGoesEndsItsUse() {
    let (engine, stores) = (Engine(), stores())
    do {
      let one = stores.open("a") { engine.open("a") }
      one.connection.use()
    }
    #expect(engine.state.withLock { $0.open.isEmpty && $0.closed == 1 })
  }

  @Test func whatCouldNotBeOpenedCanBeTriedAgain() throws {
    struct Stop: Error {}
    let (engine, stores) = (Engine(), stores())
    #expect(throws: Stop.self) { try stores.open("a") { throw Stop() } }
    let store = stores.open("a") { engine.open("a") }
    try store.close()
    #expect(engine.state.withLock { $0.opened == 1 && $0.closed == 1 })
    #expect(!stores.isInherited("a"))
  }

  @Test func anErrorOfClosingIsThrownOnce() throws {
    struct Stop: Error {}
    let stores = SharedStores<Int> { _ in throw Stop() }
    let store = stores.open("a") { 1 }
    #expect(throws: Stop.self) { try store.close() }
    try store.close()
    let again = stores.open("a") { 2 }
    #expect(again.connection == 2)
  }

  /// One thread opens while the last value of another ends.
  @Test func openingAndClosingRace() {
    let (engine, stores) = (Engine(), stores())
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for round in 0..<2000 {
        let name = "store \(round / 50 % 2)"
        let store = stores.open(name) { engine.open(name) }
        store.connection.use()
        if (thread + round).isMultiple(of: 2) { try? store.close() }
      }
    }
    #expect(engine.state.withLock { $0.faults } == [])
    #expect(engine.state.withLock { $0.open.isEmpty && $0.opened == $0.closed && $0.opened > 1 })
  }
}
