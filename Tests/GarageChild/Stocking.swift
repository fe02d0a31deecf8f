import Foundation
import GarageDriver
import GarageStorage

/// What several processes park, each with indexes of its own: its last argument says which.
struct Ware: Codable, Identifiable, Equatable, Indexed {
  var id: Int
  var code: Int?
  var name: String
  var price: Double
  var tags: [String] = []

  static var indexes: [Index<Ware>] {
    switch CommandLine.arguments.last {
    case "left": [Index(\.price), Index(each: \.tags)]
    case "right": [Index(\.name), Index(\.name, \.price), Index(each: \.tags)]
    case "unique": [Index(\.code, .unique)]
    default: []
    }
  }
}

enum Stocking {
  /// Changes wares and indexes until the process is killed, or a minute is over.
  static func stock(_ storage: any StorageDriver) throws {
    let garage = try Garage(storage)
    Command.report(["ready": 1])
    let end = ContinuousClock.now + .seconds(60)
    while ContinuousClock.now < end {
      do { try step(garage) } catch let error as GarageError where error.isRetryable {}
    }
  }

  private static func step(_ garage: Garage) throws {
    func wares(_ count: Int) -> [Ware] {
      (0..<count).map { _ in
        Ware(
          id: .random(in: 0..<2000), name: "n\(Int.random(in: 0..<50))",
          price: Double(Int.random(in: -9..<9)),
          tags: (0..<Int.random(in: 0..<3)).map { _ in "t\(Int.random(in: 0..<9))" })
      }
    }
    switch Int.random(in: 0..<14) {
    case 0: try garage.buildIndexes()
    case 1:
      let name = try garage.indexes(of: Ware.self).filter { $0.state != .dropping }.randomElement()?.name
      do { if let name { try garage.dropIndex(name, of: Ware.self) } } catch GarageError.invalidIndex {}
    case 2:
      try garage.withAutosaveDisabled { try garage.parkAll(wares(20)) }
      try garage.save()
    case 3: try garage.query(Ware.self).where(\.price == -3).deleteAll()
    case 4: _ = try garage.query(Ware.self).where(\.price < 0 && \.name == "n3").count()
    case 5: try garage.parkAll(wares(500))
    default: try garage.parkAll(wares(20))
    }
  }

  /// Parks wares with the codes 0 ..< `count`, as far as nobody else has.
  static func claim(_ storage: any StorageDriver, number: Int, count: Int) throws {
    let garage = try Garage(storage)
    Command.report(["ready": 1])
    _ = readLine()
    var taken = 0
    for code in 0..<count {
      var isDone = false
      while !isDone {
        do {
          try garage.park(Ware(id: number * count + code, code: code, name: "", price: 0))
          taken += 1
          isDone = true
        } catch GarageError.notUnique {
          isDone = true
        } catch let error as GarageError where error.isRetryable {
        }
      }
    }
    Command.report(["taken": taken])
    try garage.close()
  }
}
