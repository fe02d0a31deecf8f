import Foundation

/// One line of the result: us beside one peer.
struct ResultRow: Encodable {
  var name: String
  /// Ours.
  var subject: String
  var peer: String
  /// The peer's figure over ours: above 1 we are faster, or smaller.
  var ratio: Double
  var subjectValue: Double
  var peerValue: Double
  /// What the values count: nanoseconds per object, or bytes per object.
  var unit: String
  /// The ratio of processor time: what is left of a loaded machine's disturbance. Nil for sizes.
  var processorRatio: Double?
  /// How many objects a round has.
  var objects: Int
  var rounds: Int

  /// A row of times; nil where one of the two was not measured.
  ///
  /// - Parameter who: under what name the peer's samples are, where that is not `peer`.
  init?(_ name: String, _ subject: String, _ peer: String, who: String? = nil, _ samples: Samples) {
    guard let ours = samples.median(name, subject), let theirs = samples.median(name, who ?? peer) else {
      return nil
    }
    self.init(
      name: name, subject: subject, peer: peer, ratio: theirs.wall / ours.wall, subjectValue: ours.wall,
      peerValue: theirs.wall, unit: "ns", processorRatio: theirs.processor / ours.processor,
      objects: ours.objects,
      rounds: min(ours.rounds, theirs.rounds))
  }

  /// A row of sizes.
  init(_ name: String, _ subject: String, _ peer: String, bytes: Double, peerBytes: Double, objects: Int) {
    self.init(
      name: name, subject: subject, peer: peer, ratio: peerBytes / bytes, subjectValue: bytes,
      peerValue: peerBytes, unit: "bytes", processorRatio: nil, objects: objects, rounds: 1)
  }

  private init(
    name: String, subject: String, peer: String, ratio: Double, subjectValue: Double, peerValue: Double,
    unit: String, processorRatio: Double?, objects: Int, rounds: Int
  ) {
    self.name = name
    self.subject = subject
    self.peer = peer
    self.ratio = ratio
    self.subjectValue = subjectValue
    self.peerValue = peerValue
    self.unit = unit
    self.processorRatio = processorRatio
    self.objects = objects
    self.rounds = rounds
  }
}

/// Lays rows out for a terminal.
enum Table {
  static func text(_ rows: [ResultRow]) -> String {
    let head = ["name", "subject", "peer", "subject", "peer", "unit", "ratio", "by CPU time", "rounds"]
    let cells = rows.map { row in
      [
        row.name, row.subject, row.peer, number(row.subjectValue), number(row.peerValue), row.unit,
        ratio(row.ratio), row.processorRatio.map(ratio) ?? "", String(row.rounds),
      ]
    }
    return lines(head, cells, left: [0, 1, 2, 5])
  }

  /// Columns as wide as what stands in them; those in `left` begin at their left edge.
  static func lines(_ head: [String], _ cells: [[String]], left: Set<Int>) -> String {
    let widths = head.indices.map { column in ([head] + cells).map { $0[column].count }.max()! }
    func line(_ cells: [String]) -> String {
      zip(cells.indices, cells).map { column, cell in
        let room = String(repeating: " ", count: widths[column] - cell.count)
        return left.contains(column) ? cell + room : room + cell
      }.joined(separator: "  ")
    }
    let rule = widths.map { String(repeating: "─", count: $0) }.joined(separator: "  ")
    return ([line(head), rule] + cells.map(line)).joined(separator: "\n")
  }

  /// For a page: a line for each name and subject, with the ratios to all peers.
  static func markdown(_ rows: [ResultRow]) -> String {
    var lines = ["| | | an object | beside |", "|---|---|---:|---|"]
    var rest = rows[...]
    while let first = rest.first {
      let group = rest.prefix {
        $0.name == first.name && $0.subject == first.subject && $0.unit == first.unit
      }
      rest = rest.dropFirst(group.count)
      let peers = group.map { "\($0.peer) **\(ratio($0.ratio))**" }.joined(separator: " · ")
      lines.append("| \(first.name) | \(first.subject) | \(quantity(first)) | \(peers) |")
    }
    return lines.joined(separator: "\n")
  }

  private static func quantity(_ row: ResultRow) -> String {
    let value = row.subjectValue
    if row.unit != "ns" { return "\(number(value)) bytes" }
    return value < 1000
      ? "\(number(value)) ns" : String(format: value < 100_000 ? "%.1f µs" : "%.0f µs", value / 1000)
  }

  private static func number(_ value: Double) -> String { String(format: "%.0f", value) }
  private static func ratio(_ value: Double) -> String { String(format: value < 10 ? "%.2f" : "%.1f", value) }
}
