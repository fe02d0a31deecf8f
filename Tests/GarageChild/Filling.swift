import DebianPackages
import Foundation
import GarageDriver
import GarageStorage

/// An object without references.
struct Sample: Codable, Identifiable, Equatable {
  var id: Int
  var name: String
  var value: Double
  var date: Date
  var tags: [String]

  init(_ id: Int) {
    self.id = id
    name = "sample number \(id)"
    value = Double(id) / 3
    date = Date(timeIntervalSinceReferenceDate: Double(id))
    tags = ["one", "two", "number \(id % 100)"]
  }
}

enum Filling {
  /// What `forEach` may hold above the empty process, in bytes.
  static let limit = 64 << 20

  static func fill(_ garage: Garage, count: Int) throws {
    for start in stride(from: 0, to: count, by: 10_000) {
      try garage.parkAll((start..<min(start + 10_000, count)).map { Sample($0) })
    }
    try garage.close()
  }

  /// Goes through all objects, and fails where memory grows beyond the limit.
  static func measure(opening open: () throws -> any StorageDriver, count: Int) throws {
    var expected = 0
    let above = try measure(Sample.self, opening: open) { sample in
      if sample.id != expected { throw Failure("object \(expected) has the number \(sample.id)") }
      expected += 1
    }
    if expected != count { throw Failure("\(expected) objects were visited, not \(count)") }
    if above > limit { throw Failure("\(mebibytes(above)) MiB were held, more than \(mebibytes(limit))") }
  }

  /// Goes through the packages that garage-demo parked, each with all that it reaches.
  ///
  /// - Parameter takingApart: whether their links are broken then. Where they stay, cycles are never released.
  static func measurePackages(opening open: () throws -> any StorageDriver, takingApart: Bool) throws {
    _ = try measure(Package.self, opening: open) { if takingApart { $0.takeApart() } }
  }

  /// The greatest number of bytes that `forEach` held above the empty process.
  private static func measure<T: Codable>(
    _ type: T.Type, opening open: () throws -> any StorageDriver, _ body: (T) throws -> Void
  ) throws -> Int {
    guard let empty = anonymousByteCount() else { throw Failure("this system has no RssAnon to read") }
    let garage = try Garage(try open())
    var (visited, peak) = (0, empty)
    let time = try ContinuousClock().measure {
      try garage.forEach(type) { object in
        visited += 1
        if visited % 256 == 0 { peak = max(peak, anonymousByteCount() ?? 0) }
        try body(object)
      }
    }
    peak = max(peak, anonymousByteCount() ?? 0)
    Command.report([
      "visited": visited, "emptyMiB": mebibytes(empty), "peakMiB": mebibytes(peak),
      "aboveMiB": mebibytes(peak - empty), "seconds": seconds(time),
    ])
    try garage.close()
    return peak - empty
  }

  private static func mebibytes(_ bytes: Int) -> String { String(format: "%.1f", Double(bytes) / 1_048_576) }

  /// The anonymous memory of this process; nil where the system does not tell.
  static func anonymousByteCount() -> Int? {
    guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
      let line = status.split(separator: "\n").first(where: { $0.hasPrefix("RssAnon:") }),
      let kibibytes = line.split(whereSeparator: { !$0.isNumber }).first.flatMap({ Int($0) })
    else { return nil }
    return kibibytes << 10
  }
}

extension Package {
  /// Breaks the links of all that it reaches. Neighbours that share some of it find them broken.
  func takeApart() {
    var rest = [self]
    while let package = rest.popLast() {
      rest += package.depends
      package.depends = []
    }
  }
}
