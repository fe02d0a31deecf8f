import Foundation
import GarageConformance
import GarageDriver
import GarageStorage
import Testing

/// Storages that fail at every operation in turn: a park is wholly there or not at all.
@Suite struct StorageFailureTests {
  struct Stack: CustomTestStringConvertible, Sendable {
    var backend: Backend
    var operation: StorageError.Operation
    var autosaves: Bool
    var testDescription: String { "\(backend) \(operation) \(autosaves ? "saving" : "not saving")" }

    static let all = Backend.faulty.flatMap { backend in
      [StorageError.Operation.read, .write, .get, .scan, .put, .remove, .commit].flatMap { operation in
        [true, false].map { Stack(backend: backend, operation: operation, autosaves: $0) }
      }
    }
  }

  @Test(arguments: Stack.all)
  func aFailureLeavesNoTrace(_ stack: Stack) throws {
    let place = try Place(stack.backend)
    let driver = try place.open()
    let garage = try Garage(driver)
    try garage.park(Crowd(id: "before", members: [Counter(id: 100)]))
    let before = try Driver.contents(driver)
    let crowd = Crowd(id: "a", members: (0..<5).map { Counter(id: $0) }, moody: Moody(1))
    garage.isAutosaveEnabled = stack.autosaves

    var failures = 0
    while failures < 100 {
      place.plan.reset()
      place.plan.fail(stack.operation, after: failures)
      do {
        try garage.park(crowd)
        if !stack.autosaves {
          // Seen here, not there.
          let seen = try garage.retrieve(Crowd.self, identifier: "a")?.members.count
          #expect(seen == 5)
          try garage.save()
        }
        place.plan.reset()
        break
      } catch GarageError.storage(let error) {
        place.plan.reset()
        #expect(error.kind == .io)
        failures += 1
        #expect(try Driver.contents(driver) == before)
        garage.discardUnsavedChanges()
        #expect(try garage.retrieve(Crowd.self, identifier: "a") == nil)
        #expect(try garage.retrieveAll(Counter.self).map(\.id) == [100])
      }
    }
    #expect(failures < 100)
    if [.write, .put, .commit].contains(stack.operation) { #expect(failures > 0) }
    #expect(!garage.hasUnsavedChanges)
    let again = try Garage(driver)
    #expect(try again.retrieve(Crowd.self, identifier: "a")?.members.count == 5)
    #expect(try again.retrieve(Crowd.self, identifier: "before")?.members.count == 1)
  }

  /// An object in the middle that cannot be encoded.
  @Test(arguments: Backend.allCases, [true, false])
  func anObjectThatCannotBeEncodedLeavesNoTrace(_ backend: Backend, autosaves: Bool) throws {
    let place = try Place(backend)
    let driver = try place.open()
    let garage = try Garage(driver)
    garage.isAutosaveEnabled = autosaves
    try garage.park(Counter(id: 1, value: 1))
    let before = try Driver.contents(driver)
    let bad = Crowd(id: "bad", members: [Counter(id: 1, value: 2)], moody: Moody(1, refusesToEncode: true))
    let verbs: [() throws -> Void] = [
      { try garage.park(bad) },
      {
        try garage.parkAll([
          Crowd(id: "good", members: [Counter(id: 2)]), bad, Crowd(id: "later", members: []),
        ])
      },
      { try garage.parkAll(any: [Counter(id: 3), bad] as [Any]) },
      {
        try garage.write { writer in
          try writer.park(Counter(id: 4))
          try writer.delete(Counter.self, identifier: 1)
          try writer.park(bad)
        }
      },
    ]
    for verb in verbs {
      #expect(throws: Moody.Mood()) { try verb() }
      #expect(try Driver.contents(driver) == before)
      #expect(garage.hasUnsavedChanges == !autosaves)
      #expect(try garage.retrieveAll(Counter.self) == [Counter(id: 1, value: 1)])
      #expect(try garage.count(Crowd.self) == 0)
    }
    try garage.save()
    #expect(try Garage(driver).retrieveAll(Counter.self) == [Counter(id: 1, value: 1)])
  }
}
