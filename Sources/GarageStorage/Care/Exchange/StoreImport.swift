#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif
internal import GarageCoding
internal import GarageDriver

/// Imports the lines of an export into a garage, in one transaction.
struct StoreImport {
  private let access: WriteAccess
  private let admission: EntryAdmission
  private let file: ExchangeFile
  private var result = ExchangeResult()
  private var lineNumber = 0
  private var hasEnded = false

  init(_ access: WriteAccess, _ file: ExchangeFile) {
    self.access = access
    self.file = file
    admission = EntryAdmission(keys: access.garage.objectKeys)
  }

  /// After so many lines it reports how far it is.
  private static let interval = 1024

  func run(_ progress: (CareProgress) throws -> Void) throws -> ExchangeResult {
    var reading = self
    let total = file.size
    while try file.readLine({ try reading.take($0) }) {
      if reading.lineNumber % StoreImport.interval == 0 {
        try Task.checkCancellation()
        let state = CareProgress(completedUnitCount: min(file.byteCount, total), totalUnitCount: total)
        try passingErrors { try progress(state) }
      }
    }
    guard reading.hasEnded else {
      throw GarageError.damagedExport(
        line: reading.lineNumber + 1, reason: "it should go on: the file was cut off, or is empty")
    }
    reading.result.byteCount = total
    try passingErrors { try progress(CareProgress(completedUnitCount: total, totalUnitCount: total)) }
    return reading.result
  }

  /// The digests of the tags that a file has. They stand before everything else in it.
  static func tagDigests(in file: ExchangeFile) throws -> [UInt64] {
    var digests: [UInt64] = []
    var isAmongTags = true
    func look(_ bytes: ArraySlice<UInt8>) -> Bool {
      let line = ExchangeLine(bytes)
      if let name = line?[text: "tag"] {
        digests.append(Array(name.utf8).withUnsafeBytes { ContentDigest.digest8(of: $0) })
      } else {
        // The first line of all.
        isAmongTags = line?[text: "garage"] != nil
      }
      return false
    }
    while isAmongTags, try file.readLine(look) {}
    return digests
  }

  /// Whether objects in the file may have records under other tags in the store, because their types had these before.
  static func mayHaveOtherNames(_ file: ExchangeFile) throws -> Bool {
    var names = OtherNames()
    // What a type that was not met yet was called is not known.
    return try tagDigests(in: file).contains { tag in (try? names.tags(beside: tag))?.count ?? 1 > 1 }
  }

  /// Removes the objects that the file has others for, where they stand under other tags.
  ///
  /// - Parameter removesReplaced: whether those are removed as well that stand under the same ones.
  func makeRoom(removesReplaced: Bool) throws {
    var reading = self
    var names = OtherNames()
    var keys: [StorageKey] = []
    func take(_ bytes: ArraySlice<UInt8>) throws -> Bool {
      reading.lineNumber += 1
      if let line = ExchangeLine(bytes), line[text: "type"] != nil,
        case .record(let key, _, _)? = try reading.entry(of: line)
      {
        keys += (try? names.keys(beside: key)) ?? []
        if removesReplaced { keys.append(key) }
      }
      return false
    }
    while try file.readLine(take) {
      if keys.count < StoreImport.interval { continue }
      try Task.checkCancellation()
      try access.removeRecords(keys)
      keys = []
    }
    try access.removeRecords(keys)
  }

  /// Imports a line. Returns whether it is part of the checksum.
  private mutating func take(_ bytes: ArraySlice<UInt8>) throws -> Bool {
    lineNumber += 1
    guard !hasEnded else { throw damage("something follows the last line of an export") }
    guard let line = ExchangeLine(bytes) else { throw damage("there is no such object as an export has") }
    if lineNumber == 1 {
      guard line[text: "garage"] == "export", let version = line[number: "version"] else {
        throw damage("it is not said that this is an export of a garage")
      }
      if version > StoreExport.version {
        throw damage("it is said to be in format \(version), which this version of the library does not know")
      }
      return true
    }
    if case .object(let end) = line.fields["end"] {
      try checkEnd(end, bytes)
      return false
    }
    if let entry = try entry(of: line) { try access.admit(entry) }
    return true
  }

  private mutating func entry(of line: ExchangeLine) throws -> AdmittedEntry? {
    if let name = line[text: "tag"] {
      let text = Array(name.utf8)
      let digest = text.withUnsafeBytes { ContentDigest.digest8(of: $0) }
      return .text(TextName(kind: .tag, digest: digest), text)
    }
    if let keys = line[list: "shape"] {
      let text = RecordVerifier.shapeText(keys)
      let digest = text.withUnsafeBytes { ContentDigest.digest8(of: $0) }
      return .text(TextName(kind: .shape, digest: digest), text)
    }
    guard let key = line[text: "key"].flatMap({ Data(base64Encoded: $0) }),
      let record = line[text: "record"].flatMap({ Data(base64Encoded: $0) })
    else { throw damage("there is neither a text nor a record") }
    let isObject = line[text: "type"] != nil
    let space: KeyLayout.Space = isObject ? .record : .value
    do {
      let whole = [space.rawValue] + key
      let entry = try admission.admit(whole.span.bytes, [UInt8](record).span.bytes)
      if isObject { result.objectCount += 1 } else { result.keyCount += 1 }
      return entry
    } catch let error where !isFailureOfStore(error) {
      let what =
        isObject ? "\(line[text: "type"] ?? "") \"\(line[text: "id"] ?? "")\"" : line[text: "name"] ?? ""
      throw damage("the record of \(what) is damaged")
    }
  }

  private mutating func checkEnd(_ end: [String: ExchangeLine.Field], _ bytes: ArraySlice<UInt8>) throws {
    guard case .number(let objects) = end["objects"], case .number(let keys) = end["keys"],
      case .text(let check) = end["check"], let checksum = UInt32(check, radix: 16)
    else { throw damage("the last line does not say how many objects there are") }
    guard objects == result.objectCount, keys == result.keyCount else {
      throw damage(
        """
        \(objects) objects and \(keys) values of keys are said to be there, and \(result.objectCount) and \
        \(result.keyCount) are
        """)
    }
    if checksum != file.checksum {
      throw damage("the checksum does not fit: some line before it was changed")
    }
    var expected = ExchangeText()
    expected.putEnd(result, checksum: checksum)
    if expected.bytes[...] != bytes { throw damage("the last line was changed") }
    hasEnded = true
  }

  private func damage(_ reason: String) -> GarageError { .damagedExport(line: lineNumber, reason: reason) }
}
