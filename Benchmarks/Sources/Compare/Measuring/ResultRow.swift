import Foundation

/// One line of the result: us beside one peer.
struct ResultRow: Encodable {
  var name: String
  /// Which of many the row shows, where it is one of them.
  var note: String?
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
  /// - Parameters:
  ///   - ours: under what name the subject's samples are, where that is not `subject`.
  ///   - who: the same for the peer's.
  init?(
    _ name: String, _ subject: String, _ peer: String, ours: String? = nil, who: String? = nil, _ samples: Samples
  ) {
    guard let ours = samples.median(name, ours ?? subject), let theirs = samples.median(name, who ?? peer) else {
      return nil
    }
    self.init(
      name: name, subject: subject, peer: peer, ratio: theirs.wall / ours.wall, subjectValue: ours.wall,
      peerValue: theirs.wall, unit: "ns", processorRatio: theirs.processor / ours.processor,
      objects: ours.objects,
      rounds: min(ours.rounds, theirs.rounds))
  }

  /// A row of times beside what they may be at most, in nanoseconds; nil where they were not measured.
  init?(_ name: String, _ subject: String, atMost limit: Double, _ samples: Samples) {
    guard let ours = samples.median(name, subject) else { return nil }
    self.init(
      name: name, subject: subject, peer: Must.limit, ratio: limit / ours.wall, subjectValue: ours.wall,
      peerValue: limit, unit: "ns", processorRatio: limit / ours.processor, objects: ours.objects,
      rounds: ours.rounds)
  }

  /// A row of what is added to another's time, for each of `parts`, beside what that may be at most, in nanoseconds; nil where
  /// they were not measured. What came out quicker adds nothing.
  init?(
    _ name: String, _ subject: String, over other: String, per parts: Double, of measured: String, atMost limit: Double,
    _ samples: Samples
  ) {
    guard let ours = samples.median(measured, subject), let theirs = samples.median(measured, other) else {
      return nil
    }
    let added = max(0.001, (ours.wall - theirs.wall) / parts)
    let processor = max(0.001, (ours.processor - theirs.processor) / parts)
    self.init(
      name: name, subject: subject, peer: Must.limit, ratio: limit / added, subjectValue: added, peerValue: limit,
      unit: "ns", processorRatio: limit / processor, objects: ours.objects, rounds: min(ours.rounds, theirs.rounds))
  }

  /// A row of sizes.
  init(_ name: String, _ subject: String, _ peer: String, bytes: Double, peerBytes: Double, objects: Int) {
    self.init(
      name: name, subject: subject, peer: peer, ratio: peerBytes / bytes, subjectValue: bytes,
      peerValue: peerBytes, unit: "bytes", processorRatio: nil, objects: objects, rounds: 1)
  }

  /// A row of round trips: how many there were, beside how many there should be.
  init(_ name: String, note: String, _ subject: String, _ peer: String, trips: Int, _ peerTrips: Int) {
    self.init(
      name: name, subject: subject, peer: peer, ratio: Double(peerTrips) / Double(trips),
      subjectValue: Double(trips), peerValue: Double(peerTrips), unit: "trips", processorRatio: nil,
      objects: 1, rounds: 1)
    self.note = note
  }

  /// The geometric mean of rows of times with one subject and one peer.
  init(meanOf rows: [ResultRow], _ name: String) {
    func mean(_ value: (ResultRow) -> Double) -> Double {
      exp(rows.reduce(0) { $0 + log(value($1)) } / Double(rows.count))
    }
    self.init(
      name: name, subject: rows[0].subject, peer: rows[0].peer, ratio: mean(\.ratio),
      subjectValue: mean(\.subjectValue), peerValue: mean(\.peerValue), unit: rows[0].unit,
      processorRatio: mean { $0.processorRatio ?? $0.ratio }, objects: rows.reduce(0) { $0 + $1.objects },
      rounds: rows[0].rounds)
  }

  /// The row of the lowest ratio by processor time; nil where there are none.
  ///
  /// - Parameter note: says which one it is.
  init?(slowestOf rows: [ResultRow], _ name: String, note: (ResultRow) -> String?) {
    guard let row = rows.min(by: { $0.processorRatio ?? $0.ratio < $1.processorRatio ?? $1.ratio }) else {
      return nil
    }
    self = row
    self.note = note(row)
    self.name = name
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

extension ResultRow {
  /// The name, and which it is of many.
  var title: String { note.map { "\(name) (\($0))" } ?? name }
}

/// Lays rows out for a terminal.
enum Table {
  static func text(_ rows: [ResultRow]) -> String {
    let head = ["name", "subject", "peer", "subject", "peer", "unit", "ratio", "by CPU time", "rounds"]
    let cells = rows.map { row in
      [
        row.title, row.subject, row.peer, number(row.subjectValue), number(row.peerValue), row.unit,
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
        $0.title == first.title && $0.subject == first.subject && $0.unit == first.unit
      }
      rest = rest.dropFirst(group.count)
      let peers = group.map { "\($0.peer) **\(ratio($0.ratio))**" }.joined(separator: " · ")
      lines.append("| \(first.title) | \(first.subject) | \(quantity(first)) | \(peers) |")
    }
    return lines.joined(separator: "\n")
  }

  private static func quantity(_ row: ResultRow) -> String {
    let value = row.subjectValue
    if row.unit != "ns" { return "\(number(value)) \(row.unit)" }
    return value < 1000
      ? "\(number(value)) ns" : String(format: value < 100_000 ? "%.1f µs" : "%.0f µs", value / 1000)
  }

  private static func number(_ value: Double) -> String { String(format: "%.0f", value) }
  private static func ratio(_ value: Double) -> String {
    String(format: value < 0.1 ? "%.3f" : value < 10 ? "%.2f" : "%.1f", value)
  }
}
