import Foundation
import GarageDriver
import GarageStorage

// What two processes write into one store. Each brings types that the other never encodes.

class Fruit: Codable, Identifiable {
  var id: String
  init(_ id: String) { self.id = id }
}
final class Apple: Fruit {}
final class Pear: Fruit {}

struct LeftNote: Codable, Identifiable {
  var id: Int
  var left: String
}
struct RightNote: Codable, Identifiable {
  var id: Int
  var right: [String]
}

/// How many rounds both sides have done.
struct Tally: Codable, Identifiable {
  var id = 0
  var count = 0
}

enum Sharing {
  /// Does its rounds as soon as it reads a line, and goes on until it has seen all of the other side's.
  static func run(_ storage: any StorageDriver, side: String, rounds: Int) throws {
    let garage = try Garage(storage, types: [Apple.self, Pear.self])
    let isLeft = side == "left"
    Command.report(["ready": side])
    _ = readLine()
    var seen = 0
    for round in 0..<rounds {
      try garage.write(retrying: 1000) { writer in
        var tally = try writer.retrieve(Tally.self, identifier: 0) ?? Tally()
        tally.count += 1
        try writer.park(tally)
        try writer.park(any: isLeft ? Apple("apple \(round)") : Pear("pear \(round)"))
      }
      if isLeft {
        try garage.park(LeftNote(id: round, left: "round \(round)"))
      } else {
        try garage.park(RightNote(id: round, right: ["round", "\(round)"]))
      }
      try look(garage, isLeft, &seen)
    }
    let deadline = ContinuousClock.now + .seconds(120)
    while seen < rounds {
      try look(garage, isLeft, &seen)
      if ContinuousClock.now > deadline { throw Failure("only \(seen) of the other side's notes arrived") }
      Thread.sleep(forTimeInterval: 0.01)
    }
    Command.report(["seen": seen])
    try garage.close()
  }

  /// What the other side wrote is whole, and does not go away.
  private static func look(_ garage: Garage, _ isLeft: Bool, _ seen: inout Int) throws {
    try garage.read(retrying: 1000) { reader in
      let notes =
        isLeft
        ? try reader.retrieveAll(RightNote.self).map(\.id) : try reader.retrieveAll(LeftNote.self).map(\.id)
      let fruits = try reader.retrieveAll(Fruit.self).count(where: { isLeft ? $0 is Pear : $0 is Apple })
      if notes != Array(0..<notes.count) { throw Failure("notes are missing: \(notes)") }
      if notes.count < seen || fruits < notes.count {
        throw Failure("\(notes.count) notes, \(fruits) fruits, \(seen) seen")
      }
      let tally = try reader.retrieve(Tally.self, identifier: 0)?.count ?? 0
      if tally < fruits { throw Failure("the tally is \(tally), with \(fruits) fruits") }
      seen = notes.count
    }
  }
}
