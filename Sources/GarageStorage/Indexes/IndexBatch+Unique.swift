internal import GarageCoding
internal import GarageDriver

// Checks that no two records have the same values in a unique index.

extension IndexBatch {
  /// Throws `notUnique` where two records would have the same values in an index that is unique.
  func checkUnique(in transaction: any ReadTransaction) throws {
    for part in parts where part.isUnique && !part.added.isEmpty {
      try sort()
      var last: Entry?
      let tags = try crowdedTags(part, transaction)
      for (index, entry) in part.added.enumerated() where entry.isUnique {
        prefetch(part.added, behind: index)
        if let last, hasSameValues(part, last, entry) { throw notUnique(part, entry, identifierOf: last) }
        last = entry
        for tag in tags { try checkUnique(part, entry, tag, transaction) }
      }
    }
  }

  /// The tags under which the store has entries in the range of the batch's entries. Many new entries mostly stand where there
  /// are no others, as when a store is filled, and then none of them need be looked up.
  private func crowdedTags(_ part: Part, _ transaction: any ReadTransaction) throws -> [UInt64] {
    let (definition, added) = (part.item.definition, part.added)
    guard added.count >= 16, let first = added.first, let last = added.last else { return definition.tags }
    return try definition.tags.filter { tag in
      let prefix = KeyLayout.indexPrefix(tag: tag, index: part.item.id)
      // Without identifiers, because an entry with the same values may stand before the first one or behind the last.
      let range = StorageKeyRange(
        from: prefix + values(first), to: StorageKeyRange.prefix(prefix + values(last)).upperBound)
      var isCrowded = false
      try transaction.scanKeys(range, .forward) { _ in
        isCrowded = true
        return .stop
      }
      return isCrowded
    }
  }

  private func values(_ entry: Entry) -> [UInt8] {
    let start = entry.start + KeyLayout.indexPrefixByteCount
    return Array(bytes.all[start..<start + entry.valuesCount])
  }

  private func hasSameValues(_ part: Part, _ left: Entry, _ right: Entry) -> Bool {
    let (count, prefix) = (left.valuesCount, KeyLayout.indexPrefixByteCount)
    guard count == right.valuesCount else { return false }
    // For most pairs this decides, without a look at bytes that are far away.
    if left.order != right.order, part.orderPlace + 8 <= prefix + count { return false }
    let all = bytes.all.bytes
    let isSame =
      compareKeys(
        all.extracting(left.start + prefix..<left.start + prefix + count),
        all.extracting(right.start + prefix..<right.start + prefix + count)) == 0
    return isSame && wholeValues[left.start] == wholeValues[right.start]
  }

  private func checkUnique(
    _ part: Part, _ entry: Entry, _ tag: UInt64, _ transaction: any ReadTransaction
  ) throws {
    let values = values(entry)
    let range = StorageKeyRange.prefix(
      KeyLayout.indexPrefix(tag: tag, index: part.item.id) + values)
    var others: [StorageKey] = []
    // Beside left-overs there may be any number of objects that do not have what the index has of them.
    let most = part.hasOlderKeys ? Int.max : 8
    func visit(_ key: RawSpan) -> ScanStep {
      let isOwn = withBytes(entry.start, entry.keyCount) { compareKeys($0, key) == 0 }
      if !isOwn && !isRemoved(part, key) { others.append(StorageKey(key)) }
      return others.count < most ? .continue : .stop
    }
    if part.item.definition.classTags.isEmpty {
      try transaction.scanKeys(range, .forward, visit)
    } else {
      // There may be many entries of other classes.
      try transaction.scan(range, .forward) { key, value in
        part.isUnique(among: IndexBatch.concreteTag(value)) ? visit(key) : .continue
      }
    }
    for other in others where try isHeld(part, entry, values, by: other, transaction) {
      let place = KeyLayout.indexPrefixByteCount + values.count
      throw notUnique(part, entry, existing: other.bytes.span.bytes.extracting(place...))
    }
  }

  /// Whether the batch, whose entries are sorted, removes an entry.
  private func isRemoved(_ part: Part, _ key: RawSpan) -> Bool {
    let removed = part.removed
    var (low, high) = (0, removed.count)
    while low < high {
      let middle = (low + high) / 2
      let order = withBytes(removed[middle].start, removed[middle].keyCount) {
        IndexBatch.compareEntries($0, key, behind: part.prefixByteCount)
      }
      if order == 0 { return true }
      if order < 0 { low = middle + 1 } else { high = middle }
    }
    return false
  }

  /// Whether the record of another entry really has the same whole values. The entry may be a left-over of a record that
  /// another process replaced behind unsaved changes.
  private func isHeld(
    _ part: Part, _ entry: Entry, _ values: [UInt8], by other: StorageKey,
    _ transaction: any ReadTransaction
  ) throws -> Bool {
    let whole = wholeValues[entry.start] ?? values
    let place = KeyLayout.indexPrefixByteCount + values.count
    let key = KeyLayout.record(ofEntry: other.bytes.span.bytes, identifierAt: place)
    return try transaction.withReplaceableValue(for: key.bytes.span.bytes, isSealed: keys.isSealed) {
      record in
      guard let record else { return false }
      var isHeld = false
      let isReadable = try withFields(key.bytes.span.bytes, record) { record in
        if try !part.hasOwnValues(record) { return }
        if part.item.definition.isEach {
          _ = try part.fields.forEachElement(record) { element in
            guard let element else { return }
            var bytes = OrderedBytes()
            bytes.append(element)
            if bytes.bytes == whole { isHeld = true }
          }
        } else {
          var bytes = OrderedBytes()
          _ = try part.fields.append(record, to: &bytes)
          isHeld = bytes.bytes == whole
        }
      }
      // What a damaged record has cannot be told.
      return isHeld || !isReadable
    }
  }

  private func notUnique(_ part: Part, _ entry: Entry, identifierOf other: Entry) -> GarageError {
    let start = other.start + KeyLayout.indexPrefixByteCount + other.valuesCount
    return withBytes(start, other.start + other.keyCount - start) { notUnique(part, entry, existing: $0) }
  }

  private func notUnique(_ part: Part, _ entry: Entry, existing: RawSpan) -> GarageError {
    let values = wholeValues[entry.start] ?? values(entry)
    let identifier =
      keys.hidesIdentifiers
      ? "hidden as \(StorageKey(existing))" : Identifier.description(ofKeyBytes: [UInt8](copying: existing))
    return .notUnique(
      index: part.item.name, value: OrderedBytes.text(of: values), existing: identifier)
  }
}
