import Foundation

/// Reads the stanzas of a package database: Debian's control format (Debian Policy, chapter 5), as in
/// `/var/lib/dpkg/status` and in the output of `apt-cache dumpavail`.
///
/// It works on bytes: an archive has 50 MB of them in a million lines, and few of these become strings.
public struct StanzaReader {
  private let bytes: [UInt8]
  private let source: String
  private var position = 0
  private var lineNumber = 0
  private var stanzas: [Stanza] = []

  /// The place of each field's value in the stanza that is being read, including continuation lines.
  private var values = [Range<Int>?](repeating: nil, count: Field.allCases.count)
  /// The field that a continuation line belongs to; nil if that field is not needed.
  private var openField: Field?
  /// Whether a field line was seen since the last blank line.
  private var isInStanza = false

  /// All stanzas in `bytes` that name a package, in their order.
  ///
  /// Throws ``PackageDatabaseError`` if the text is not in control format, naming `source` and the line, and if it holds no
  /// package at all.
  public static func read(
    _ bytes: [UInt8], from source: String, progress: (Double) -> Void = { _ in }
  ) throws -> [Stanza] {
    var reader = StanzaReader(bytes: bytes, source: source)
    try reader.readAll(progress)
    guard !reader.stanzas.isEmpty else {
      throw PackageDatabaseError(
        message: """
          \(source) holds no package: no paragraph with a 'Package:' field. Give Debian's package database or \
          the output of 'apt-cache dumpavail'.
          """)
    }
    return reader.stanzas
  }

  private init(bytes: [UInt8], source: String) {
    self.bytes = bytes
    self.source = source
  }

  private mutating func readAll(_ progress: (Double) -> Void) throws {
    while position < bytes.count {
      if lineNumber & 0xFFFF == 0 { progress(Double(position) / Double(bytes.count)) }
      try readLine(nextLine())
    }
    endStanza()
    progress(1)
  }

  /// The next line without its end, which is LF or CR LF.
  private mutating func nextLine() -> Range<Int> {
    let start = position
    var end = bytes.withUnsafeBytes { bytes in
      let found = memchr(bytes.baseAddress! + start, Int32(ASCII.newline), bytes.count - start)
      return found.map { UnsafeRawPointer($0) - bytes.baseAddress! } ?? bytes.count
    }
    position = min(end + 1, bytes.count)
    if end > start, bytes[end - 1] == ASCII.carriageReturn { end -= 1 }
    lineNumber += 1
    return start..<end
  }

  private mutating func readLine(_ line: Range<Int>) throws {
    guard let first = line.first.map({ bytes[$0] }) else { return endStanza() }
    if first == ASCII.space || first == ASCII.tab {
      try readContinuation(line)
    } else {
      try readField(line)
    }
  }

  /// Reads a line that begins with white space. It continues the field above; if it is all white space, it counts as blank.
  private mutating func readContinuation(_ line: Range<Int>) throws {
    guard line.contains(where: { !ASCII.isWhiteSpace(bytes[$0]) }) else { return endStanza() }
    guard isInStanza else { throw notControlFormat(line, "continues no field") }
    // Values are contiguous: the lines of a field follow one another.
    if let openField, let value = values[openField.rawValue] {
      values[openField.rawValue] = value.lowerBound..<line.upperBound
    }
  }

  private mutating func readField(_ line: Range<Int>) throws {
    guard let colon = line.first(where: { bytes[$0] == ASCII.colon }), colon > line.lowerBound else {
      throw notControlFormat(line, "has no field name before a colon")
    }
    isInStanza = true
    openField = Field(named: bytes[line.lowerBound..<colon])
    guard let field = openField else { return }
    if values[field.rawValue] == nil {
      values[field.rawValue] = colon + 1..<line.upperBound
    } else {
      // A field given twice: the first counts.
      openField = nil
    }
  }

  private mutating func endStanza() {
    if let name = text(.package) {
      stanzas.append(
        Stanza(
          name: name, version: text(.version), architecture: text(.architecture), section: text(.section),
          maintainer: text(.maintainer), description: text(.description),
          installedSize: text(.installedSize).flatMap { Int($0) },
          dependencies: dependencies(.preDepends) + dependencies(.depends)))
    }
    for index in values.indices { values[index] = nil }
    openField = nil
    isInStanza = false
  }

  private func notControlFormat(_ line: Range<Int>, _ reason: String) -> PackageDatabaseError {
    if bytes.starts(with: [0x1F, 0x8B]) || bytes.starts(with: [0xFD, 0x37, 0x7A, 0x58, 0x5A]) {
      return PackageDatabaseError(
        message: "\(source) is compressed. Unpack it, for instance with 'zcat' or 'xzcat' and '--input -'.")
    }
    let excerpt = String(decoding: bytes[line.prefix(40)], as: UTF8.self)
    return PackageDatabaseError(
      message: """
        \(source), line \(lineNumber): \(excerpt.debugDescription) \(reason). Is this a Debian package database?
        """)
  }
}

// MARK: - Values

extension StanzaReader {
  /// The value of a field, without the white space around it and at the beginning of each line; nil if the field is missing or
  /// empty.
  private func text(_ field: Field) -> String? {
    guard let range = values[field.rawValue].map(trimmed), !range.isEmpty else { return nil }
    guard range.contains(where: { bytes[$0] == ASCII.newline }) else {
      return String(decoding: bytes[range], as: UTF8.self)
    }
    return bytes[range].split(separator: ASCII.newline, omittingEmptySubsequences: false)
      .map { line in String(decoding: bytes[trimmed(line.startIndex..<line.endIndex)], as: UTF8.self) }
      .joined(separator: "\n")
  }

  private func trimmed(_ range: Range<Int>) -> Range<Int> {
    var range = range
    while let first = range.first, ASCII.isWhiteSpace(bytes[first]) { range.removeFirst() }
    while let last = range.last, ASCII.isWhiteSpace(bytes[last]) { range.removeLast() }
    return range
  }

  /// The names in a field such as `libc6 (>= 2.34), default-mta | mail-transport-agent, perl:any`: the first alternative of
  /// each entry, up to its version, architecture or build profile.
  private func dependencies(_ field: Field) -> [String] {
    guard let range = values[field.rawValue] else { return [] }
    var names: [String] = []
    var start = range.lowerBound
    while start < range.upperBound {
      while start < range.upperBound, ASCII.isWhiteSpace(bytes[start]) { start += 1 }
      var end = start
      while end < range.upperBound, !ASCII.endsName(bytes[end]) { end += 1 }
      if end > start { names.append(String(decoding: bytes[start..<end], as: UTF8.self)) }
      start = end
      while start < range.upperBound, bytes[start] != ASCII.comma { start += 1 }
      start += 1
    }
    return names
  }
}

/// The fields that a stanza has.
private enum Field: Int, CaseIterable {
  case package, version, architecture, section, maintainer, description, installedSize, preDepends, depends

  private static let names: [[UInt8]] = [
    "package", "version", "architecture", "section", "maintainer", "description", "installed-size",
    "pre-depends", "depends",
  ].map { Array($0.utf8) }

  /// The field with this name. Upper and lower case do not matter, as Debian Policy demands.
  init?(named name: ArraySlice<UInt8>) {
    let name =
      name.last.map(ASCII.isWhiteSpace) == true ? name.trimmingSuffix(while: ASCII.isWhiteSpace) : name
    for (index, known) in Field.names.enumerated() where known.count == name.count {
      if zip(known, name).allSatisfy({ $0 == ASCII.lowercased($1) }) {
        self.init(rawValue: index)
        return
      }
    }
    return nil
  }
}

private enum ASCII {
  static let tab: UInt8 = 9
  static let newline: UInt8 = 10
  static let carriageReturn: UInt8 = 13
  static let space: UInt8 = 32
  static let comma = UInt8(ascii: ",")
  static let colon = UInt8(ascii: ":")

  static func isWhiteSpace(_ byte: UInt8) -> Bool {
    byte == space || byte == tab || byte == newline || byte == carriageReturn
  }

  /// Whether a package name in a dependency ends before `byte`.
  static func endsName(_ byte: UInt8) -> Bool {
    switch byte {
    case comma, colon, UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "<"), UInt8(ascii: "|"): true
    default: isWhiteSpace(byte)
    }
  }

  static func lowercased(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte + 32 : byte
  }
}

extension ArraySlice<UInt8> {
  fileprivate func trimmingSuffix(while predicate: (UInt8) -> Bool) -> ArraySlice<UInt8> {
    var slice = self
    while let last = slice.last, predicate(last) { slice.removeLast() }
    return slice
  }
}
