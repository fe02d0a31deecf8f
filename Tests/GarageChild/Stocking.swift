import Foundation
import GarageDriver
import GarageSealing
import GarageStorage
import Synchronization

/// What several processes park, each with indexes of its own: its last argument says which.
struct Ware: Codable, Identifiable, Equatable, Indexed {
  var id: Int
  var code: Int?
  var name: String
  var price: Double
  var tags: [String] = []
  var partner: Reference<Ware>?

  static var indexes: [Index<Ware>] {
    switch CommandLine.arguments.last {
    case "left": [Index(\.price, .readable), Index(each: \.tags, .readable)]
    case "right":
      [Index(\.name, .readable), Index(\.name, \.price, .readable), Index(each: \.tags, .readable)]
    case "unique": [Index(\.code, .unique, .readable)]
    default: []
    }
  }
}

enum Stocking {
  /// Changes wares and indexes until the process is killed, or a minute is over.
  static func stock(_ storage: any StorageDriver) throws {
    let indexed: ReferrerOption = storage is SealedStorage ? .hashed : .indexed
    let referrers: ReferrerOption = CommandLine.arguments.last == "right" ? indexed : .asStored
    let garage = try Garage(storage, referrers: referrers)
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
          tags: (0..<Int.random(in: 0..<3)).map { _ in "t\(Int.random(in: 0..<9))" },
          partner: Bool.random() ? Reference(Ware.self, identifier: .random(in: 0..<100)) : nil)
      }
    }
    switch Int.random(in: 0..<18) {
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
    case 6: _ = try garage.referrers(of: Ware.self, identifier: .random(in: 0..<100))
    case 7:
      do {
        try garage.delete(
          Ware.self, identifier: .random(in: 0..<100), referrers: Bool.random() ? .nullify : .deny)
      } catch GarageError.failedToRetrieveObject {} catch GarageError.stillReferredTo {}
    case 8:
      do { try garage.deleteGraph(Ware.self, identifier: .random(in: 0..<100)) } catch GarageError
        .failedToRetrieveObject
      {}
    case 9:
      if Int.random(in: 0..<4) == 0 {
        do { try garage.dropReferrerIndex() } catch GarageError.invalidIndex {}
      }
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

  /// The same on many threads of one garage, each in an order of its own.
  static func rush(_ storage: any StorageDriver, number: Int, count: Int, threads: Int) throws {
    let garage = try Garage(storage)
    let taken = Atomic<Int>(0)
    let failures = Atomic<Int>(0)
    Command.report(["ready": 1])
    _ = readLine()
    let group = DispatchGroup()
    for thread in 0..<threads {
      group.enter()
      Thread.detachNewThread {
        for code in (0..<count).shuffled() {
          let id = (number * threads + thread) * count + code
          do {
            if try take(code, id, garage) { taken.add(1, ordering: .relaxed) }
          } catch {
            failures.add(1, ordering: .relaxed)
          }
        }
        group.leave()
      }
    }
    group.wait()
    Command.report([
      "taken": taken.load(ordering: .relaxed), "failed": failures.load(ordering: .relaxed),
    ])
    try garage.close()
  }

  private static func take(_ code: Int, _ id: Int, _ garage: Garage) throws -> Bool {
    while true {
      do {
        try garage.park(Ware(id: id, code: code, name: "", price: 0))
        return true
      } catch GarageError.notUnique {
        return false
      } catch let error as GarageError where error.isRetryable {
      }
    }
  }
}
