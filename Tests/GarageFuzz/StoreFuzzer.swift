import Foundation
import GarageCoding
import GarageDriver
import GarageMemory
import GarageStorage

/// A store whose entries were changed, under a garage whose every verb is called.
///
/// The input decides which entries are changed, and how.
final class StoreFuzzer: Fuzzer {
  private let entries: [(key: [UInt8], value: [UInt8])]

  var seeds: [[UInt8]] { [] }

  init() throws {
    let driver = MemoryStorage()
    let garage = try Garage(driver, types: [FuzzDog.self])
    var random = InputRandom(seed: 3)
    let node = Node<[String]>("a", ["b"])
    node.links = [node, Node("c", [])]
    node.next = Node(String(repeating: "long", count: 100), ["d"])
    try garage.park(node)
    try garage.park(FuzzDog("rex"))
    try garage.park(FuzzAnimal("any"))
    try garage.park(FuzzRoot(Fields<Int, [String]>.random(&random, 0)))
    try garage.park(Fields<Int, String>.random(&random, 0))
    var entries: [(key: [UInt8], value: [UInt8])] = []
    try driver.read { transaction in
      try transaction.scan(.all, .forward) { key, value in
        entries.append((key.withUnsafeBytes { Array($0) }, value.withUnsafeBytes { Array($0) }))
        return .continue
      }
    }
    self.entries = entries
  }

  func run(_ input: [UInt8]) {
    var random = InputRandom(input)
    var entries = entries
    for _ in 0...random.below(3) {
      let index = random.below(entries.count)
      changeEntry(&entries[index], from: self.entries, &random)
      if random.once(in: 10) { entries.remove(at: index) }
    }
    let driver = MemoryStorage()
    do {
      try driver.write { transaction in
        for entry in entries where !entry.key.isEmpty && entry.key.count <= 511 {
          try transaction.put(entry.value.span.bytes, for: entry.key.span.bytes)
        }
        return .commit(())
      }
    } catch {
      fail("\(error)")
    }
    guard let garage = try? Garage(driver, types: [FuzzDog.self]) else { return }
    callVerbs(garage)
  }

  private func callVerbs(_ garage: Garage) {
    call(garage, Node<[String]>.self, "a")
    call(garage, FuzzAnimal.self, "rex")
    call(garage, FuzzDog.self, "any")
    call(garage, FuzzRoot<Fields<Int, [String]>>.self, 1)
    _ = try? garage.retrieveAll(Fields<Int, String>.self)
    try? garage.park(FuzzDog("rex"))
    try? garage.park(Node<[String]>("a", ["again"]))
    call(garage, Node<[String]>.self, "a")
    try? garage.deleteAll(FuzzAnimal.self)
    _ = try? garage.count(FuzzAnimal.self)
  }

  private func call<T: Codable & Identifiable>(_ garage: Garage, _ type: T.Type, _ id: T.ID) {
    _ = try? garage.retrieve(T.self, identifier: id)
    _ = try? garage.retrieveAll(T.self)
    try? garage.forEach(T.self) { _ in }
    _ = try? garage.count(T.self)
    try? garage.delete(T.self, identifier: id)
  }

  func mutate(_ input: [UInt8], _ random: InputRandom) -> [UInt8] {
    var random = random
    return random.bytes(4 + random.below(40))
  }
}
