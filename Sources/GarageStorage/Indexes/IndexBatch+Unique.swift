internal import GarageCoding
internal import GarageDriver

// What no two records may have.

extension IndexBatch {
  /// Throws `notUnique` where two records would have the same values in an index that is unique.
  func checkUnique(in transaction: any ReadTransaction) throws {
    for position in parts.indices where parts[position].isUnique {
      if parts[position].added.isEmpty { continue }
      sort()
      var last: Entry?
      let tags = try crowdedTags(position, transaction)
      for entry in parts[position].added where entry.isUnique {
        if let last, hasSameValues(last, entry) {
          throw notUnique(position, entry, identifierOf: last)
        }
        last = entry
        for tag in tags { try checkUnique(position, entry, tag, transaction) }
      }
    }
  }

  /// The tags under which there are entries among those of the batch: of many new ones in a place of their own, as when a store
  /// is filled, none need be looked for one by one.
  private func crowdedTags(_ position: Int, _ transaction: any ReadTransaction) throws -> [UInt64] {
    let (definition, added) = (parts[position].item.definition, parts[position].added)
    guard added.count >= 16, let first = added.first, let last = added.last else { return definition.tags }
    return try definition.tags.filter { tag in
      let prefix = KeyLayout.indexPrefix(tag: tag, index: parts[position].item.id)
      // Without identifiers: another with the same values may stand before the first and behind the last.
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

  private func values(_ entry: Entry) -> ArraySlice<UInt8> {
    let start = entry.start + KeyLayout.indexPrefixByteCount
    return bytes.bytes[start..<start + valuesCount(entry)]
  }

  private func valuesCount(_ entry: Entry) -> Int { Int(bytes.bytes[entry.start + entry.keyCount]) }

  private func hasSameValues(_ left: Entry, _ right: Entry) -> Bool {
    let (count, prefix) = (valuesCount(left), KeyLayout.indexPrefixByteCount)
    guard count == valuesCount(right) else { return false }
    let isSame = withBytes(left.start + prefix, count) { left in
      withBytes(right.start + prefix, count) { compareKeys(left, $0) == 0 }
    }
    return isSame && wholeValues[left.start] == wholeValues[right.start]
  }

  private func checkUnique(
    _ position: Int, _ entry: Entry, _ tag: UInt64, _ transaction: any ReadTransaction
  ) throws {
    let values = values(entry)
    let range = StorageKeyRange.prefix(
      KeyLayout.indexPrefix(tag: tag, index: parts[position].item.id) + values)
    var others: [StorageKey] = []
    try transaction.scanKeys(range, .forward) { key in
      let isOwn = withBytes(entry.start, entry.keyCount) { compareKeys($0, key) == 0 }
      if !isOwn && !isRemoved(position, key) { others.append(StorageKey(key)) }
      return others.count < 8 ? .continue : .stop
    }
    for other in others where try isHeld(position, entry, Array(values), by: other, transaction) {
      let place = KeyLayout.indexPrefixByteCount + values.count
      throw notUnique(position, entry, existing: other.bytes.span.bytes.extracting(place...))
    }
  }

  /// Whether an entry goes with the batch, whose entries are sorted.
  private func isRemoved(_ position: Int, _ key: RawSpan) -> Bool {
    let removed = parts[position].removed
    var (low, high) = (0, removed.count)
    while low < high {
      let middle = (low + high) / 2
      let order = withBytes(removed[middle].start, removed[middle].keyCount) { compareKeys($0, key) }
      if order == 0 { return true }
      if order < 0 { low = middle + 1 } else { high = middle }
    }
    return false
  }

  /// Whether the record of another entry has the same values, whole as they are: an entry may be left of what another
  /// process replaced behind unsaved changes.
  private func isHeld(
    _ position: Int, _ entry: Entry, _ values: [UInt8], by other: StorageKey,
    _ transaction: any ReadTransaction
  ) throws -> Bool {
    let whole = wholeValues[entry.start] ?? values
    let place = KeyLayout.indexPrefixByteCount + values.count
    let key = KeyLayout.record(ofEntry: other.bytes.span.bytes, identifierAt: place)
    return try transaction.withReplaceableValue(for: key.bytes.span.bytes, isSealed: keys.isSealed) {
      record in
      guard let record else { return false }
      var isHeld = false
      let part = parts[position]
      let isReadable = try withFields(key.bytes.span.bytes, record, transaction) { record in
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
      // Nobody can tell of a damaged one.
      return isHeld || !isReadable
    }
  }

  private func notUnique(_ position: Int, _ entry: Entry, identifierOf other: Entry) -> GarageError {
    let start = other.start + KeyLayout.indexPrefixByteCount + valuesCount(other)
    return withBytes(start, other.start + other.keyCount - start) { notUnique(position, entry, existing: $0) }
  }

  private func notUnique(_ position: Int, _ entry: Entry, existing: RawSpan) -> GarageError {
    let start = entry.start + KeyLayout.indexPrefixByteCount
    let values = wholeValues[entry.start] ?? Array(bytes.bytes[start..<start + valuesCount(entry)])
    let identifier =
      keys.hidesIdentifiers
      ? "hidden as \(StorageKey(existing))" : Identifier.description(ofKeyBytes: [UInt8](copying: existing))
    return .notUnique(
      index: parts[position].item.name, value: OrderedBytes.text(of: values), existing: identifier)
  }
}
