import Foundation
import GarageStorage
import Testing

// One type as programs of different days declare it: each of these is "the member" of its owner.

private protocol Member: Codable {
  associatedtype Held: Codable = Self
  static var kind: String { get }
  /// What an owner holds.
  static func make(_ id: Int) -> Held
  /// What the owner's property is in the end, through the garage where it is but a reference.
  static func read(_ held: Held, _ garage: Garage) throws -> String?
}

/// Inside its owner.
private struct InlineMember: Member, TypeTagged {
  static var typeTag: String { "changed mind" }
  static var kind: String { "inline" }
  var id: Int, name: String
  static func make(_ id: Int) -> InlineMember { InlineMember(id: id, name: "member \(id)") }
  static func read(_ held: InlineMember, _: Garage) -> String? { held.name }
}

/// A record of its own.
private struct IdentifiedMember: Member, Identifiable, TypeTagged {
  static var typeTag: String { "changed mind" }
  static var kind: String { "identified" }
  var id: Int, name: String
  static func make(_ id: Int) -> IdentifiedMember { IdentifiedMember(id: id, name: "member \(id)") }
  static func read(_ held: IdentifiedMember, _: Garage) -> String? { held.name }
}

/// Identified, and yet inside its owner.
private struct InlinedMember: Member, Identifiable, Inlined, TypeTagged {
  static var typeTag: String { "changed mind" }
  static var kind: String { "inlined" }
  var id: Int, name: String
  static func make(_ id: Int) -> InlinedMember { InlinedMember(id: id, name: "member \(id)") }
  static func read(_ held: InlinedMember, _: Garage) -> String? { held.name }
}

/// Stored once by content.
private struct InternedMember: Member, Interned, TypeTagged {
  static var typeTag: String { "changed mind" }
  static var kind: String { "interned" }
  var id: Int, name: String
  static func make(_ id: Int) -> InternedMember { InternedMember(id: id, name: "member \(id)") }
  static func read(_ held: InternedMember, _: Garage) -> String? { held.name }
}

/// A reference to a record of its own.
private struct ReferredMember: Member {
  static var kind: String { "reference" }
  static func make(_ id: Int) -> Reference<IdentifiedMember> {
    Reference(IdentifiedMember.self, identifier: id)
  }
  static func read(_ held: Reference<IdentifiedMember>, _ garage: Garage) throws -> String? {
    try garage.retrieve(held)?.name
  }
}

private struct Owner<M: Member>: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "owner of a changed mind" }
  var id: Int
  var property: M.Held
  var optional: M.Held?
  var none: M.Held?
  var array: [M.Held]
  var dictionary: [String: M.Held]

  static func make(_ id: Int) -> Owner {
    Owner(
      id: id, property: M.make(1), optional: M.make(2), none: nil, array: [M.make(1), M.make(3)],
      dictionary: ["a": M.make(2), "b": M.make(4)])
  }

  func names(_ garage: Garage) throws -> [String?] {
    let all =
      [property] + (optional.map { [$0] } ?? []) + array
      + [dictionary["a"], dictionary["b"]].compactMap { $0 }
    return try all.map { try M.read($0, garage) }
  }
}

/// A property's type may become a record of its own, or cease to be one, without a migration.
@Suite struct InlineOrReferenceTests {
  private static let names = [1, 2, 1, 3, 2, 4].map { "member \($0)" }

  /// Parks as one program and reads as the next.
  private func change<Before: Member, After: Member>(
    _ backend: Backend, _: Before.Type, _: After.Type, savesTargets: Bool = false
  ) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let change: Comment = "\(Before.kind) → \(After.kind)"
    // A reference made by hand parks nothing of its target.
    if savesTargets { try garage.parkAll((1...4).map(IdentifiedMember.make)) }
    try garage.parkAll((0..<3).map { Owner<Before>.make($0) })
    garage = try place.reopened(garage)
    do {
      let owners = try garage.retrieveAll(Owner<After>.self)
      #expect(owners.map(\.id) == [0, 1, 2], change)
      for owner in owners {
        #expect(try owner.names(garage) == InlineOrReferenceTests.names, change)
        #expect(owner.none == nil, change)
      }
      // What was read is parked the new way, beside what is still the old way, and read again.
      try garage.park(owners[1])
      garage = try place.reopened(garage)
      #expect(
        try garage.retrieveAll(Owner<After>.self).map { try $0.names(garage) }
          == Array(repeating: InlineOrReferenceTests.names, count: 3), change)
    } catch {
      Issue.record("\(change): \(error)")
    }
  }

  @Test(arguments: Backend.allCases)
  func whatWasInlineIsReadAsAnythingElse(_ backend: Backend) throws {
    try change(backend, InlineMember.self, InlineMember.self)
    try change(backend, InlineMember.self, IdentifiedMember.self)
    try change(backend, InlineMember.self, InlinedMember.self)
    try change(backend, InlineMember.self, InternedMember.self)
    try change(backend, InlineMember.self, ReferredMember.self)
  }

  @Test(arguments: Backend.allCases)
  func whatWasAReferenceIsReadAsAnythingElse(_ backend: Backend) throws {
    try change(backend, IdentifiedMember.self, InlineMember.self)
    try change(backend, IdentifiedMember.self, IdentifiedMember.self)
    try change(backend, IdentifiedMember.self, InlinedMember.self)
    try change(backend, IdentifiedMember.self, InternedMember.self)
    try change(backend, IdentifiedMember.self, ReferredMember.self)
  }

  @Test(arguments: Backend.allCases)
  func whatWasInlinedByItsMarkerIsReadAsAnythingElse(_ backend: Backend) throws {
    try change(backend, InlinedMember.self, InlineMember.self)
    try change(backend, InlinedMember.self, IdentifiedMember.self)
    try change(backend, InlinedMember.self, InternedMember.self)
    try change(backend, InlinedMember.self, ReferredMember.self)
  }

  @Test(arguments: Backend.allCases)
  func whatWasInternedIsReadAsAnythingElse(_ backend: Backend) throws {
    try change(backend, InternedMember.self, InlineMember.self)
    try change(backend, InternedMember.self, IdentifiedMember.self)
    try change(backend, InternedMember.self, InlinedMember.self)
    try change(backend, InternedMember.self, InternedMember.self)
  }

  /// A reference that took the place of an interned value names the very record.
  @Test(arguments: Backend.allCases)
  func whatWasInternedIsReadAsAReference(_ backend: Backend) throws {
    try change(backend, InternedMember.self, ReferredMember.self)
  }

  @Test(arguments: Backend.allCases)
  func whatWasALazyReferenceIsReadAsAnythingElse(_ backend: Backend) throws {
    try change(backend, ReferredMember.self, InlineMember.self, savesTargets: true)
    try change(backend, ReferredMember.self, IdentifiedMember.self, savesTargets: true)
    try change(backend, ReferredMember.self, InlinedMember.self, savesTargets: true)
    try change(backend, ReferredMember.self, InternedMember.self, savesTargets: true)
    try change(backend, ReferredMember.self, ReferredMember.self, savesTargets: true)
  }

  // MARK: Linked

  private final class PlainNode: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "node of a changed mind" }
    var id: Int
    var next: PlainNode?
    var others: [PlainNode] = []
    init(_ id: Int) { self.id = id }
  }
  private final class LinkedNode: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "node of a changed mind" }
    var id: Int
    @Linked var next: LinkedNode?
    @Linked var others: [LinkedNode]
    init(_ id: Int) { self.id = id }
  }
  private struct LazyNode: Codable, Identifiable, TypeTagged {
    static var typeTag: String { "node of a changed mind" }
    var id: Int
    var next: Reference<LazyNode>?
    var others: [Reference<LazyNode>]
  }

  @Test(arguments: Backend.allCases)
  func propertiesBecomeLinkedAndBack(_ backend: Backend) throws {
    let place = try Place(backend)
    var garage = try place.garage()
    let (a, b, c) = (PlainNode(1), PlainNode(2), PlainNode(3))
    a.next = b
    a.others = [b, c]
    try garage.park(a)
    garage = try place.reopened(garage)
    let linked = try #require(try garage.retrieve(LinkedNode.self, identifier: 1))
    #expect(linked.next === linked.others[0] && linked.others.map(\.id) == [2, 3])
    let lazy = try #require(try garage.retrieve(LazyNode.self, identifier: 1))
    let next = try #require(lazy.next)
    #expect(try garage.retrieve(next)?.id == 2)
    #expect(
      lazy.others == [Reference(LazyNode.self, identifier: 2), Reference(LazyNode.self, identifier: 3)])
    try garage.park(linked)
    garage = try place.reopened(garage)
    let plain = try #require(try garage.retrieve(PlainNode.self, identifier: 1))
    #expect(plain.next === plain.others[0] && plain.others.map(\.id) == [2, 3])
    try garage.park(lazy)
    garage = try place.reopened(garage)
    #expect(try garage.retrieve(PlainNode.self, identifier: 1)?.others.map(\.id) == [2, 3])
    #expect(try garage.retrieve(LinkedNode.self, identifier: 1)?.others.map(\.id) == [2, 3])
  }
}
