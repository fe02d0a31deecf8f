// How fast parking and retrieving are over a sealed storage, beside the same storage without seals:
//   swift run --package-path Tests/CryptoTests --scratch-path .build-crypto -c release SealingSpeed [objects] [rounds] \
//     [memory|sqlite|lmdb] [stack]
import Crypto
import Foundation
import GarageCrypto
import GarageDriver
import GarageLMDB
import GarageMemory
import GarageSQLite
import GarageSealing
import GarageStorage

struct Person: Codable, Identifiable {
  var id: String
  var name: String
  var age: Int
  var birthdate: Date
  var address: [String]
  var dates: [Date]
  var tags: [String]
  var partner: String
  var friends: [String]
}

/// About 315 bytes as JSON, as the one in Benchmarks.
func people(_ count: Int) -> [Person] {
  (0..<count).map { number in
    func id(_ number: Int) -> String { String(format: "person-%05d", number % count) }
    func date(_ day: Int) -> Date { Date(timeIntervalSinceReferenceDate: Double(day) * 86_400.125) }
    return Person(
      id: id(number), name: "Meriadoc Brandybuck \(number % 97)", age: number % 80,
      birthdate: date(number % 9999),
      address: ["\(number % 99) Bagshot Row", "Hobbiton", "The Shire"],
      dates: [date(number), date(number + 1), date(number + 2)], tags: ["friend", "neighbour", "colleague"],
      partner: id(number * 7 + 1), friends: [id(number * 3 + 2), id(number * 5 + 3)])
  }
}

enum Base: String, CaseIterable {
  case memory, sqlite, lmdb

  func open(_ folder: URL) throws -> any StorageDriver {
    switch self {
    case .memory: MemoryStorage()
    case .sqlite: try SQLiteStorage(at: folder.appending(path: "store"))
    case .lmdb: try LMDBStorage(at: folder.appending(path: "store"))
    }
  }
}

let count = CommandLine.arguments.count > 1 ? Int(CommandLine.arguments[1]) ?? 100_000 : 100_000
let rounds = CommandLine.arguments.count > 2 ? Int(CommandLine.arguments[2]) ?? 5 : 5
let all = people(count)
let key = SymmetricKey(size: .bits256)
let bases = CommandLine.arguments.count > 3 ? [Base(rawValue: CommandLine.arguments[3])!] : Base.allCases
let allStacks: [(String, (any StorageDriver) throws -> Garage)] = [
  ("plain", { try Garage($0) }),
  ("AES-GCM", { try Garage(SealedStorage($0, sealer: AESGCMSealer(key: key))) }),
  ("ChaChaPoly", { try Garage(SealedStorage($0, sealer: ChaChaPolySealer(key: key))) }),
  (
    "AES-GCM-hiding",
    { try Garage(SealedStorage($0, sealer: AESGCMSealer(key: key)), hidesIdentifiers: true) }
  ),
]
let stacks = allStacks.filter { CommandLine.arguments.count <= 4 || $0.0 == CommandLine.arguments[4] }
var times: [String: [Double]] = [:]
/// What is left when other programs disturb.
var processorTimes: [String: [Double]] = [:]

func nanoseconds(_ clock: clockid_t) -> Double {
  var time = timespec()
  clock_gettime(clock, &time)
  return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}

@MainActor func median(_ times: [Double]) -> Double { times.sorted()[times.count / 2] }

@MainActor func measure(_ name: String, _ body: () throws -> Void) rethrows {
  let (wall, processor) = (nanoseconds(CLOCK_MONOTONIC), nanoseconds(CLOCK_PROCESS_CPUTIME_ID))
  try body()
  times[name, default: []].append((nanoseconds(CLOCK_MONOTONIC) - wall) / Double(count))
  processorTimes[name, default: []].append(
    (nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - processor) / Double(count))
}

for round in 0...rounds {
  for base in bases {
    for (name, open) in stacks {
      let folder = FileManager.default.temporaryDirectory.appending(path: "sealing-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let garage = try open(base.open(folder))
      if round == 0 {
        try garage.parkAll(all.prefix(1000))
        continue
      }
      try measure("\(base) \(name) parkAll") { try garage.parkAll(all) }
      var found = 0
      try measure("\(base) \(name) retrieveAll") { found = try garage.retrieveAll(Person.self).count }
      precondition(found == count)
      try measure("\(base) \(name) retrieve") {
        for person in all where try garage.retrieve(Person.self, identifier: person.id) != nil { found -= 1 }
      }
      precondition(found == 0)
      try garage.close()
    }
  }
}

print("ns an object, median of \(rounds) rounds, \(count) objects; behind: processor time")
for base in bases {
  for verb in ["parkAll", "retrieveAll", "retrieve"] {
    let figures = stacks.map { name, _ in
      let name = "\(base) \(name) \(verb)"
      return (median(times[name]!), median(processorTimes[name]!))
    }
    for ((name, _), figure) in zip(stacks, figures) {
      let share = String(format: "%.2f, %.2f", figures[0].0 / figure.0, figures[0].1 / figure.1)
      print("\(base) \(verb) \(name): \(Int(figure.0)), \(Int(figure.1)) (\(share) of the plain speed)")
    }
  }
}
