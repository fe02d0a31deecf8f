import Foundation
import GarageStorage
import Testing

private struct FormerHalt: Codable, Identifiable, TypeTagged {
  nonisolated static var typeTag: String { "halt, formerly" }
  var id: Int
  var visitCount = 0
}

private struct Halt: Codable, Identifiable, TypeTagged {
  nonisolated static var typeTag: String { "halt" }
  nonisolated static var formerTypeTags: [String] { ["halt, formerly"] }
  var id: Int
  var visitCount = 0
}

/// Objects that are parked again under another tag, while somebody goes through all of them, are visited all the same.
@Suite struct MovedWhileVisitedTests {
  private static let count = 450
  private static let all = Array(0..<count)

  private func filled(_ backend: Backend) throws -> Garage {
    let garage = try Place(backend).garage()
    try garage.parkAll(Self.all.map { FormerHalt(id: $0) })
    return garage
  }

  private func parkAllAgain(_ garage: Garage) throws { try garage.parkAll(Self.all.map { Halt(id: $0) }) }

  @Test(arguments: Backend.allCases) func inPages(_ backend: Backend) async throws {
    let garage = try filled(backend)
    var ids: [Int] = []
    for try await halt in garage.objects(Halt.self) {
      if ids.isEmpty { try await garage.migrateAll(Halt.self) }
      ids.append(halt.id)
    }
    #expect(ids == Self.all)
  }

  @Test(arguments: Backend.allCases) func inPagesOfAQuery(_ backend: Backend) async throws {
    let garage = try filled(backend)
    var ids: [Int] = []
    try await garage.query(Halt.self).where(\.id >= 0).sorted(by: \.visitCount).forEach { halt in
      if ids.isEmpty { try parkAllAgain(garage) }
      ids.append(halt.id)
    }
    #expect(ids == Self.all)
  }

  @Test(arguments: Backend.allCases) func inPagesThatMayHoldDamage(_ backend: Backend) async throws {
    let garage = try filled(backend)
    var ids: [Int] = []
    try await garage.forEach(Halt.self) { unreadable in
      Issue.record("\(unreadable)")
    } _: { halt in
      if ids.isEmpty { try parkAllAgain(garage) }
      ids.append(halt.id)
    }
    #expect(ids == Self.all)
  }

  /// The first one that is visited parks all others again, as one that is linked with them does.
  @Test(arguments: Backend.allCases) func insideAWrite(_ backend: Backend) throws {
    let visits: [(GarageWriter, (Halt) throws -> Void) throws -> Void] = [
      { try $0.forEach(Halt.self, $1) },
      { try $0.forEach(Halt.self, onError: { Issue.record("\($0)") }, $1) },
      { try $0.query(Halt.self).where(\.id >= 0).sorted(by: \.id).forEach($1) },
    ]
    for visit in visits {
      let garage = try filled(backend)
      try garage.write { writer in
        var isFirst = true
        try visit(writer) { halt in
          if isFirst { try writer.parkAll(Self.all.map { Halt(id: $0, visitCount: 0) }) }
          isFirst = false
          try writer.park(Halt(id: halt.id, visitCount: 1))
        }
      }
      #expect(try garage.retrieveAll(Halt.self).map(\.visitCount) == Self.all.map { _ in 1 })
    }
  }
}
