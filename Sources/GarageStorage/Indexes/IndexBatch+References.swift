internal import GarageCoding
internal import GarageDriver

// The entries of the index of references: one for each object that a record refers to.
//
// ```
// key    | 1F | length 1 | target ≤ 240 | tag of the target 8 | tag 8 | identifier ≤ 240 |
//        | 1E | hash 16 | tag 8 | identifier ≤ 240 |
// value  | kinds 1 | concrete tag, 0 or 8 |
// ```
// `target` is the identifier of the object that is referred to, as in keys; `tag` and `identifier` are of the record that
// refers to it. `hash` is the beginning of the HMAC-SHA-256 of the target's tag and identifier. Of `kinds` the bit n is set
// where there is a reference of kind n (`ReferenceKind`). `concrete tag` is the record's, where it has one.

extension IndexBatch {
  /// The entries of a record, sorted, each once.
  func references(_ part: Part, _ key: RawSpan, _ record: FieldRecord) throws -> [Entry] {
    if !record.refersToOthers { return [] }
    var entries: [Entry] = []
    try record.forEachReference { kind, tag, identifier in
      try entries.append(reference(part, key, record, kind, tag, identifier))
    }
    if entries.count < 2 { return entries }
    entries.sort(by: isBefore)
    var distinct = [entries[0]]
    for entry in entries.dropFirst() {
      let last = distinct[distinct.count - 1]
      if hasSameKey(last, entry) {
        // Referred to in two ways.
        bytes[last.start + last.keyCount] |= bytes[entry.start + entry.keyCount]
      } else {
        distinct.append(entry)
      }
    }
    return distinct
  }

  /// Appends the entries of a new record to those of its index.
  func appendReferences(_ part: Part, _ key: RawSpan, _ record: FieldRecord) throws {
    if !record.refersToOthers { return }
    let first = part.added.count
    try record.forEachReference { kind, tag, identifier in
      let entry = try reference(part, key, record, kind, tag, identifier)
      // Most records refer to each object in one way.
      if part.added.count - first < 8 {
        for index in first..<part.added.count where hasSameKey(part.added[index], entry) {
          bytes[part.added[index].start + entry.keyCount] |= bytes[entry.start + entry.keyCount]
          bytes.truncate(to: entry.start)
          return
        }
      }
      part.added.append(entry)
    }
    if part.added.count - first <= 8 { return }
    // More of them are sorted first, to be compared with their neighbours.
    let start = part.added[first].start
    part.added.removeLast(part.added.count - first)
    bytes.truncate(to: start)
    part.added += try references(part, key, record)
  }

  private func reference(
    _ part: Part, _ key: RawSpan, _ record: FieldRecord, _ kind: ReferenceKind, _ tag: UInt64,
    _ identifier: UnsafeRawBufferPointer
  ) throws -> Entry {
    let start = bytes.count
    var target = Entry.unknownTarget
    if part.hash == nil && !keys.hidesIdentifiers && !Identifier.isCut(byteCount: identifier.count) {
      KeyLayout.appendReferencePrefix(ofTarget: tag, identifier.bytes, to: &bytes)
      target = part.target(tag)
    } else {
      try Identifier.withKeyForm(of: identifier) { identifier in
        if part.hash == nil && !keys.hidesIdentifiers {
          return KeyLayout.appendReferencePrefix(ofTarget: tag, identifier.bytes, to: &bytes)
        }
        try keys.withStorageKey(tag: tag, identifier.bytes) { target in
          try KeyLayout.appendReferencePrefix(ofTarget: target, part.hash, to: &bytes)
        }
      }
    }
    // Under one tag, length and identifier tell one target from another.
    let valuesCount = 1 + identifier.count
    KeyLayout.appendReferrer(key, to: &bytes)
    let keyEnd = bytes.count
    bytes.append(1 << kind.rawValue)
    if let concreteTag = record.concreteTag { bytes.append(bigEndian: concreteTag) }
    var entry = Entry(
      start: start, keyCount: keyEnd - start, valueCount: bytes.count - keyEnd,
      valuesCount: target == Entry.unknownTarget ? 0 : valuesCount)
    entry.target = target
    entry.order = order(of: entry, behind: part.prefixByteCount)
    return entry
  }

  private func hasSameKey(_ left: Entry, _ right: Entry) -> Bool {
    guard left.order == right.order, left.keyCount == right.keyCount else { return false }
    return withBytes(left.start, left.keyCount) { left in
      withBytes(right.start, right.keyCount) { compareKeys(left, $0) == 0 }
    }
  }

  /// The keys of the entries that these records have. One scan, however many they are.
  func referenceEntries(
    _ part: Part, of records: Set<StorageKey>, _ transaction: any ReadTransaction
  ) throws -> [StorageKey] {
    var found: [StorageKey] = []
    let range = KeyLayout.references(isHashed: part.item.definition.isHashed)
    try transaction.scanKeys(range, .forward) { entry in
      if let referrer = KeyLayout.referrer(ofReference: entry), records.contains(referrer) {
        found.append(StorageKey(entry))
      }
      return .continue
    }
    return found
  }
}
