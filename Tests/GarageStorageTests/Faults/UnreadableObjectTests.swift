import Foundation
import GarageDriver
import GarageStorage
import Testing

private struct CartWheel: Codable, Identifiable { var id: Int }
private final class CartDriver: Codable, Identifiable { var id: Int; init(_ id: Int) { self.id = id } }
/// Refers to what it shares with others, eagerly and by links, and to what may be missing.
private final class WheelCart: Codable, Identifiable {
  var id: Int
  var driver: CartDriver
  var wheels: [CartWheel]
  @Linked var next: WheelCart?
  @Linked var drivers: [CartDriver]
  init(_ id: Int, _ driver: CartDriver) {
    (self.id, self.driver) = (id, driver)
    wheels = [CartWheel(id: id)]
    drivers = [driver]
  }
}
private class CartAnimal: Codable, Identifiable {
  var id: Int
  init(_ id: Int) { self.id = id }
}
private final class CartDog: CartAnimal {}
private final class CartLoop: Codable, Identifiable {
  var id: Int
  var next: CartLoop?
  init(_ id: Int) { self.id = id }
}
private struct CartUpgraded: Codable, Identifiable, TypeTagged, Evolving {
  static var typeTag: String { "unreadable upgraded" }
  var id: Int
  static var version: Int { 1 }
  struct No: Error {}
  static func upgrade(_ record: inout RecordValue, from version: Int) throws {
    if record["id"]?.integerValue == 2 { throw No() }
  }
}
private struct CartToUpgrade: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "unreadable upgraded" }
  var id: Int
}

/// Calls that go on behind what cannot be read.
@Suite struct UnreadableObjectTests {
  /// Drivers whose round trips are cheap, and expensive; hidden identifiers.
  private enum Way: String, CaseIterable { case plain, farAway, hidden }

  private func garage(_ place: Place, _ way: Way, _ types: [any Codable.Type] = []) throws -> Garage {
    switch way {
    case .plain: try Garage(place.open(), types: types)
    case .farAway: try Garage(FarAwayStorage(place.open()), types: types)
    case .hidden: try Garage(place.open(), types: types, hidesIdentifiers: true)
    }
  }
  private func ways(_ backend: Backend) -> [Way] {
    backend.isSealed ? Way.allCases : [.plain, .farAway]
  }

  /// What the three verbs and the three who have them read, and leave out.
  private func expect<T: Codable & Identifiable>(
    _ type: T.Type, _ garage: Garage, read: [Int], not: [String], of name: String,
    _ location: SourceLocation = #_sourceLocation
  ) throws where T.ID == Int {
    func check(
      _ who: String, _ forEach: ((UnreadableObject) throws -> Void, (T) throws -> Void) throws -> Void
    )
      throws
    {
      var (ids, failed): ([Int], [UnreadableObject]) = ([], [])
      try forEach({ failed.append($0) }, { ids.append($0.id) })
      #expect(ids.sorted() == read.sorted(), "\(who)", sourceLocation: location)
      #expect(failed.map(\.identifier).sorted() == not.sorted(), "\(who)", sourceLocation: location)
      #expect(failed.allSatisfy { $0.type == name && "\($0)".contains("\(name) \"\($0.identifier)\"") })
      #expect(failed.allSatisfy { $0.error != nil })
    }
    func all(_ who: String, _ verbs: some GarageReading) throws {
      try check("\(who).forEach") { try verbs.forEach(type, onError: $0, $1) }
      try check("\(who).retrieveAll") { onError, body in
        for object in try verbs.retrieveAll(type, onError: onError) { try body(object) }
      }
    }
    try all("garage", garage)
    try garage.read { try all("reader", $0) }
    try garage.write { try all("writer", $0) }
  }

  @Test(arguments: Backend.allCases)
  func missingTargetsAndDamage(_ backend: Backend) throws {
    for way in ways(backend) {
      let place = try Place(backend)
      let garage = try garage(place, way)
      let driver = CartDriver(1)
      let carts = (0..<8).map { WheelCart($0, driver) }
      for (cart, next) in zip(carts, carts.dropFirst()) where cart.id % 2 == 0 { cart.next = next }
      try garage.parkAll(carts)
      try garage.delete(CartWheel.self, identifier: 3)
      // 2 reaches 3 along its link.
      try expect(WheelCart.self, garage, read: [0, 1, 4, 5, 6, 7], not: ["2", "3"], of: "WheelCart")
      // Shared across what failed.
      for found in [
        try garage.retrieveAll(WheelCart.self, onError: { _ in }),
        try garage.read { try $0.retrieveAll(WheelCart.self, onError: { _ in }) },
      ] {
        #expect(Set(found.map { ObjectIdentifier($0.driver) }).count == 1)
        #expect(found.allSatisfy { $0.drivers.count == 1 && $0.drivers[0] === $0.driver })
        for cart in found { if let next = cart.next { #expect(found.contains { $0 === next }) } }
        for cart in found { cart.next = nil }
      }
      // A damaged record, a cut one, and one that is nothing.
      let driverBelow = try place.open()
      let records = try Driver.contents(driverBelow, .prefix([0x10]))
      var damaged = 0
      for (key, record) in records where record.count > 40 && damaged < 1 {
        let cart = try garage.retrieveAll(WheelCart.self, onError: { _ in }).map(\.id)
        var bytes = record
        bytes[record.count - 2] ^= 1
        try Driver.put(bytes, for: key.bytes, driverBelow)
        let now = try garage.retrieveAll(WheelCart.self, onError: { _ in }).map(\.id)
        if now.count < cart.count { damaged += 1 }
        for bytes in [Array(record.prefix(5)), Array(record.prefix(13)), [9] + record.dropFirst()] {
          try Driver.put(bytes, for: key.bytes, driverBelow)
          _ = try garage.retrieveAll(WheelCart.self, onError: { _ in })
        }
        try Driver.put(record, for: key.bytes, driverBelow)
        #expect(try garage.retrieveAll(WheelCart.self, onError: { _ in }).map(\.id).sorted() == cart.sorted())
      }
      try garage.close()
    }
  }

  @Test(arguments: Backend.allCases)
  func whateverElseCannotBeRead(_ backend: Backend) throws {
    for way in ways(backend) {
      let place = try Place(backend)
      var garage = try garage(place, way, [CartDog.self])
      try garage.parkAll([CartAnimal(1), CartDog(2), CartAnimal(3)])
      try garage.parkAll((1...3).map { Moody($0, refusesToDecode: $0 == 2) })
      try garage.parkAll((1...3).map { CartToUpgrade(id: $0) })
      let (one, two) = (CartLoop(1), CartLoop(2))
      (one.next, two.next) = (two, one)
      try garage.parkAll([one, two, CartLoop(3)])
      one.next = nil
      try garage.close()
      garage = try self.garage(place, way)
      try expect(CartAnimal.self, garage, read: [1, 3], not: ["2"], of: "CartAnimal")
      try expect(Moody.self, garage, read: [1, 3], not: ["2"], of: "Moody")
      try expect(CartUpgraded.self, garage, read: [1, 3], not: ["2"], of: "CartUpgraded")
      try expect(CartLoop.self, garage, read: [3], not: ["1", "2"], of: "CartLoop")
      // The error itself is there.
      try garage.forEach(Moody.self, onError: { #expect($0.error is Moody.Mood) }) { _ in }
      try garage.forEach(
        CartLoop.self,
        onError: { unreadable in
          if case .cycle? = unreadable.error as? GarageError {} else { Issue.record("\(unreadable)") }
        }
      ) { _ in }
      try garage.close()
    }
  }

  @Test(arguments: Backend.allCases)
  func theClosuresEndTheCallAndMayChange(_ backend: Backend) throws {
    struct Stop: Error {}
    let garage = try Place(backend).garage()
    try garage.parkAll((1...5).map { Moody($0, refusesToDecode: $0 % 2 == 0) })
    var seen: [Int] = []
    #expect(throws: Stop.self) {
      try garage.forEach(Moody.self, onError: { _ in throw Stop() }) { seen.append($0.id) }
    }
    #expect(throws: Stop.self) { try garage.forEach(Moody.self, onError: { _ in }) { _ in throw Stop() } }
    #expect(throws: Stop.self) { _ = try garage.retrieveAll(Moody.self) { _ in throw Stop() } }
    #expect(seen == [1])
    // What cannot be read is deleted, and what can be is parked again, in one write.
    try garage.write { writer in
      try writer.forEach(
        Moody.self, onError: { try writer.delete(Moody.self, identifier: #require(Int($0.identifier))) }
      ) {
        try writer.park(Moody($0.id + 10))
      }
    }
    #expect(try garage.retrieveAll(Moody.self).map(\.id) == [1, 3, 5, 11, 13, 15])
    #expect(
      try garage.retrieveAll(Moody.self, onError: { _ in Issue.record("there is nothing to report") }).count
        == 6)
  }
}

/// As if there were a network in between.
private struct FarAwayStorage: StorageDriver {
  let base: any StorageDriver
  init(_ base: any StorageDriver) { self.base = base }
  var info: StorageInfo {
    var info = base.info
    info.roundTripsAreExpensive = true
    return info
  }
  func read<R>(_ body: (any ReadTransaction) throws -> R) throws -> R { try base.read(body) }
  func write<R>(_ body: (any WriteTransaction) throws -> TransactionOutcome<R>) throws -> R {
    try base.write(body)
  }
  func close() throws { try base.close() }
}
