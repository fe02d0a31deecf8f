/// The objects that a record refers to, which its body names by their places here.
///
/// ```
/// table     | varint t | t tags of 8 bytes | varint r | r references |
/// reference | kind 2 bits, tag 6 bits | varint length, identifier |
/// ```
/// A reference's tag is a place among the tags; 63 says that it follows as a varint.
enum ReferenceTable {
  /// An entry that is to be written: an identity by its number, and how it is referred to.
  struct Entry {
    var number: Int
    var kind: ReferenceKind
  }

  /// From this place on a tag's place does not fit beside the kind.
  private static var longPlace: Int { 63 }

  // MARK: - Writing

  /// Writes a table, of which `tags` has collected the tags.
  ///
  /// - Parameter lazyIdentities: what the numbers of lazy references are of; the others are of `identities`.
  static func write(
    _ entries: UnsafeMutableBufferPointer<Entry>, _ identities: borrowing IdentityTable,
    lazy lazyIdentities: borrowing IdentityTable, _ tags: borrowing ReferenceTags, to bytes: inout ByteArena
  ) {
    bytes.append(varint: tags.all.count)
    for tag in tags.all { bytes.append(digest: tag.digest) }
    bytes.append(varint: entries.count)
    for entry in entries {
      let isLazy = entry.kind == .lazy
      let tag = isLazy ? lazyIdentities.tag(of: entry.number) : identities.tag(of: entry.number)
      let place = tags.place(of: tag) ?? 0
      let identifier =
        isLazy ? lazyIdentities.identifier(of: entry.number) : identities.identifier(of: entry.number)
      // At once: room is made for all of it.
      bytes.append(atMost: 1 &+ 2 &* Varint.maximumByteCount &+ identifier.count) { start in
        start.store(entry.kind.rawValue << 6 | UInt8(min(place, longPlace)))
        var at = start + 1
        if place >= longPlace { at += Varint.write(place, to: at) }
        at += Varint.write(identifier.count, to: at)
        if let source = identifier.baseAddress { at.copyShort(from: source, identifier.count) }
        return at - start &+ identifier.count
      }
    }
  }

  // MARK: - Reading

  /// Finds the bounds of the table at `at`, which stands behind it afterwards.
  static func skip(_ base: UnsafeRawPointer, _ at: inout Int, end: Int) throws -> Range<Int> {
    let start = at
    let tagCount = try Varint.read(base, &at, end: end)
    guard tagCount <= (end - at) / 8 else {
      throw DamagedBytes(reason: "its table of tags is cut", offset: at)
    }
    at += tagCount * 8
    let count = try Varint.read(base, &at, end: end)
    guard count <= (end - at) / 2 else { throw cut(at) }
    for _ in 0..<count { _ = try readEntry(base, &at, end) }
    return start..<at
  }

  /// Whether an unchecked table has lazy references alone.
  static func isLazy(_ base: UnsafeRawPointer, _ start: Int, end: Int) throws -> Bool {
    var at = start
    let tagCount = try Varint.read(base, &at, end: end)
    guard tagCount <= (end - at) / 8 else { return false }
    at += tagCount * 8
    let count = try Varint.read(base, &at, end: end)
    guard count <= (end - at) / 2 else { return false }
    for _ in 0..<count where try readEntry(base, &at, end).kind != ReferenceKind.lazy.rawValue {
      return false
    }
    return true
  }

  /// Visits the entries of a table, whose bounds were found, in their order.
  @inline(__always)
  static func forEach(
    _ base: UnsafeRawPointer, _ range: Range<Int>,
    _ visit: (ReferenceKind, UInt64, UnsafeRawBufferPointer) throws -> Void
  ) throws {
    var at = range.lowerBound
    let end = range.upperBound
    let tagCount = try Varint.read(base, &at, end: end)
    let tags = at
    at += tagCount * 8
    let count = try Varint.read(base, &at, end: end)
    for _ in 0..<count {
      let (kind, place, identifier) = try readEntry(base, &at, end)
      guard let kind = ReferenceKind(rawValue: kind), place < tagCount else {
        throw DamagedBytes(reason: "its reference table names an unknown kind or tag", offset: at)
      }
      try visit(
        kind, UInt64(bigEndian: base.loadUnaligned(fromByteOffset: tags + place * 8, as: UInt64.self)),
        UnsafeRawBufferPointer(start: base + identifier.lowerBound, count: identifier.count))
    }
  }

  @inline(__always)
  private static func readEntry(
    _ base: UnsafeRawPointer, _ at: inout Int, _ end: Int
  ) throws -> (kind: UInt8, place: Int, identifier: Range<Int>) {
    guard at < end else { throw cut(at) }
    let first = base.load(fromByteOffset: at, as: UInt8.self)
    at += 1
    var place = Int(first & 0x3F)
    if place == longPlace { place = try Varint.read(base, &at, end: end) }
    return (first >> 6, place, try ParsedRecord.readIdentifier(base, &at, end: end))
  }

  private static func cut(_ at: Int) -> DamagedBytes {
    DamagedBytes(reason: "its reference table is cut", offset: at)
  }

  /// A copy of a table, whose bounds were found, with other tags; nil where it has none of those that change.
  static func copy(
    _ base: UnsafeRawPointer, _ range: Range<Int>, renaming tags: [UInt64: UInt64]
  ) throws -> [UInt8]? {
    var table = Array(UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count))
    var at = range.lowerBound
    let count = try Varint.read(base, &at, end: range.upperBound)
    var isRenamed = false
    for place in 0..<count {
      let offset = at + place * 8
      let tag = UInt64(bigEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      guard let new = tags[tag] else { continue }
      isRenamed = true
      let start = offset - range.lowerBound
      withUnsafeBytes(of: new.bigEndian) { table.replaceSubrange(start..<(start + 8), with: $0) }
    }
    return isRenamed ? table : nil
  }

  /// The same where some references keep their tags; nil where no other one has a tag that changes.
  ///
  /// - Parameter keeps: whether a reference with such a tag keeps it.
  static func copy(
    _ base: UnsafeRawPointer, _ range: Range<Int>, renaming tags: [UInt64: UInt64],
    except keeps: (UInt64, UnsafeRawBufferPointer) throws -> Bool
  ) throws -> [UInt8]? {
    var all: [UInt64] = []
    var places: [UInt64: Int] = [:]
    var entries: [UInt8] = []
    var count = 0
    var isRenamed = false
    try forEach(base, range) { kind, tag, identifier in
      var tag = tag
      if let new = tags[tag], try !keeps(tag, identifier) {
        tag = new
        isRenamed = true
      }
      let place = places[tag] ?? all.count
      if place == all.count {
        places[tag] = place
        all.append(tag)
      }
      entries.append(kind.rawValue << 6 | UInt8(min(place, longPlace)))
      if place >= longPlace { Varint.append(place, to: &entries) }
      Varint.append(identifier.count, to: &entries)
      entries.append(contentsOf: identifier)
      count += 1
    }
    if !isRenamed { return nil }
    var table: [UInt8] = []
    Varint.append(all.count, to: &table)
    for tag in all { withUnsafeBytes(of: tag.bigEndian) { table.append(contentsOf: $0) } }
    Varint.append(count, to: &table)
    return table + entries
  }
}

/// The tags of a reference table, each once, in the order in which the references first have them.
struct ReferenceTags: ~Copyable {
  struct Tag {
    var digest: UInt64
    /// The place of the first reference that has it.
    var first: Int
  }

  private var tags = RawStack<Tag>()
  /// Few records refer to many types; beyond a few a dictionary finds the place.
  private var places: [UInt64: Int] = [:]
  private static var fewCount: Int { 8 }

  init() {}

  deinit { tags.deallocate() }

  var all: UnsafeMutableBufferPointer<Tag> { tags.all }

  /// Collects the tags of references, in place of those before.
  mutating func collect(
    _ entries: UnsafeMutableBufferPointer<ReferenceTable.Entry>, _ identities: borrowing IdentityTable,
    lazy lazyIdentities: borrowing IdentityTable
  ) {
    tags.truncate(to: 0)
    if !places.isEmpty { places = [:] }
    for (index, entry) in entries.enumerated() {
      let digest =
        entry.kind == .lazy ? lazyIdentities.tag(of: entry.number) : identities.tag(of: entry.number)
      if place(of: digest) != nil { continue }
      tags.append(Tag(digest: digest, first: index))
      if tags.count == ReferenceTags.fewCount + 1 {
        for (place, tag) in tags.all.enumerated() { places[tag.digest] = place }
      } else if tags.count > ReferenceTags.fewCount {
        places[digest] = tags.count - 1
      }
    }
  }

  @inline(__always)
  func place(of digest: UInt64) -> Int? {
    tags.count <= ReferenceTags.fewCount ? tags.all.lastIndex { $0.digest == digest } : places[digest]
  }
}
