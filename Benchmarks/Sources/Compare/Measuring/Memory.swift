import CRawStores
import Foundation

/// What the process has in memory, mapped files included; zeros where the system does not tell.
enum Memory {
  /// Gives free memory back to the system, and lets it measure the peak anew.
  static func beginPeak() {
    raw_heap_trim()
    try? Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
  }

  /// In bytes.
  static var resident: Double { status("VmRSS:") }
  /// The most since ``beginPeak()``, in bytes.
  static var peak: Double { status("VmHWM:") }

  private static func status(_ name: String) -> Double {
    guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
      let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name) }),
      let number = line.split(whereSeparator: { !$0.isNumber }).first.flatMap({ Double($0) })
    else { return 0 }
    return number * 1024
  }
}
