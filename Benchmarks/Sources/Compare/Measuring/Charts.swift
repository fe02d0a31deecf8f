import Foundation

/// Draws rows as SVG: a bar for each ratio, on a logarithmic scale. Colours work on light and dark pages.
enum Charts {
  /// Writes `codec.svg`, `stores.svg`, `growth.svg`, `shapes-in.svg` and `shapes-out.svg`, those of them that have
  /// rows.
  static func write(_ rows: [ResultRow], to folder: URL) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let times = rows.filter { $0.unit == "ns" }
    let growth = times.filter { GrowthComparison.names.contains($0.name) }
    let codec = times.filter { CodecComparison.names.contains($0.name) }
    let stores = times.filter { (StoreComparison.names + ArchiveComparison.names).contains($0.name) }
    let charts = [
      ("codec", "Coding an object: how many times as fast as …", lines(codec)),
      ("stores", "Storing objects: how many times as fast as …", lines(stores)),
      ("growth", "Retrieving from a growing store: how many times as fast as …", lines(growth)),
      (
        "shapes-in", "Parking objects of many shapes: how many times as fast as JSONEncoder, and as code by hand",
        lines(times, .into)
      ),
      (
        "shapes-out",
        "Retrieving objects of many shapes: how many times as fast as JSONDecoder, and as code by hand",
        lines(times, .out)
      ),
    ]
    for (name, title, lines) in charts where !lines.isEmpty {
      let file = folder.appending(path: "\(name).svg")
      try Data(chart(title, lines).utf8).write(to: file)
      say("wrote \(file.path)")
    }
  }

  private static let width = 860.0
  private static let labelWidth = 330.0
  private static let rowHeight = 20.0
  private static let top = 64.0
  private static let colors = [
    "garage": "#4c78a8", "memory": "#72b7b2", "sqlite": "#4c78a8", "lmdb": "#e68523",
  ]

  /// What stands beside one label: a bar for each ratio, from 1 to there.
  private struct Line {
    var label: String
    var bars: [(ratio: Double, color: String)]
    var text: String
  }

  private static func lines(_ rows: [ResultRow]) -> [Line] {
    rows.map { row in
      Line(
        label: "\(row.name), \(row.subject) : \(row.peer)",
        bars: [(row.ratio, colors[row.subject] ?? "#808080")], text: "× \(number(row.ratio))")
    }
  }

  /// A line for each shape, the slowest beside JSON last. By processor time, as its goals are.
  private static func lines(_ rows: [ResultRow], _ way: ShapeComparison.Way) -> [Line] {
    func ratio(_ row: ResultRow) -> Double { row.processorRatio ?? row.ratio }
    func beside(_ peer: String) -> [ResultRow] {
      rows.filter { way.title(in: $0.name) != nil && $0.peer == peer && $0.note == nil }
    }
    let byHand = Dictionary(uniqueKeysWithValues: beside(ShapeComparison.handWritten).map { ($0.name, ratio($0)) })
    return beside(way.json).sorted { ratio($0) > ratio($1) }.map { row in
      let byHand = byHand[row.name] ?? 1
      return Line(
        label: way.title(in: row.name) ?? row.name,
        // Where both are below 1, the shorter bar stands on the longer one.
        bars: [(byHand, "#808080"), (ratio(row), "#72b7b2")],
        text: "× \(number(ratio(row))), × \(number(byHand))")
    }
  }

  private static func chart(_ title: String, _ lines: [Line]) -> String {
    let ratios = lines.flatMap { $0.bars.map(\.ratio) }
    let height = top + rowHeight * Double(lines.count) + 16
    let least = min(0.1, ratios.min() ?? 1)
    let most = max(10, ratios.max() ?? 1)
    let room = width - labelWidth - (lines.contains { $0.bars.count > 1 } ? 110 : 70)
    func x(_ ratio: Double) -> Double { labelWidth + room * log(ratio / least) / log(most / least) }

    var svg = """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(width)) \(Int(height))" \
      font-family="sans-serif" font-size="12" fill="#808080">
      \(text(title, x: 8, y: 22, size: 16))

      """
    var tick = pow(10, ceil(log10(least)))
    while tick <= most {
      svg += line(x(tick), from: top - 8, to: height - 12, dashed: tick != 1)
      svg += text(tick == 1 ? "1 (equal)" : number(tick), x: x(tick), y: top - 14, anchor: "middle")
      tick *= 10
    }
    for (index, line) in lines.enumerated() {
      let y = top + rowHeight * Double(index)
      svg += text(line.label, x: labelWidth - 8, y: y + 13, anchor: "end")
      for bar in line.bars {
        let (start, end) = (min(x(1), x(bar.ratio)), max(x(1), x(bar.ratio)))
        svg += """
          <rect x="\(number(start))" y="\(number(y + 3))" width="\(number(max(1, end - start)))" \
          height="\(number(rowHeight - 6))" rx="2" fill="\(bar.color)"/>

          """
      }
      svg += text(line.text, x: x(max(1, line.bars.map(\.ratio).max() ?? 1)) + 6, y: y + 13)
    }
    return svg + "</svg>\n"
  }

  private static func number(_ value: Double) -> String {
    String(format: value < 10 ? "%.2f" : "%.1f", value)
  }

  private static func line(_ x: Double, from start: Double, to end: Double, dashed: Bool) -> String {
    """
    <line x1="\(number(x))" x2="\(number(x))" y1="\(number(start))" y2="\(number(end))" stroke="#808080" \
    stroke-width="\(dashed ? "0.5" : "1")"\(dashed ? " stroke-dasharray=\"3 3\"" : "")/>

    """
  }

  private static func text(
    _ text: String, x: Double, y: Double, anchor: String = "start", size: Int = 12
  ) -> String {
    """
    <text x="\(number(x))" y="\(number(y))" text-anchor="\(anchor)" font-size="\(size)">\(text)</text>

    """
  }
}
