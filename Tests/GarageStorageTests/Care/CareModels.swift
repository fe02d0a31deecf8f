import Foundation
import GarageStorage

/// An object with references of every kind.
final class CareNode: Codable, Identifiable {
  let id: Int
  var name: String
  var parent: CareLeaf?
  @Linked var links: [CareNode]
  var others: [Reference<CareNode>]
  /// Makes some records large, so that they stand elsewhere in some engines.
  var ballast: Data

  init(_ id: Int, ballast: Int = 0) {
    self.id = id
    name = "node \(id)"
    others = []
    self.ballast = Data(repeating: UInt8(truncatingIfNeeded: id), count: ballast)
    links = []
  }
}

/// What nodes refer to eagerly; it refers to nothing.
struct CareLeaf: Codable, Identifiable, Equatable {
  var id: String
  var text = ""
}

enum CareKeys: Namespace {
  static let id = "care"
  static let number = Key<CareKeys, Int>(id: "number", defaultValue: 0)
  static let favourites = Key<CareKeys, [Reference<CareNode>]>(id: "favourites", defaultValue: [])
}

/// A store with something of everything.
struct CareStore {
  let place: Place
  let driver: any StorageDriver
  let garage: Garage
  let nodes: [CareNode]

  init(_ backend: Backend, hidesIdentifiers: Bool = false) throws {
    place = try Place(backend)
    driver = try place.open()
    garage = try Garage(driver, types: [Dog.self, Puppy.self], hidesIdentifiers: hidesIdentifiers)
    nodes = (0..<20).map { CareNode($0, ballast: $0 % 5 == 0 ? 3000 : 0) }
    for node in nodes {
      node.parent = CareLeaf(id: "leaf \(node.id % 3)", text: "of some")
      node.links = [nodes[(node.id + 1) % 20], nodes[(node.id * 7) % 20]]
      node.others = [Reference(CareNode.self, identifier: (node.id + 5) % 20)]
    }
    try garage.park(nodes[0])
    try garage.parkAll(nodes)
    try garage.parkAll([Animal("a"), Dog("d"), Puppy("p")])
    try garage.park(Address(street: "Hill Lane", city: "Bree"))
    try garage.park(CareLeaf(id: String(repeating: "long ", count: 100)))
    try garage.parkAll((0..<6).map { Errand(id: $0, syncStatus: SyncStatus.allCases[$0 % 4]) })
    try garage.set(CareKeys.number, value: 7)
    try garage.set(CareKeys.favourites, value: [Reference(CareNode.self, identifier: 3)])
  }
}
