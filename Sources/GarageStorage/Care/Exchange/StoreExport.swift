internal import GarageCoding
internal import GarageDriver

/// Writes one state of a store as lines of JSON.
struct StoreExport {
  private let access: ReadAccess
  private let file: ExchangeFile
  private var progress: ProgressReporter
  private var line = ExchangeText()
  private var result = ExchangeResult()
  /// The names of the tags that were met.
  private var names: [UInt64: String] = [:]

  /// The version in the first line.
  static let version = 1

  private var transaction: any ReadTransaction { access.transaction }

  init(
    _ access: ReadAccess, _ file: ExchangeFile, _ progress: @escaping (CareProgress) throws -> Void
  ) throws {
    self.access = access
    self.file = file
    var total = 0
    for range in StoreExport.ranges {
      try access.transaction.scanKeys(range, .forward) { _ in
        total += 1
        return .continue
      }
    }
    self.progress = ProgressReporter(total: total, progress)
  }

  /// The ranges that are written, in this order, because records need texts.
  private static let ranges = [
    KeyLayout.allTagTexts, KeyLayout.allShapeTexts, KeyLayout.allRecords, KeyLayout.allValues,
  ]

  func run() throws -> ExchangeResult {
    var export = self
    export.line.put("{\"garage\": \"export\", \"version\": ")
    export.line.put(StoreExport.version)
    export.line.put("}")
    try export.endLine()
    let writers: [(inout StoreExport, RawSpan, RawSpan) throws -> Void] = [
      { try $0.writeTag($1, $2) }, { try $0.writeShape($1, $2) }, { try $0.writeRecord($1, $2) },
      { try $0.writeValue($1, $2) },
    ]
    for (range, write) in zip(StoreExport.ranges, writers) {
      try transaction.scan(range, .forward) { key, value in
        try export.progress.advance()
        try write(&export, key, value)
        // An entry with such a key as none of a garage's entries has no line; `verify()` tells of it.
        if !export.line.bytes.isEmpty { try export.endLine() }
        return .continue
      }
    }
    try export.writeEnd()
    try export.file.flush()
    export.result.byteCount = export.file.byteCount
    try export.progress.end()
    return export.result
  }

  private mutating func endLine() throws {
    try file.write(line.bytes)
    line.removeAll()
  }

  private mutating func writeEnd() throws {
    line.putEnd(result, checksum: file.checksum)
    try endLine()
  }

  // MARK: - Texts

  private mutating func writeTag(_ key: RawSpan, _ text: RawSpan) throws {
    let bytes = [UInt8](copying: text)
    guard let name = KeyLayout.textName(.tag, key) else { return }
    guard name.isDigest(of: bytes) else { throw damagedText(key) }
    line.put("{\"tag\": ")
    line.put(quoted: String(decoding: bytes, as: UTF8.self))
    line.put("}")
  }

  private mutating func writeShape(_ key: RawSpan, _ text: RawSpan) throws {
    let bytes = [UInt8](copying: text)
    guard let name = KeyLayout.textName(.shape, key) else { return }
    guard name.isDigest(of: bytes), let keys = RecordVerifier.shapeKeys(bytes) else { throw damagedText(key) }
    line.put("{\"shape\": ")
    line.put(list: keys)
    line.put("}")
  }

  private func damagedText(_ key: RawSpan) -> GarageError {
    .damagedText(digest: "\(StorageKey(key.extracting(min(1, key.byteCount)...)))")
  }

  // MARK: - Records and values

  private mutating func writeRecord(_ key: RawSpan, _ record: RawSpan) throws {
    guard KeyLayout.isRecord(key) else { return }
    let tag = KeyLayout.tag(inRecordKey: key)
    let typeName = try name(tag)
    let keys = access.garage.objectKeys
    let (content, keyForm) = try keys.withIdentifier(of: key, record, typeName: typeName) { keyForm in
      let content = try RecordContent(
        tag: tag, keyIdentifier: keyForm, record: record, typeName: typeName, shapeText: access.shapeText)
      return (content, [UInt8](copying: keyForm))
    }
    let identifier =
      content.header.wholeIdentifier?.description ?? Identifier.description(ofKeyBytes: keyForm)
    line.put("{\"type\": ")
    line.put(quoted: try content.header.concreteTag.map { try name($0) } ?? typeName)
    line.put(", \"id\": ")
    line.put(quoted: identifier)
    line.put(", \"key\": ")
    line.put(base64: withUnsafeBytes(of: tag.bigEndian) { Array($0) } + keyForm)
    try finish(record, content.value)
    result.objectCount += 1
  }

  private mutating func writeValue(_ key: RawSpan, _ value: RawSpan) throws {
    let content: RecordValue
    do {
      content = try RecordValue(valueUnder: KeyLayout.checked(key), value, shapeText: access.shapeText)
    } catch let damage as ValueDamage {
      throw GarageError(damage, key: KeyName.text(ofKey: key))
    }
    let bytes = [UInt8](copying: key)
    let parts = bytes.count < KeyName.maximumByteCount ? KeyName.parts(of: bytes) : nil
    line.put("{\"namespaces\": ")
    line.put(list: parts?.namespace ?? [])
    line.put(", \"name\": ")
    line.put(quoted: parts?.name ?? KeyName.text(ofKey: key))
    line.put(", \"key\": ")
    line.put(base64: bytes.dropFirst())
    try finish(value, content)
    result.keyCount += 1
  }

  private mutating func finish(_ record: RawSpan, _ value: RecordValue) throws {
    line.put(", \"record\": ")
    line.put(base64: [UInt8](copying: record))
    line.put(", \"value\": ")
    var names = names
    let access = access
    try line.put(value) { tag in
      if let known = names[tag] { return known }
      let found = try access.name(ofTag: tag) ?? hexadecimal(tag)
      names[tag] = found
      return found
    }
    self.names = names
    line.put("}")
  }

  private mutating func name(_ tag: UInt64) throws -> String {
    if let known = names[tag] { return known }
    let found = try access.name(ofTag: tag) ?? hexadecimal(tag)
    names[tag] = found
    return found
  }
}

extension ExchangeText {
  /// Writes the last line: the amount of what stands before it, and its checksum.
  mutating func putEnd(_ result: ExchangeResult, checksum: UInt32) {
    let digits = String(checksum, radix: 16)
    put("{\"end\": {\"objects\": ")
    put(result.objectCount)
    put(", \"keys\": ")
    put(result.keyCount)
    put(", \"check\": ")
    put(quoted: String(repeating: "0", count: 8 - digits.count) + digits)
    put("}}")
  }
}
