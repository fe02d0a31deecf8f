import Foundation
import GarageDriver
import GarageStorage
import Testing

/// What a store holds, as text: `hex of key` `hex of value`, a line for each entry.
struct GoldenEntries: Equatable {
  var entries: [(key: [UInt8], value: [UInt8])]

  static func == (a: GoldenEntries, b: GoldenEntries) -> Bool { a.text == b.text }

  init(of driver: any StorageDriver) throws {
    entries = try Driver.contents(driver).sorted { $0.key < $1.key }.map { ($0.key.bytes, $0.value) }
  }

  /// - Parameter text: what ``text`` gave; lines that begin with `#` are comments.
  init(text: String) throws {
    entries = try text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
      let words = line.split(separator: " ", omittingEmptySubsequences: false)
      try #require(words.count == 2, "\(line)")
      return (try bytes(ofHex: words[0]), try bytes(ofHex: words[1]))
    }
  }

  var text: String { entries.map { "\(hex($0.key)) \(hex($0.value))\n" }.joined() }

  /// Writes the entries by the driver alone.
  func put(into driver: any StorageDriver) throws {
    for (key, value) in entries { try Driver.put(value, for: key, driver) }
  }
}

func hex(_ bytes: some Sequence<UInt8>) -> String {
  var text: [UInt8] = []
  let digits = Array("0123456789abcdef".utf8)
  for byte in bytes { text += [digits[Int(byte >> 4)], digits[Int(byte & 0x0F)]] }
  return String(decoding: text, as: UTF8.self)
}

private func bytes(ofHex text: Substring) throws -> [UInt8] {
  let digits = try text.utf8.map { digit in
    try #require(Character(UnicodeScalar(digit)).hexDigitValue, "no hexadecimal digit")
  }
  return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

/// The recorded bytes of format version 1: `Tests/Golden/format-1/NAME.txt`.
enum GoldenFiles {
  static let folder = testsFolder.appending(path: "Golden/format-1")

  /// `missing` records rows that have no file, `all` every row: only for a format that was never released.
  static let recording = ProcessInfo.processInfo.environment["GARAGE_RECORD_GOLDEN"]

  static func url(_ name: String) -> URL {
    folder.appending(path: name.replacing(" ", with: "-") + ".txt")
  }

  /// The recorded entries of a row; nil where there is no file.
  static func read(_ name: String) throws -> GoldenEntries? {
    guard let data = try? Data(contentsOf: url(name)) else { return nil }
    return try GoldenEntries(text: String(decoding: data, as: UTF8.self))
  }

  static func record(_ value: GoldenValue, _ entries: GoldenEntries) throws {
    let isThere = FileManager.default.fileExists(atPath: url(value.name).path)
    if recording == "all" || (recording == "missing" && !isThere) {
      try Data("# \(value.name)\n\(entries.text)".utf8).write(to: url(value.name))
    }
  }
}

/// The folder `Tests` of this package.
let testsFolder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
  .deletingLastPathComponent()
