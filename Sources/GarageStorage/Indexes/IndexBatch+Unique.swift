internal import GarageCoding
internal import GarageDriver

// What no two records may have.

extension IndexBatch {
  /// Throws `notUnique` where two records would have the same values in an index that is unique.
  func checkUnique(in transaction: any ReadTransaction) throws {
    for position in parts.indices where parts[position].item.definition.isUnique {
      if parts[position].added.isEmpty { continue }
      sort(position)
      var last: Entry?
      for entry in parts[position].added where entry.isUnique {
        if let last, hasSameValues(last, entry) {
          throw notUnique(position, entry, identifierOf: last)
        }
        last = entry
        try checkUnique(position, entry, transaction)
      }
    }
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

  private func checkUnique(_ position: Int, _ entry: Entry, _ transaction: any ReadTransaction) throws {
    let definition = parts[position].item.definition
    let prefix = KeyLayout.indexPrefixByteCount
    let values = Array(bytes.bytes[entry.start + prefix..<entry.start + prefix + valuesCount(entry)])
    for tag in definition.tags {
      let range = StorageKeyRange.prefix(
        KeyLayout.indexPrefix(tag: tag, index: parts[position].item.id) + values)
      var others: [StorageKey] = []
      try transaction.scanKeys(range, .forward) { key in
        let isOwn = withBytes(entry.start, entry.keyCount) { compareKeys($0, key) == 0 }
        if !isOwn && !isRemoved(position, key) { others.append(StorageKey(key)) }
        return others.count < 8 ? .continue : .stop
      }
      for other in others where try isHeld(position, entry, values, by: other, transaction) {
        throw notUnique(
          position, entry, existing: other.bytes.span.bytes.extracting((prefix + values.count)...))
      }
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
