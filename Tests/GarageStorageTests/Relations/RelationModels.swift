import Foundation
import Synchronization
import Testing

@testable import GarageStorage

/// Refers to its own kind in two ways.
final class Bight: Codable, Identifiable {
  let id: Int
  var plain: [Bight] = []
  @Linked var linked: [Bight]

  init(_ id: Int) {
    self.id = id
    linked = []
  }
}

/// An object that refers to others of its kind in every way.
final class Snarl: Codable, Identifiable {
  let id: Int
  var tie: Reference<Snarl>?
  @Linked var links: [Snarl]
  var others: [Reference<Snarl>] = []
  var bead: Bead?

  init(_ id: Int) {
    self.id = id
    links = []
  }
}

/// One of a chain, which owns what comes after it.
struct Bead: Codable, Identifiable, DeleteRules {
  var id: Int
  var next: Reference<Bead>?
  static var owned: [Owned<Bead>] { [Owned(\.next)] }
}

/// One of a chain, with no rules.
struct Pearl: Codable, Identifiable {
  var id: Int
  var next: Reference<Pearl>?
}

/// One of a chain that goes only when nobody outside needs any of it.
struct Shackle: Codable, Identifiable, DeleteRules {
  var id: Int
  var next: Reference<Shackle>?
  static var referrersRule: ReferrersRule { .deny }
  static var owned: [Owned<Shackle>] { [Owned(\.next)] }
}

/// One of a chain that goes whoever refers to it.
struct Ribbon: Codable, Identifiable, DeleteRules {
  var id: Int
  var next: Reference<Ribbon>?
  static var referrersRule: ReferrersRule { .nullify }
  static var owned: [Owned<Ribbon>] { [Owned(\.next)] }
}

/// Refers to one of each chain, from outside.
struct Keeper: Codable, Identifiable {
  var id: Int
  var shackle: Reference<Shackle>?
  var ribbon: Reference<Ribbon>?
}

/// Referred to in every form that a property can have.
struct Hub: Codable, Identifiable, Equatable, Hashable {
  var id: String
}

struct Spoke: Codable, Identifiable {
  struct Part: Codable {
    var hub: Hub?
    var count = 1
  }

  var id: Int
  var title = "spoke"
  var hub: Hub?
  var renamed: Hub?
  @Linked var linked: Hub?
  var reference: Reference<Hub>?
  var list: [Hub] = []
  var set: Set<Hub> = []
  var byName: [String: Hub] = [:]
  var byNumber: [Int: Hub] = [:]
  /// A dictionary whose keys are no text. (Without the optional nothing could be made up of a spoke.)
  var byToken: [UUID: Hub]?
  var part = Part()
  var parts: [Part] = []

  init(_ id: Int) {
    self.id = id
    linked = nil
  }

  enum CodingKeys: String, CodingKey {
    case id, title, hub, linked, reference, list, set, byName, byNumber, byToken, part, parts
    case renamed = "other name"
  }
}

/// Cannot be without a hub.
struct Wheel: Codable, Identifiable {
  var id: Int
  var hub: Hub
}

/// Identified by what it holds.
struct Claim: Codable, Hashable {
  var hub: Hub
}

/// Whose objects are not to be decoded where a test says so.
struct Sphinx: Codable, Identifiable {
  static let isSilent = Mutex(false)
  var id: Int
  var hub: Hub?
  var words = "?"

  init(id: Int, hub: Hub?) { (self.id, self.hub) = (id, hub) }

  init(from decoder: any Decoder) throws {
    if Sphinx.isSilent.withLock({ $0 }) { throw CocoaError(.coderInvalidValue) }
    let container = try decoder.container(keyedBy: CodingKeys.self)
    id = try container.decode(Int.self, forKey: .id)
    hub = try container.decodeIfPresent(Hub.self, forKey: .hub)
    words = try container.decode(String.self, forKey: .words)
  }
}

/// What stays as long as somebody needs it, and takes its volumes along.
final class Author: Codable, Identifiable, DeleteRules {
  let id: Int
  @Linked var volumes: [Volume]
  @Linked var rival: Author?
  var patron: Reference<Author>?

  init(_ id: Int) {
    self.id = id
    volumes = []
    rival = nil
  }

  static var referrersRule: ReferrersRule { .deny }
  static var owned: [Owned<Author>] { [Owned(\.volumes)] }
}

final class Volume: Codable, Identifiable, DeleteRules {
  let id: String
  @Linked var author: Author?
  @Linked var sequel: Volume?

  init(_ id: String, _ author: Author?) {
    self.id = id
    self.author = author
    sequel = nil
  }

  static var referrersRule: ReferrersRule { .nullify }
  static var owned: [Owned<Volume>] { [Owned(\.sequel)] }
}

/// Under two names, one after the other.
struct OldGuild: Codable, Identifiable, TypeTagged {
  var id: Int
  static var typeTag: String { "old guild" }
}

struct Guild: Codable, Identifiable, TypeTagged {
  var id: Int
  static var typeTag: String { "guild" }
  static var formerTypeTags: [String] { ["old guild"] }
}

struct Journeyman: Codable, Identifiable {
  var id: Int
  var old: Reference<OldGuild>?
  var new: Reference<Guild>?
}

enum RelationKeys: Namespace {
  static let id = "relations"
  static let favourite = Key<RelationKeys, Reference<Snarl>?>(id: "favourite", defaultValue: nil)
}

extension Backend {
  /// A garage whose store has an index of references, or none.
  func relations(
    _ place: Place, isIndexed: Bool, types: [any Codable.Type] = [], hidesIdentifiers: Bool = false
  ) throws -> Garage {
    let indexed: ReferrerOption = isSealed ? .hashed : .indexed
    return try Garage(
      place.open(), types: types, hidesIdentifiers: hidesIdentifiers,
      referrers: isIndexed ? indexed : .asStored)
  }
}

/// Objects that refer to each other at random, and the same as lists of numbers.
struct SnarlGraph {
  var random: SeededGenerator
  let count: Int
  /// Where each knot that is there leads.
  var targets: [Int: Set<Int>] = [:]

  init(_ count: Int, seed: UInt64) {
    self.count = count
    random = SeededGenerator(seed: seed)
  }

  /// Parks a knot with other references than before. What it is linked with is parked as well, and then refers to nothing,
  /// unless it is there already.
  mutating func park(_ id: Int, in writer: some GarageWriting) throws {
    let snarl = Snarl(id)
    func some(_ counts: ClosedRange<Int>) -> [Int] {
      (0..<Int.random(in: counts, using: &random)).map { _ in Int.random(in: 0..<count, using: &random) }
    }
    let ties = some(0...1)
    let others = some(0...3)
    snarl.tie = ties.first.map { Reference(Snarl.self, identifier: $0) }
    snarl.others = others.map { Reference(Snarl.self, identifier: $0) }
    try writer.park(snarl)
    targets[id] = Set(ties + others)
  }

  mutating func change(_ writer: some GarageWriting, _ times: Int) throws {
    for _ in 0..<times {
      let id = Int.random(in: 0..<count, using: &random)
      if targets[id] != nil, Int.random(in: 0..<4, using: &random) == 0 {
        try writer.delete(Snarl.self, identifier: id)
        targets[id] = nil
      } else {
        try park(id, in: writer)
      }
    }
  }

  func referrers(of id: Int) -> [Int] { targets.filter { $0.value.contains(id) }.keys.sorted() }

  /// What goes with one: what is reached from it and from nothing that is not.
  func unreached(without root: Int) -> Set<Int> {
    func reached(from roots: [Int], leavingOut: Int? = nil) -> Set<Int> {
      var (reached, waiting) = (Set(roots), roots)
      while let next = waiting.popLast() {
        for target in targets[next] ?? [] where targets[target] != nil && target != leavingOut {
          if reached.insert(target).inserted { waiting.append(target) }
        }
      }
      return reached
    }
    let inside = reached(from: [root])
    let outside = targets.keys.filter { !inside.contains($0) }
    return inside.subtracting(reached(from: outside, leavingOut: root))
  }
}

/// Refers to hubs by two properties, and by others that are made of these.
struct Acquaintance: Codable, Identifiable {
  var id: Int
  var friend: Reference<Hub>?
  var foe: Reference<Hub>?
  var others: [Reference<Hub>] = []
  var all: [Reference<Hub>] { [friend, foe].compactMap { $0 } + others }
  var first: Reference<Hub> { all[0] }
  var dearest: Reference<Hub>? {
    get { friend ?? foe }
    set { friend = newValue }
  }
  /// The friend under another name.
  var mate: Reference<Hub>? {
    get { friend }
    set { friend = newValue }
  }
}

/// Whether a deletion is refused for the sake of those who refer to the object. Any other error is an issue.
func isRefused(_ delete: () throws -> Void) -> Bool {
  do {
    try delete()
    return false
  } catch GarageError.stillReferredTo {
    return true
  } catch {
    Issue.record(error)
    return false
  }
}
