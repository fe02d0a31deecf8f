import Foundation
import GarageDriver
import GaragePostgres
import GarageStorage
import PostgresStacks
import Testing

/// A garage on a storage whose writers run beside each other.
@Suite(.serialized) struct GarageOnPostgresTests {
  struct Note: Codable, Identifiable, Equatable {
    var id: Int
    var text: String
  }

  struct Counter: Codable, Identifiable, Equatable {
    var id = "counter"
    var number = 0
  }

  final class Node: Codable, Identifiable {
    var id: Int
    var next: Node?

    init(id: Int, next: Node?) {
      self.id = id
      self.next = next
    }
  }

  private func newGarage(_ name: String = Server.newName()) throws -> Garage { try Garage(Server.open(name)) }

  @Test func objectsAreParkedAndRetrieved() throws {
    let name = Server.newName()
    let garage = try newGarage(name)
    let notes = (0..<3000).map { Note(id: $0, text: "Note \($0)") }
    try garage.parkAll(notes)
    #expect(try garage.retrieveAll(Note.self) == notes)
    #expect(try garage.retrieve(Note.self, identifier: 17) == notes[17])
    try garage.park(Node(id: 0, next: (1...5).reversed().reduce(nil) { Node(id: $1, next: $0) }))
    let root = try garage.retrieve(Node.self, identifier: 0)
    #expect(root?.next?.next?.next?.id == 3)
    try garage.delete(notes[17])
    #expect(try garage.retrieve(Note.self, identifier: 17) == nil)
    #expect(try garage.verify().findings.isEmpty)
    try garage.close()
    let again = try newGarage(name)
    #expect(try again.count(Note.self) == 2999)
    try again.close()
  }

  /// Many make one store at a time, over connections that each found none.
  @Test func manyMakeOneStore() throws {
    for _ in 0..<4 {
      let name = Server.newName()
      try inThreads(12) { thread in
        let garage = try newGarage(name)
        try garage.park(Note(id: thread, text: ""))
        try garage.close()
      }
      #expect(try newGarage(name).count(Note.self) == 12)
    }
  }

  /// Verbs repeat until they are through, whoever else changes the same object.
  @Test func noVerbFailsUnderContention() throws {
    let name = Server.newName()
    let garages = try (0..<2).map { _ in try newGarage(name) }
    try inThreads(24) { thread in
      for round in 0..<10 { try garages[thread % 2].park(Note(id: 1, text: "\(thread) \(round)")) }
    }
    #expect(try garages[0].count(Note.self) == 1)
    #expect(try garages[0].verify().findings.isEmpty)
  }

  /// What a closure read holds when it commits: nothing is counted twice, or lost.
  @Test func closuresSeeEachOther() throws {
    let name = Server.newName()
    let garages = try (0..<2).map { _ in try newGarage(name) }
    try garages[0].park(Counter())
    try inThreads(8) { thread in
      for _ in 0..<10 {
        try garages[thread % 2].write(retrying: 1000) { writer in
          var counter = try writer.retrieve(Counter.self, identifier: "counter") ?? Counter()
          counter.number += 1
          try writer.park(counter)
        }
      }
    }
    #expect(try garages[1].retrieve(Counter.self, identifier: "counter")?.number == 80)
  }

  /// Writes through share the way to the storage, and unsaved changes have it alone: nothing of either is lost.
  @Test func unsavedChangesStandBesideWrites() throws {
    let garage = try newGarage()
    try inThreads(6) { thread in
      for round in 0..<15 {
        let note = Note(id: thread * 100 + round, text: "\(thread)")
        switch thread {
        case 0:
          try garage.withAutosaveDisabled { try garage.park(note) }
          if round % 3 == 2 { try garage.save() }
        case 1:
          try garage.write(retrying: 100) { try $0.park(note) }
        default: try garage.park(note)
        }
      }
    }
    try garage.save()
    #expect(try garage.count(Note.self) == 90)
    #expect(!garage.hasUnsavedChanges)
    try garage.withAutosaveDisabled { try garage.park(Note(id: 1000, text: "dropped")) }
    garage.discardUnsavedChanges()
    #expect(try garage.count(Note.self) == 90)
    #expect(try garage.verify().findings.isEmpty)
  }

  @Test func tasksShareCommits() async throws {
    let storage = try Server.open(Server.newName())
    let garage = try Garage(storage)
    try await garage.park(Note(id: -1, text: "first"))
    let before = storage.roundTripCount
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<200 { group.addTask { try await garage.park(Note(id: number, text: "x")) } }
      try await group.waitForAll()
    }
    #expect(try await garage.count(Note.self) == 201)
    #expect(storage.roundTripCount - before < 150)
  }

  @Test func aNestedWriteIsRefused() throws {
    let garage = try newGarage()
    try garage.write { writer in
      try writer.park(Note(id: 1, text: "outer"))
      #expect(throws: GarageError.nestedWrite) { try garage.park(Note(id: 2, text: "inner")) }
      #expect(throws: GarageError.nestedWrite) {
        try garage.withAutosaveDisabled { try garage.park(Note(id: 3, text: "inner")) }
      }
    }
    #expect(try garage.count(Note.self) == 1)
  }
}
