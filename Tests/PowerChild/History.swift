import CPowerLoss
import Foundation
import GarageStorage

/// Which commit was the last.
struct Ledger: Codable, Identifiable {
  var id = 0
  var count: Int
}

struct Entry: Codable, Identifiable, Equatable {
  var id: Int
  /// The commit that parked it.
  var version: Int
  var text: String
}

/// Commits that follow from a seed, and what is in the store after each.
struct History: Sendable {
  let count: Int
  let seed: UInt64

  private struct Commit {
    var parked: [Int] = []
    var deleted: Int?
  }

  private func commit(_ number: Int) -> Commit {
    var random = PowerRandom(seed &+ UInt64(number) &* 0x9E37)
    var commit = Commit()
    commit.parked = Array(
      Set((0..<Int.random(in: 1...4, using: &random)).map { _ in Int.random(in: 0..<60, using: &random) })
    )
    .sorted()
    if Int.random(in: 0..<3, using: &random) == 0 { commit.deleted = Int.random(in: 0..<60, using: &random) }
    return commit
  }

  private func entry(_ id: Int, _ version: Int) -> Entry {
    var random = PowerRandom(seed ^ UInt64(id) << 32 ^ UInt64(version))
    // Mostly small ones; some that need pages of their own, and some in many pieces.
    let length =
      switch Int.random(in: 0..<50, using: &random) {
      case 0: 150_000
      case 1...4: Int.random(in: 4_000...20_000, using: &random)
      default: Int.random(in: 10...300, using: &random)
      }
    let letter = Character(Unicode.Scalar(UInt8.random(in: 97...122, using: &random)))
    return Entry(id: id, version: version, text: String(repeating: letter, count: length))
  }

  /// The entries after each number of commits, from none to all.
  func states() -> [[Int: Int]] {
    var states: [[Int: Int]] = [[:]]
    for number in 1...count {
      var state = states[number - 1]
      let commit = commit(number)
      for id in commit.parked { state[id] = number }
      if let id = commit.deleted { state[id] = nil }
      states.append(state)
    }
    return states
  }

  func entries(_ state: [Int: Int]) -> [Entry] {
    state.sorted { $0.key < $1.key }.map { entry($0.key, $0.value) }
  }

  /// Commits all of it to a new store, gives room back now and then, and closes the store.
  func record(_ store: PowerStore, in folder: URL, to trace: String) throws {
    let path = folder.path
    let error = power_loss_record(path.hasSuffix("/") ? path : path + "/", trace)
    if error != 0 { throw Failure("nothing can be recorded: error \(error)") }
    let garage = try Garage(store.open(in: folder))
    for number in 1...count {
      let commit = commit(number)
      power_loss_note(Note.begun(number).code)
      try garage.write { writer in
        try writer.parkAll(commit.parked.map { entry($0, number) })
        if let id = commit.deleted, try writer.contains(Entry.self, identifier: id) {
          try writer.delete(Entry.self, identifier: id)
        }
        try writer.park(Ledger(count: number))
      }
      power_loss_note(Note.acknowledged(number).code)
      if number % 60 == 0 { try garage.compact() }
    }
    try garage.close()
  }
}

/// What the recording process says of itself.
enum Note {
  case begun(Int)
  case acknowledged(Int)

  var code: UInt64 {
    switch self {
    case .begun(let number): UInt64(number) << 1
    case .acknowledged(let number): UInt64(number) << 1 | 1
    }
  }

  init(code: UInt64) { self = code & 1 == 0 ? .begun(Int(code >> 1)) : .acknowledged(Int(code >> 1)) }
}

/// SplitMix64 (Steele, Lea and Flood, 2014).
struct PowerRandom: RandomNumberGenerator {
  private var state: UInt64
  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }
}
