import GarageStorage

// Deleting by rules, with types that all belong to the main actor, and are asked there.

final class Author: Codable, Identifiable, DeleteRules {
  var id: String
  var drafts: [Reference<Draft>] = []

  init(_ id: String) { self.id = id }

  static var referrersRule: ReferrersRule {
    MainActor.preconditionIsolated()
    return .deny
  }
  static var owned: [Owned<Author>] {
    MainActor.preconditionIsolated()
    return [Owned(\.drafts)]
  }
}

/// Met only as what an author owns.
final class Draft: Codable, Identifiable, DeleteRules {
  var id: Int
  var sketch: Reference<Sketch>?

  init(_ id: Int) {
    self.id = id
    sketch = Reference(Sketch.self, identifier: id)
  }

  static var owned: [Owned<Draft>] {
    MainActor.preconditionIsolated()
    return [Owned(\.sketch)]
  }
}

struct Sketch: Codable, Identifiable {
  var id: Int
}

struct Book: Codable, Identifiable {
  var id: Int
  var author: Reference<Author>?
}

final class Hub: Codable, Identifiable {
  var id: Int
  init(_ id: Int) { self.id = id }
}

/// Cannot be without a hub.
struct Wheel: Codable, Identifiable {
  var id: Int
  var hub: Hub
}

/// Has one hub at least.
struct Axle: Codable, Identifiable {
  var id: Int
  var left: Hub?
  var right: Hub?

  init(id: Int, left: Hub?, right: Hub?) { (self.id, self.left, self.right) = (id, left, right) }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    id = try container.decode(Int.self, forKey: .id)
    left = try container.decodeIfPresent(Hub.self, forKey: .left)
    right = try container.decodeIfPresent(Hub.self, forKey: .right)
    if left == nil && right == nil { throw Failure(description: "an axle without hubs") }
  }
}

func rules(_ garage: Garage) async throws {
  func isRefused(_ delete: () async throws -> Void) async throws -> Bool {
    do {
      try await delete()
      return false
    } catch GarageError.stillReferredTo {
      return true
    }
  }
  try await garage.parkAll((1...3).map { Sketch(id: $0) })
  try await garage.parkAll((1...3).map { Draft($0) })
  let (ann, ben) = (Author("Ann"), Author("Ben"))
  ann.drafts = [Reference(Draft.self, identifier: 1)]
  ben.drafts = [Reference(Draft.self, identifier: 2)]
  try await garage.parkAll([ann, ben])
  try await garage.park(Book(id: 1, author: Reference(to: ann)))
  try expect(try await isRefused { try await garage.delete(ann) }, "Ann has a book")
  try expect(try await isRefused { try await garage.delete(Author.self, identifier: "Ann") }, "by name")
  try expect(try await isRefused { try await garage.deleteAll(Author.self) }, "Ann among all")
  try expect(try await garage.count(Draft.self) == 3, "nobody lost a draft")
  try await garage.delete(Book.self, identifier: 1)
  try await garage.delete(ann)
  try expect(try await garage.retrieveAll(Draft.self).map(\.id) == [2, 3], "her draft went with Ann")
  try expect(try await garage.retrieveAll(Sketch.self).map(\.id) == [2, 3], "and its sketch with that")
  try await garage.deleteAll(Author.self)
  try expect(try await garage.retrieveAll(Sketch.self).map(\.id) == [3], "Ben's as well")

  let hubs = (1...3).map { Hub($0) }
  try await garage.park(Wheel(id: 1, hub: hubs[0]))
  try await garage.park(Axle(id: 1, left: hubs[1], right: hubs[2]))
  func isNeeded(_ hub: Hub) async throws -> Bool {
    try await isRefused { try await garage.delete(hub, referrers: .nullify) }
  }
  try expect(try await isNeeded(hubs[0]), "a wheel needs its hub")
  try expect(try await !isNeeded(hubs[1]), "an axle can do without one")
  try expect(try await isNeeded(hubs[2]), "and needs the other one then")
  let axle = try await garage.retrieve(Axle.self, identifier: 1)
  try expect(axle?.left == nil && axle?.right?.id == 3, "it has one")
  try expect(try await garage.retrieve(Wheel.self, identifier: 1)?.hub.id == 1, "the wheel has its own")
  try expect(try await garage.deleteGraph(Wheel(id: 1, hub: hubs[0])) == 2, "a wheel and its hub")
}
