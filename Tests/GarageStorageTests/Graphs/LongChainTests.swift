import Foundation
import Testing

@testable import GarageChild

/// Long chains of objects, on threads with 512 KiB of stack, in processes of their own: the one that retrieves
/// parked nothing. Seconds are attached, not judged.
@Suite(.serialized) struct LongChainTests {
  /// The kind, the driver and the length.
  struct Length: Sendable, CustomTestStringConvertible {
    var kind: ChainKind
    var driver: String
    var count: Int
    var testDescription: String { "\(kind) \(driver) \(count)" }
  }

  /// Every kind on every driver: 87 bytes of stack for each object would be too many.
  static let short = combinations([6_000]) + [Length(kind: .mixed, driver: "sealedSQLite", count: 6_000)]
  /// The growth of time with length shows in the rows of one kind and driver.
  static let long = combinations([10_000, 100_000, 1_000_000])

  private static func combinations(_ counts: [Int]) -> [Length] {
    ["memory", "sqlite", "lmdb"].flatMap { driver in
      ChainKind.allCases.flatMap { kind in counts.map { Length(kind: kind, driver: driver, count: $0) } }
    }
  }

  @Test(arguments: short) func parksAndComesBack(_ length: Length) throws { try run(length) }

  @Test(.enabled(if: runsLongTests), arguments: long)
  func ofFullLengthParksAndComesBack(_ length: Length) throws { try run(length) }

  private func run(_ length: Length) throws {
    let place = try Place(.memory)
    // What is in memory ends with its process.
    let steps = length.driver == "memory" ? ["both"] : ["park", "retrieve"]
    var seconds: [String: String] = [:]
    for step in steps {
      let child = try Child(
        "chain", length.driver, place.storePath.path, length.kind.rawValue, "\(length.count)", step)
      seconds.merge(try child.wait()) { $1 }
    }
    let (park, retrieve) = (try #require(seconds["park"]), try #require(seconds["retrieve"]))
    Attachment.record(
      "\(length.testDescription): parked in \(park) s, retrieved in \(retrieve) s\n", named: "seconds.txt")
    if runsLongTests {
      FileHandle.standardError.write(
        Data("chain \(length.testDescription): parked in \(park) s, retrieved in \(retrieve) s\n".utf8))
    }
    try FileManager.default.removeItem(at: place.folder)
  }
}
