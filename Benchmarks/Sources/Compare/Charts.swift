import Foundation

/// Draws rows as SVG: a bar for each ratio, on a logarithmic scale. Colours work on light and dark pages.
enum Charts {
  /// Writes `codec.svg`, `stores.svg` and `growth.svg`, those of them that have rows.
  static func write(_ rows: [ResultRow], to folder: URL) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let times = rows.filter { $0.unit == "ns" }
    let growth = times.filter { GrowthComparison.names.contains($0.name) }
    let codec = times.filter { CodecComparison.names.contains($0.name) }
    let stores = times.filter { (StoreComparison.names + ArchiveComparison.names).contains($0.name) }
    for (name, title, rows) in [
      ("codec", "Coding an object: how many times as fast as …", codec),
      ("stores", "Storing objects: how many times as fast as …", stores),
      ("growth", "Retrieving from a growing store: how many times as fast as …", growth),
    ] where !rows.isEmpty {
      let file = folder.appending(path: "\(name).svg")
      try Data(chart(title, rows).utf8).write(to: file)
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

  private static func chart(_ title: String, _ rows: [ResultRow]) -> String {
    let height = top + rowHeight * Double(rows.count) + 16
    let least = min(0.1, rows.map(\.ratio).min() ?? 1)
    let most = max(10, rows.map(\.ratio).max() ?? 1)
    let room = width - labelWidth - 70
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
    for (index, row) in rows.enumerated() {
      let y = top + rowHeight * Double(index)
      let (start, end) = (min(x(1), x(row.ratio)), max(x(1), x(row.ratio)))
      let color = colors[row.subject] ?? "#808080"
      svg += text("\(row.name), \(row.subject) : \(row.peer)", x: labelWidth - 8, y: y + 13, anchor: "end")
      svg += """
        <rect x="\(number(start))" y="\(number(y + 3))" width="\(number(max(1, end - start)))" \
        height="\(number(rowHeight - 6))" rx="2" fill="\(color)"/>

        """
      svg += text("× \(number(row.ratio))", x: end + 6, y: y + 13)
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
