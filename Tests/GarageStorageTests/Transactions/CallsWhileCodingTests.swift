import Foundation
import GarageStorage
import Synchronization
import Testing

@testable import GarageChild

/// What must be true. A function, because the macro asks for no `try` inside closures of a table.
private func expect(_ condition: Bool, sourceLocation: SourceLocation = #_sourceLocation) {
  #expect(condition, sourceLocation: sourceLocation)
}

/// Users' code that calls the garage while it is coded, with every verb, from everywhere: it is served or told
/// no, never deadlocked, and afterwards the garage works.
@Suite struct CallsWhileCodingTests {
  /// One call of the garage from `init(from:)` or `encode(to:)`.
  struct Call: Sendable, CustomTestStringConvertible {
    var name: String
    /// Whether it is told no inside of a write.
    var writes: Bool
    var run: @Sendable (Garage) throws -> Void
    var testDescription: String { name }
  }

  static let calls: [Call] = [
    Call(name: "retrieve", writes: false) {
      expect(try $0.retrieve(Counter.self, identifier: 1) == Counter(id: 1))
    },
    Call(name: "retrieve a graph", writes: false) {
      expect(try $0.retrieve(Crowd.self, identifier: "crowd")?.members.count == 3)
    },
    Call(name: "retrieveAll", writes: false) { expect(try $0.retrieveAll(Counter.self).count == 3) },
    Call(name: "forEach", writes: false) { try $0.forEach(Counter.self) { expect($0.value == 0) } },
    Call(name: "contains", writes: false) { expect(try $0.contains(Counter.self, identifier: 2)) },
    Call(name: "count", writes: false) { expect(try $0.count(Counter.self) == 3) },
    Call(name: "identifier", writes: false) {
      _ = try $0.identifier(for: Address(street: "Main", city: "x"))
    },
    Call(name: "read", writes: false) { garage in
      try garage.read { reader in
        let count = try reader.count(Counter.self)
        expect(count == 3)
      }
    },
    Call(name: "park", writes: true) { try $0.park(Counter(id: 1, value: 1)) },
    Call(name: "parkAll", writes: true) { try $0.parkAll([Counter(id: 1, value: 1), Counter(id: 9)]) },
    Call(name: "park(any:)", writes: true) { try $0.park(any: Address(street: "Main", city: "x")) },
    Call(name: "delete", writes: true) { try $0.delete(Counter.self, identifier: 1) },
    Call(name: "deleteAll", writes: true) { try $0.deleteAll(Counter.self) },
    Call(name: "deleteAllObjects", writes: true) { try $0.deleteAllObjects() },
    Call(name: "write", writes: true) { garage in
      try garage.write { writer in
        try writer.park(Counter(id: 1, value: 1))
        try writer.delete(Counter.self, identifier: 2)
      }
    },
    Call(name: "park without saving", writes: true) { garage in
      try garage.withAutosaveDisabled { try garage.park(Counter(id: 1, value: 1)) }
    },
    Call(name: "park and save", writes: true) { garage in
      try garage.withAutosaveDisabled { try garage.park(Counter(id: 1, value: 1)) }
      try garage.save()
    },
  ]

  /// Where the code is called from, and whether that is inside of a write.
  struct Surroundings: Sendable {
    var name: String
    var isWrite = false
    var decodes: Bool
    var run: @Sendable (Garage) throws -> Void
  }

  static let encoding: [Surroundings] = [
    Surroundings(name: "park", decodes: false) { try $0.park(Meddler(1)) },
    Surroundings(name: "parkAll", decodes: false) { try $0.parkAll([Meddler(1)]) },
    Surroundings(name: "park(any:)", decodes: false) { try $0.park(any: Meddler(1)) },
    Surroundings(name: "park in a read", decodes: false) { garage in
      try garage.read { _ in try garage.park(Meddler(1)) }
    },
    Surroundings(name: "park in a write", isWrite: true, decodes: false) { garage in
      try garage.write { try $0.park(Meddler(1)) }
    },
    Surroundings(name: "parkAll in a write in a read", isWrite: true, decodes: false) { garage in
      try garage.read { _ in try garage.write { try $0.parkAll([Meddler(1)]) } }
    },
  ]

  static let decoding: [Surroundings] = [
    Surroundings(name: "retrieve", decodes: true) {
      expect(try $0.retrieve(Meddler.self, identifier: 0) != nil)
    },
    Surroundings(name: "retrieveAll", decodes: true) { expect(try $0.retrieveAll(Meddler.self).count == 1) },
    Surroundings(name: "forEach", decodes: true) { try $0.forEach(Meddler.self) { expect($0.id == 0) } },
    Surroundings(name: "retrieve in a read", decodes: true) { garage in
      try garage.read { reader in
        let meddler = try reader.retrieve(Meddler.self, identifier: 0)
        expect(meddler != nil)
        // What was written meanwhile is not in this snapshot.
        let counters = try reader.retrieveAll(Counter.self)
        expect(counters == (1...3).map { Counter(id: $0) })
      }
    },
    Surroundings(name: "retrieve in a write", isWrite: true, decodes: true) { garage in
      try garage.write { writer in
        let meddler = try writer.retrieve(Meddler.self, identifier: 0)
        expect(meddler != nil)
      }
    },
    Surroundings(name: "forEach in a write", isWrite: true, decodes: true) { garage in
      try garage.write { writer in
        try writer.forEach(Meddler.self) { meddler in try writer.park(Counter(id: 7, value: meddler.id)) }
      }
    },
    Surroundings(name: "a read of the garage in a write", isWrite: true, decodes: true) { garage in
      try garage.write { _ in
        let meddlers = try garage.retrieveAll(Meddler.self)
        expect(meddlers.count == 1)
      }
    },
  ]

  @Test(arguments: Backend.allCases, [true, false])
  func everyVerbIsServedOrToldNo(_ backend: Backend, autosaves: Bool) throws {
    let actions = Meddler.Actions()
    let garage = try Place(backend).garage(userInfo: [Meddler.key: actions])
    for surroundings in CallsWhileCodingTests.encoding + CallsWhileCodingTests.decoding {
      for call in CallsWhileCodingTests.calls {
        (actions.onEncode, actions.onDecode) = ({}, {})
        try prepare(garage, autosaves: autosaves)
        var (calls, refusals) = (0, 0)
        let action = {
          calls += 1
          do { try call.run(garage) } catch GarageError.nestedWrite { refusals += 1 }
        }
        if surroundings.decodes { actions.onDecode = action } else { actions.onEncode = action }
        let what = "\(surroundings.name), \(call.name)"
        #expect(throws: Never.self, "\(what)") { try surroundings.run(garage) }
        (actions.onEncode, actions.onDecode) = ({}, {})
        #expect(calls == 1, "\(what)")
        #expect(refusals == (call.writes && surroundings.isWrite ? 1 : 0), "\(what)")
        // What was refused changed nothing, what was served did.
        if call.writes && call.name != "park(any:)" {
          let isUntouched = try garage.retrieve(Counter.self, identifier: 1) == Counter(id: 1)
          #expect(isUntouched == surroundings.isWrite, "\(what)")
        }
        if !surroundings.decodes { #expect(try garage.contains(Meddler.self, identifier: 1), "\(what)") }
      }
    }
    // Neither this thread nor another finds anything held.
    garage.discardUnsavedChanges()
    try garage.park(Counter(id: 100))
    try onSmallStack { try garage.park(Counter(id: 101)) }
    #expect(try garage.retrieve(Counter.self, identifier: 101) != nil)
    try garage.save()
    try garage.close()
  }

  private func prepare(_ garage: Garage, autosaves: Bool) throws {
    garage.discardUnsavedChanges()
    garage.isAutosaveEnabled = true
    try garage.write { writer in
      try writer.deleteAllObjects()
      try writer.parkAll((1...3).map { Counter(id: $0) })
      try writer.park(Crowd(id: "crowd", members: (1...3).map { Counter(id: $0) }))
      try writer.park(Meddler(0))
    }
    garage.isAutosaveEnabled = autosaves
  }

  /// Closing is refused inside of a transaction, and served outside: then the park has nowhere to go.
  @Test(arguments: Backend.durable, [true, false])
  func closingWhileCodingIsServedOrToldNo(_ backend: Backend, autosaves: Bool) throws {
    for surroundings in CallsWhileCodingTests.encoding + CallsWhileCodingTests.decoding {
      let actions = Meddler.Actions()
      let place = try Place(backend)
      let garage = try place.garage(userInfo: [Meddler.key: actions])
      try prepare(garage, autosaves: autosaves)
      var isRefused = false
      let action = {
        do { try garage.close() } catch GarageError.storage(let error) {
          #expect(error.kind == .closeInsideTransaction)
          isRefused = true
        }
      }
      if surroundings.decodes { actions.onDecode = action } else { actions.onEncode = action }
      do { try surroundings.run(garage) } catch GarageError.closed {
        #expect(!isRefused && !surroundings.decodes, "\(surroundings.name)")
      }
      (actions.onEncode, actions.onDecode) = ({}, {})
      if isRefused { #expect(try garage.count(Counter.self) >= 3, "\(surroundings.name)") }
      try garage.close()
      #expect(
        try place.garage().retrieve(Counter.self, identifier: 1) == Counter(id: 1), "\(surroundings.name)")
    }
  }

  /// Changes that are dropped under a write which built upon them do not come back with it.
  @Test(arguments: Backend.allCases)
  func droppingChangesWhileCoding(_ backend: Backend) throws {
    let actions = Meddler.Actions()
    let garage = try Place(backend).garage(userInfo: [Meddler.key: actions])
    try prepare(garage, autosaves: false)
    try garage.park(Counter(id: 1, value: 5))
    actions.onEncode = { garage.discardUnsavedChanges() }
    #expect(throws: GarageError.unsavedChangesDiscarded) {
      try garage.write { writer in
        try writer.park(Counter(id: 2, value: 5))
        try writer.park(Meddler(1))
      }
    }
    #expect(!garage.hasUnsavedChanges)
    #expect(try garage.retrieveAll(Counter.self) == (1...3).map { Counter(id: $0) })
    // Outside of a write it is the parking that is new.
    try garage.park(Meddler(1))
    #expect(try garage.count(Meddler.self) == 2)
  }
}
