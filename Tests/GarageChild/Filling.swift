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
    guard let empty = anonymousByteCount() else { throw Failure("this system has no RssAnon to read") }
    let garage = try Garage(try open())
    var (visited, peak) = (0, empty)
    let time = try ContinuousClock().measure {
      try garage.forEach(Sample.self) { sample in
        if sample.id != visited { throw Failure("object \(visited) has the number \(sample.id)") }
        visited += 1
        if visited % 4096 == 0 { peak = max(peak, anonymousByteCount() ?? 0) }
      }
    }
    peak = max(peak, anonymousByteCount() ?? 0)
    func mebibytes(_ bytes: Int) -> String { String(format: "%.1f", Double(bytes) / 1_048_576) }
    Command.report([
      "visited": visited, "emptyMiB": mebibytes(empty), "peakMiB": mebibytes(peak),
      "aboveMiB": mebibytes(peak - empty), "seconds": seconds(time),
    ])
    if visited != count { throw Failure("\(visited) objects were visited, not \(count)") }
    if peak - empty > limit { throw Failure("more than \(mebibytes(limit)) MiB were held") }
    try garage.close()
  }

  /// The anonymous memory of this process; nil where the system does not tell.
  static func anonymousByteCount() -> Int? {
    guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
      let line = status.split(separator: "\n").first(where: { $0.hasPrefix("RssAnon:") }),
      let kibibytes = line.split(whereSeparator: { !$0.isNumber }).first.flatMap({ Int($0) })
    else { return nil }
    return kibibytes << 10
  }
}
