import Foundation

/// Numbers as people read them.
enum Text {
  /// `63 666`, in groups of three.
  static func count(_ number: Int) -> String {
    var groups: [String] = []
    var rest = number.magnitude
    while rest >= 1000 {
      let group = String(rest % 1000)
      groups.append(String(repeating: "0", count: 3 - group.count) + group)
      rest /= 1000
    }
    groups.append(String(rest))
    return (number < 0 ? "-" : "") + groups.reversed().joined(separator: " ")
  }

  /// `1 package`, `2 packages`.
  static func count(_ number: Int, _ singular: String, _ plural: String) -> String {
    "\(count(number)) \(number == 1 ? singular : plural)"
  }

  /// `0.0042 s`: three significant digits below ten seconds, and not more than the clock can tell.
  static func seconds(_ seconds: Double) -> String {
    let decimals = seconds >= 10 ? 1 : seconds >= 1 ? 2 : seconds >= 0.1 ? 3 : 4
    return String(format: "%.\(decimals)f s", seconds)
  }

  /// `61.3 MB`, in powers of 1000.
  static func bytes(_ count: Int) -> String {
    var value = Double(count)
    for unit in ["bytes", "kB", "MB", "GB"] {
      if value < 1000 || unit == "GB" {
        return unit == "bytes" ? "\(count) bytes" : String(format: "%.1f %@", value, unit)
      }
      value /= 1000
    }
    return "\(count) bytes"
  }
}

extension Duration {
  var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) * 1e-18
  }
}
