import Benchmark
import Foundation
import GarageCoding
import GarageDriver
import GarageLMDB
import GarageMemory
import GarageSQLite
import GarageStorage

/// Single operations of Garage, each by itself, for finding out what a change did:
///
///     swift package --package-path Benchmarks benchmark baseline update before
///     swift package --package-path Benchmarks benchmark baseline compare before
///
/// How they stand beside their peers `compare` tells.
let benchmarks: @Sendable () -> Void = {
  Benchmark.defaultConfiguration = .init(
    metrics: [.wallClock, .cpuTotal, .throughput], timeUnits: .nanoseconds, scalingFactor: .kilo,
    maxDuration: .seconds(2))

  let people = (0..<1000).map { Guest(number: $0) }

  Benchmark("encode") { benchmark in
    let encoder = GraphEncoder()
    benchmark.startMeasurement()
    for number in benchmark.scaledIterations { blackHole(try encoder.encode([people[number]])) }
  }

  for (name, makeDriver) in drivers {
    Benchmark("park, \(name)", configuration: .init(scalingFactor: .one)) { benchmark in
      try withGarage(makeDriver) { garage in
        benchmark.startMeasurement()
        for number in benchmark.scaledIterations { try garage.park(people[number]) }
        benchmark.stopMeasurement()
      }
    }
    Benchmark("parkAll, \(name)") { benchmark in
      try withGarage(makeDriver) { garage in
        benchmark.startMeasurement()
        try garage.parkAll(people)
        benchmark.stopMeasurement()
      }
    }
    Benchmark("retrieve, \(name)") { benchmark in
      try withGarage(makeDriver) { garage in
        try garage.parkAll(people)
        benchmark.startMeasurement()
        for number in benchmark.scaledIterations {
          blackHole(try garage.retrieve(Guest.self, identifier: people[number].id))
        }
        benchmark.stopMeasurement()
      }
    }
    Benchmark("retrieveAll, \(name)") { benchmark in
      try withGarage(makeDriver) { garage in
        try garage.parkAll(people)
        benchmark.startMeasurement()
        blackHole(try garage.retrieveAll(Guest.self))
        benchmark.stopMeasurement()
      }
    }
    Benchmark("delete, \(name)") { benchmark in
      try withGarage(makeDriver) { garage in
        try garage.parkAll(people)
        benchmark.startMeasurement()
        try garage.write { writer in
          for number in benchmark.scaledIterations {
            try writer.delete(Guest.self, identifier: people[number].id)
          }
        }
        benchmark.stopMeasurement()
      }
    }
  }
}

private let drivers: [(String, @Sendable (URL) throws -> any StorageDriver)] = [
  ("memory", { _ in MemoryStorage() }),
  ("sqlite", { try SQLiteStorage(at: $0.appending(path: "garage")) }),
  ("lmdb", { try LMDBStorage(at: $0) }),
]

/// Lends an empty garage, which is gone afterwards.
private func withGarage(
  _ makeDriver: (URL) throws -> any StorageDriver, _ body: (Garage) throws -> Void
) throws {
  let folder = FileManager.default.temporaryDirectory.appending(path: "garage-operations-\(UUID())")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  let garage = try Garage(makeDriver(folder))
  try body(garage)
  try garage.close()
}

/// An object with a bit of everything.
private struct Guest: Codable, Identifiable, Sendable {
  var id: String
  var name: String
  var age: Int
  var arrival: Date
  var tags: [String]
  var companion: Reference<Guest>?

  init(number: Int) {
    id = String(number + 100_000_000_000)
    name = "Guest number \(number)"
    age = 18 + number % 80
    arrival = Date(timeIntervalSinceReferenceDate: Double(number) * 1234.5)
    tags = ["breakfast", "window", "quiet"]
    companion = number > 0 ? Reference(Guest.self, identifier: String(number + 99_999_999_999)) : nil
  }
}
