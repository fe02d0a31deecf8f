import Foundation
import Testing

@testable import GarageCoding

/// The parts of the format, each of which has one writer and one reader: what one writes, the other reads, and where a
/// quick way stands beside the general one, both write the same bytes.
@Suite struct FormatTests {
  /// The bytes that `write` writes into room for so many; behind them nothing has changed.
  private func written(atMost byteCount: Int, _ write: (UnsafeMutableRawPointer) -> Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0xA5, count: byteCount + 8)
    let count = bytes.withUnsafeMutableBytes { write($0.baseAddress!) }
    #expect(count <= byteCount && bytes[max(count, byteCount)...].allSatisfy { $0 == 0xA5 })
    return Array(bytes[..<count])
  }

  private func withBase<R>(_ bytes: [UInt8], _ body: (UnsafeRawPointer) throws -> R) rethrows -> R {
    try (bytes + [0]).withUnsafeBytes { try body($0.baseAddress!) }
  }

  // MARK: - Varints

  @Test(arguments: 0..<8 as Range<UInt64>) func varints(_ seed: UInt64) throws {
    var random = SeededGenerator(seed)
    let random56 = (0..<200).map { _ in
      Int.random(in: 0..<1 << Int.random(in: 1...56, using: &random), using: &random)
    }
    for number in [0, 1, 127, 128, 16_383, 16_384, 1 << 28, 1 << 55, (1 << 56) - 1] + random56 {
      let bytes = written(atMost: Varint.maximumByteCount) { Varint.write(number, to: $0) }
      #expect(bytes.count == Varint.byteCount(of: number) && bytes.count <= 8, "seed \(seed): \(number)")
      try withBase(bytes) { base throws -> Void in
        var at = 0
        #expect(try Varint.read(base, &at, end: bytes.count) == number, "seed \(seed)")
        #expect(at == bytes.count)
        for end in 0..<bytes.count {
          var at = 0
          #expect(throws: DamagedBytes.self) { try Varint.read(base, &at, end: end) }
        }
      }
      if number < Varint.singleByteEnd {
        #expect(
          bytes
            == written(atMost: 1) {
              Varint.writeSingleByte(number, to: $0); return 1
            })
      }
    }
  }

  @Test func countedBytesStayInside() throws {
    try withBase([3, 1, 2, 3]) { base throws -> Void in
      var at = 0
      #expect(try Varint.readCounted(base, &at, end: 4, reason: "cut") == 1..<4)
      #expect(at == 4)
      at = 0
      #expect(throws: DamagedBytes.self) { try Varint.readCounted(base, &at, end: 3, reason: "cut") }
    }
  }

  @Test func shapeTexts() throws {
    let keys = ["id", "", "größer", String(repeating: "k", count: 300)]
    let text = ShapeText.write(keys)
    #expect(ShapeText.read(text) == keys)
    for count in [1, 2, 5, text.count - 1] { #expect(ShapeText.read(Array(text[..<count])) == nil) }
  }

  // MARK: - Records

  /// Of tag and identifier in two places the checksum is that of both in one.
  @Test func keysInOnePieceOrTwo() throws {
    let identity = RecordIdentity(
      tag: 0x0102_0304_0506_0708, identifier: try Identifier("a name", canonical: canonicalBytes))
    let whole = RecordKey.bytes(of: identity)
    #expect(whole.starts(with: [1, 2, 3, 4, 5, 6, 7, 8]))
    whole.withUnsafeBytes { whole in
      let key = RecordKey(whole)
      #expect(key.tag == identity.tag && key.bytes == Array(whole))
      var record = [UInt8](repeating: 7, count: 40)
      record.withUnsafeMutableBytes { RecordChecksum.write(into: $0, under: CheckedKey(whole)) }
      record.withUnsafeBytes { #expect(RecordChecksum.isRight($0, under: key.checked)) }
      record[39] ^= 1
      record.withUnsafeBytes { #expect(!RecordChecksum.isRight($0, under: key.checked)) }
    }
  }

  @Test(arguments: 0..<16 as Range<UInt64>) func recordsAreReadAsTheyAreWritten(_ seed: UInt64) throws {
    var random = SeededGenerator(seed)
    for _ in 0..<50 {
      let whole = bytes(0...300, &random), key = bytes(9...60, &random), body = bytes(1...50, &random)
      try key.withUnsafeBytes { key in
        try whole.withUnsafeBytes { whole in
          let parts = RecordParts(
            syncStatus: Bool.random(using: &random) ? SyncStatus.allCases.randomElement(using: &random) : nil,
            time: UInt64.random(in: 0..<1 << 48, using: &random),
            wholeIdentifier: Bool.random(using: &random) ? whole : nil,
            concreteTag: Bool.random(using: &random) ? random.next() : nil,
            typeVersion: Bool.random(using: &random) ? Int.random(in: 0..<1000, using: &random) : 0)
          let tables = WrittenTables(references: nil, shapes: nil)
          let checked = CheckedKey(key)
          let record = body.withUnsafeBytes { parts.record(tables, body: $0, under: checked) }
          try record.withUnsafeBytes { record in
            let parsed = try ParsedRecord(RecordKey(key), record)
            #expect(parsed.syncStatus == parts.syncStatus && parsed.head.time == parts.time, "seed \(seed)")
            #expect(
              parsed.wholeIdentifier.map { Array(record[$0]) } == parts.wholeIdentifier.map { Array($0) })
            #expect(parsed.concreteTag == parts.concreteTag && parsed.typeVersion == parts.typeVersion)
            #expect(parsed.references == nil && parsed.shapes == nil && Array(record[parsed.body]) == body)
            #expect(parsed.copy(parsed.parts, under: checked) == Array(record), "seed \(seed)")
            #expect(RecordHead.uncheckedFlags(record) == parsed.head.flags)
            #expect(throws: UnknownVersion.self) {
              try withBase([UInt8(RecordFormat.version) + 1] + record.dropFirst()) {
                _ = try RecordHead($0, isValue: false)
              }
            }
          }
        }
      }
    }
  }

  /// Of few tags and of many, of which those from the 63rd on take more than the byte of their reference.
  @Test(arguments: [1, 2, 8, 9, 62, 63, 64, 200]) func referenceTables(_ tagCount: Int) throws {
    var random = SeededGenerator(UInt64(tagCount))
    let kinds: [ReferenceKind] = [.eager, .linked, .lazy]
    let references = (0..<(3 * tagCount)).map { index in
      (
        RecordIdentity(
          tag: UInt64(index % tagCount) << 8, identifier: Identifier(unchecked: bytes(1...200, &random))),
        kinds[Int.random(in: 0..<3, using: &random)]
      )
    }
    var identities = IdentityTable(), tags = ReferenceTags(), arena = ByteArena()
    var entries = RawStack<ReferenceTable.Entry>()
    defer {
      arena.deallocate()
      entries.deallocate()
    }
    for (identity, kind) in references {
      let number = identity.identifier.bytes.withUnsafeBytes {
        identities.insert(tag: identity.tag, $0).number
      }
      entries.append(ReferenceTable.Entry(number: number, kind: kind))
    }
    tags.collect(entries.all, identities, lazy: identities)
    #expect(tags.all.count == tagCount)
    ReferenceTable.write(entries.all, identities, lazy: identities, tags, to: &arena)
    let base = UnsafeRawPointer(arena.base)
    var end = 0
    let range = try ReferenceTable.skip(base, &end, end: arena.count)
    #expect(range == 0..<arena.count && end == arena.count)
    var index = 0
    try ReferenceTable.forEach(base, range) { kind, tag, identifier in
      #expect(kind == references[index].1 && tag == references[index].0.tag)
      #expect(Array(identifier) == references[index].0.identifier.bytes)
      index += 1
    }
    #expect(index == references.count)
    let renamed = try #require(try ReferenceTable.copy(base, range, renaming: [0: 5]))
    try renamed.withUnsafeBytes { renamed in
      try ReferenceTable.forEach(renamed.baseAddress!, range) { _, tag, _ in #expect(tag != 0) }
    }
    #expect(try ReferenceTable.copy(base, range, renaming: [1: 5]) == nil)
    // Some of those with the tag keep it.
    func keeps(_ identifier: some Collection<UInt8>) -> Bool { identifier.first.map { $0 % 2 == 0 } ?? false }
    let mixed = try ReferenceTable.copy(base, range, renaming: [0: 5]) { _, identifier in keeps(identifier) }
    var found: [(RecordIdentity, ReferenceKind)] = references
    try mixed?.withUnsafeBytes { mixed in
      var end = 0
      let range = try ReferenceTable.skip(mixed.baseAddress!, &end, end: mixed.count)
      #expect(range == 0..<mixed.count)
      found = []
      try ReferenceTable.forEach(mixed.baseAddress!, range) { kind, tag, identifier in
        found.append((RecordIdentity(tag: tag, identifier: Identifier(unchecked: Array(identifier))), kind))
      }
    }
    let expected = references.map { identity, kind in
      let isRenamed = identity.tag == 0 && !keeps(identity.identifier.bytes)
      return (RecordIdentity(tag: isRenamed ? 5 : identity.tag, identifier: identity.identifier), kind)
    }
    #expect(found.map(\.0) == expected.map(\.0) && found.map(\.1) == expected.map(\.1))
    #expect(try ReferenceTable.copy(base, range, renaming: [0: 5]) { _, _ in true } == nil)
  }

  private func bytes(_ counts: ClosedRange<Int>, _ random: inout SeededGenerator) -> [UInt8] {
    (0..<Int.random(in: counts, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
  }

  // MARK: - Bodies

  @Test func prefixes() throws {
    for status in [nil] + SyncStatus.allCases.map({ $0 }) {
      for version in [0, 1, 127, 128, 100_000] {
        let prefix = written(atMost: InlinePrefix.maximumByteCount) {
          InlinePrefix.write(status, version: version, to: $0)
        }
        let value = prefix + [BodyTag.null]
        try withBase(value) { base in
          #expect(try InlinePrefix.skip(base, 0, end: value.count) == prefix.count)
          #expect(try BodyScanner.skipValue(base, 0, end: value.count) == value.count)
          var at = 0
          if let status {
            let read = try InlinePrefix.readSyncStatus(base, 0, end: value.count)
            #expect(read.status == status)
            at = read.content
          }
          #expect(InlinePrefix.skipSyncStatus(base, 0, end: value.count) == at)
          if version > 0 {
            #expect(try InlinePrefix.readVersion(base, at, end: value.count).version == version)
          }
        }
      }
    }
  }

  @Test func decimals() {
    for number in [
      Decimal.nan, 0, -1, Decimal(string: "1.5")!, .greatestFiniteMagnitude, .leastNonzeroMagnitude,
    ] {
      let text = DecimalText.text(of: number)
      #expect(text.utf8.count < 256 && DecimalText.number(text).map { "\($0)" } == "\(number)")
    }
    #expect(DecimalText.number("x") == nil)
  }

  /// The values of plain types that are written without a coder have the bytes that it writes, and either is read both
  /// ways.
  @Test(arguments: 0..<8 as Range<UInt64>) func plainValuesAreAsTheCoderWritesThem(_ seed: UInt64) throws {
    var random = SeededGenerator(seed)
    for bits in 0..<64 {
      for number in [Int.max >> bits, Int.min >> bits, Int.random(in: .min ... .max, using: &random) >> bits]
      {
        try check(number, .int(number), .int)
      }
    }
    for byteCount in [0, 1, 15, 16, 62, 63, 64, 65, 254, 255] {
      let text = String(repeating: "a", count: byteCount)
      try check(text, .string(text), .string)
    }
    for value in [true, false] { try check(value, .bool(value), .bool) }
    for _ in 0..<20 {
      let number = Double(bitPattern: random.next())
      if !number.isNaN { try check(number, .double(number), .double) }
    }
    // What it leaves to the coder.
    let long = String(repeating: "a", count: 256)
    #expect(written(atMost: PlainValue.maximumByteCount) { write(.string(long), to: $0) }.isEmpty)
    #expect(written(atMost: PlainValue.maximumByteCount) { write(.null, to: $0) }.isEmpty)
  }

  private static let key = Array("a key".utf8)

  private func write(_ plain: PlainValue, to place: UnsafeMutableRawPointer) -> Int {
    FormatTests.key.withUnsafeBytes {
      plain.write(
        key: CheckedKey($0),
        to: UnsafeMutableRawBufferPointer(start: place, count: PlainValue.maximumByteCount))
    }
  }

  private func read<T>(_ plain: PlainValue?, _ kind: PlainValue.Kind) -> T? {
    guard let plain else { return nil }
    let place = UnsafeMutablePointer<T>.allocate(capacity: 1)
    defer { place.deallocate() }
    plain.initialize(place, kind)
    return place.move()
  }

  private func check<T: Codable & Equatable>(_ value: T, _ plain: PlainValue, _ kind: PlainValue.Kind) throws
  {
    let quick = written(atMost: PlainValue.maximumByteCount) { write(plain, to: $0) }
    try FormatTests.key.withUnsafeBytes { key in
      let key = CheckedKey(key)
      #expect(try GraphEncoder().encode(value: value, key: key, fullKey: nil).bytes == quick, "\(value)")
      #expect(read(PlainValue(key: key, record: quick.span.bytes, kind), kind) == value)
      let session = GraphDecodingSession(source: DictionarySource(), types: try RegisteredTypes())
      #expect(try session.value(T.self, key: key, fullKey: nil, record: quick.span.bytes) == value)
      guard let number = value as? Int else { return }
      var read = 0
      let isRead = quick.withUnsafeBytes { record in
        withUnsafeMutableBytes(of: &read) {
          PlainValue.readInteger(key: key, record: record, to: $0.baseAddress!)
        }
      }
      #expect(isRead && read == number)
    }
  }
}
