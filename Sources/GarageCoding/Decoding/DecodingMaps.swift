// Finding a map's fields. They mostly are asked for in the order in which they stand, so the next one is
// known; otherwise the offsets of the fields up to the one wanted are noted once for each map.

extension UnsafeMutablePointer where Pointee == DecoderState {
  /// Begins reading the current frame's value as a map, or goes on with it from the start.
  func requestMap() throws {
    let frame = pointee.input.frame.pointee
    if frame.kind == .map { return }
    guard
      let header = try ContainerHeader.read(
        pointee.base, frame.start, end: frame.end, small: BodyTag.mapSmall, large: BodyTag.mapLarge)
        ?? headerBehindSyncStatus(small: BodyTag.mapSmall, large: BodyTag.mapLarge)
    else { throw mismatch([String: Any].self, at: frame.start, codingPath) }
    pointee.input.frame.pointee.kind = .map
    pointee.input.frame.pointee.end = header.end
    pointee.input.frame.pointee.content = header.content
    pointee.input.frame.pointee.next = 0
    pointee.input.frame.pointee.nextOffset = header.content
    pointee.input.frame.pointee.indexCount = 0
    if header.second > 0 {
      let shape = try shape(at: header.second - 1)
      pointee.input.frame.pointee.shape = shape
      pointee.input.frame.pointee.shapedCount = shape._withUnsafeGuaranteedRef { $0.keys.count }
    } else {
      pointee.input.frame.pointee.shape = nil
      pointee.input.frame.pointee.shapedCount = 0
    }
  }

  /// The header of a container that has a sync status before it, although its type has none (any more).
  @inline(never)
  func headerBehindSyncStatus(small: UInt8, large: UInt8) throws -> ContainerHeader? {
    let frame = pointee.input.frame.pointee
    let start = InlinePrefix.skipSyncStatus(pointee.base, frame.start, end: frame.end)
    if start == frame.start { return nil }
    return try ContainerHeader.read(pointee.base, start, end: frame.end, small: small, large: large)
  }

  /// Moves the cursor to the value of `key`. False where the map has none.
  @inline(__always)
  func find<Key: CodingKey>(_ key: Key, _ keys: KeyTablePointer, serial: UInt64) throws -> Bool {
    guard pointee.input.frame.pointee.serial == serial else { throw staleContainer([key], serial) }
    if keys.pointee.isByte {
      let discriminator = discriminator(of: key)
      if pointee.input.frame.pointee.keys != keys { bind(keys) }
      let field = pointee.input.frame.pointee.fields.unsafelyUnwrapped[Int(discriminator)]
      if field >= 0 {
        if keys.pointee.noted[Int(discriminator)] == 0 { note(key, discriminator, keys) }
        return try find(field: Int(field), key)
      }
      return try findNew(key, discriminator, keys)
    }
    return try findText(key.stringValue)
  }

  @inline(never)
  private func bind(_ keys: KeyTablePointer) {
    let shape = pointee.input.frame.pointee.shape?.toOpaque()
    if keys.pointee.lastFields == nil || keys.pointee.lastShape != shape {
      keys.pointee.lastFields = keys.pointee.table.takeUnretainedValue().fields(
        of: pointee.input.frame.pointee.shape)
      keys.pointee.lastShape = shape
    }
    pointee.input.frame.pointee.keys = keys
    pointee.input.frame.pointee.fields = keys.pointee.lastFields
  }

  @inline(never)
  private func note<Key: CodingKey>(_ key: Key, _ discriminator: UInt8, _ keys: KeyTablePointer) {
    keys.pointee.table.takeUnretainedValue().note(key, discriminator)
    keys.pointee.noted[Int(discriminator)] = 1
  }

  /// Finds a key that was not asked for in this shape before, or that the shape does not have.
  @inline(never)
  private func findNew<Key: CodingKey>(_ key: Key, _ discriminator: UInt8, _ keys: KeyTablePointer) throws
    -> Bool
  {
    note(key, discriminator, keys)
    let text = key.stringValue
    if pointee.input.frame.pointee.fields.unsafelyUnwrapped[Int(discriminator)] == fieldUnknown,
      let shape = pointee.input.frame.pointee.shape
    {
      let field = shape.takeUnretainedValue().positions[text].map { Int32($0) } ?? fieldMissing
      pointee.input.frame.pointee.fields.unsafelyUnwrapped[Int(discriminator)] = field
      if field >= 0 { return try find(field: Int(field), key) }
    }
    return try findEntry(text)
  }

  /// Finds the shape's field at a position; an absent one may stand among the entries.
  @inline(__always)
  private func find<Key: CodingKey>(field: Int, _ key: Key) throws -> Bool {
    let offset =
      pointee.input.frame.pointee.next == field
      ? pointee.input.frame.pointee.nextOffset : try offset(ofField: field)
    pointee.cursor = offset
    pointee.input.frame.pointee.current = field
    guard offset < pointee.input.frame.pointee.end else {
      throw DamagedBody(reason: "a map ends before its fields", offset: offset)
    }
    if pointee.base.load(fromByteOffset: offset, as: UInt8.self) != BodyTag.absent { return true }
    // Reading on behind it is what the next look-up will want.
    pointee.input.frame.pointee.next = field &+ 1
    pointee.input.frame.pointee.nextOffset = offset &+ 1
    return try hasEntries() && findEntry(key.stringValue) || findEarlier(key.stringValue)
  }

  /// Finds a field that a superclass wrote under a key for which its subclass has no value.
  private func findEarlier(_ key: String) throws -> Bool {
    guard let shape = pointee.input.frame.pointee.shape?.takeUnretainedValue(),
      !shape.earlierPositions.isEmpty
    else { return false }
    for field in shape.earlierPositions[key] ?? [] where try hasValue(field) {
      pointee.cursor = try offset(ofField: field)
      pointee.input.frame.pointee.current = field
      return true
    }
    return false
  }

  private func hasValue(_ field: Int) throws -> Bool {
    let offset = try offset(ofField: field)
    return offset < pointee.input.frame.pointee.end
      && pointee.base.load(fromByteOffset: offset, as: UInt8.self) != BodyTag.absent
  }

  /// Finds the shape's field at a position, for who knows the shape. False where it is absent.
  func findField(_ field: Int) throws -> Bool {
    let offset =
      pointee.input.frame.pointee.next == field
      ? pointee.input.frame.pointee.nextOffset : try offset(ofField: field)
    guard offset < pointee.input.frame.pointee.end else {
      throw DamagedBody(reason: "a map ends before its fields", offset: offset)
    }
    pointee.cursor = offset
    pointee.input.frame.pointee.current = field
    if pointee.base.load(fromByteOffset: offset, as: UInt8.self) != BodyTag.absent { return true }
    pointee.input.frame.pointee.next = field &+ 1
    pointee.input.frame.pointee.nextOffset = offset &+ 1
    return false
  }

  func findText(_ text: String) throws -> Bool {
    if let shape = pointee.input.frame.pointee.shape, let field = shape.takeUnretainedValue().positions[text],
      try hasValue(field)
    {
      pointee.cursor = try offset(ofField: field)
      pointee.input.frame.pointee.current = field
      return true
    }
    return try findEntry(text) || findEarlier(text)
  }

  /// Called when the field at the cursor was read: the next one begins here.
  @inline(__always)
  func advance() {
    pointee.input.frame.pointee.next = pointee.input.frame.pointee.current &+ 1
    pointee.input.frame.pointee.nextOffset = pointee.cursor
  }

  // MARK: - Offsets

  /// The offset of a field of the shape, or, from `shapedCount` on, of an entry.
  private func offset(ofField field: Int) throws -> Int {
    while pointee.input.frame.pointee.indexCount <= field {
      guard try indexNext() else {
        throw DamagedBody(reason: "a map ends before its fields", offset: pointee.input.frame.pointee.end)
      }
    }
    return pointee.input.offsets.base[pointee.input.frame.pointee.indexBase + field]
  }

  /// Notes the offset of one more field or entry. False at the end of the map.
  private func indexNext() throws -> Bool {
    let frame = pointee.input.frame.pointee
    var offset = frame.content
    if frame.indexCount > 0 {
      let last = frame.indexCount - 1
      offset = pointee.input.offsets.base[frame.indexBase + last]
      offset = try end(ofField: last, at: offset)
    }
    guard offset < frame.end else { return false }
    pointee.input.offsets.truncate(to: frame.indexBase + frame.indexCount)
    pointee.input.offsets.append(offset)
    pointee.input.frame.pointee.indexCount += 1
    return true
  }

  private func end(ofField field: Int, at offset: Int) throws -> Int {
    let end = pointee.input.frame.pointee.end
    var value = offset
    if field >= pointee.input.frame.pointee.shapedCount { value = try keyRange(at: offset).upperBound }
    return try BodyScanner.skipValue(pointee.base, value, end: end)
  }

  private func indexAll() throws { while try indexNext() {} }

  // MARK: - Entries

  private func hasEntries() throws -> Bool {
    let frame = pointee.input.frame.pointee
    if frame.shapedCount == 0 { return frame.content < frame.end }
    // Cheap where the fields were read in order up to the last.
    if frame.next == frame.shapedCount { return frame.nextOffset < frame.end }
    return try self.end(ofField: frame.shapedCount - 1, at: offset(ofField: frame.shapedCount - 1))
      < frame.end
  }

  private func keyRange(at offset: Int) throws -> Range<Int> {
    var at = offset
    return try BodyScanner.readKey(pointee.base, &at, end: pointee.input.frame.pointee.end)
  }

  private func keyBytes(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: pointee.base + range.lowerBound, count: range.count)
  }

  /// Moves the cursor to the value of the entry with this key.
  @inline(never)
  func findEntry(_ text: String) throws -> Bool {
    var text = text
    return try text.withUTF8 { try findEntry(UnsafeRawBufferPointer($0)) }
  }

  private func findEntry(_ wanted: UnsafeRawBufferPointer) throws -> Bool {
    let frame = pointee.input.frame.pointee
    if frame.next >= frame.shapedCount, frame.nextOffset < frame.end {
      let key = try keyRange(at: frame.nextOffset)
      if compareBytes(keyBytes(key), wanted) == 0 {
        pointee.input.frame.pointee.currentKey = frame.nextOffset
        pointee.cursor = key.upperBound
        pointee.input.frame.pointee.current = frame.next
        return true
      }
    }
    try indexAll()
    var low = frame.shapedCount
    var high = pointee.input.frame.pointee.indexCount
    while low < high {
      let middle = (low + high) / 2
      let entry = pointee.input.offsets.base[frame.indexBase + middle]
      let key = try keyRange(at: entry)
      let order = compareBytes(keyBytes(key), wanted)
      if order == 0 {
        pointee.input.frame.pointee.currentKey = entry
        pointee.cursor = key.upperBound
        pointee.input.frame.pointee.current = middle
        return true
      }
      if order < 0 { low = middle + 1 } else { high = middle }
    }
    return false
  }

  /// The texts of all keys that the map has a value for.
  func allKeys(serial: UInt64) throws -> [String] {
    guard pointee.input.frame.pointee.serial == serial else { throw staleContainer([], serial) }
    try indexAll()
    let frame = pointee.input.frame.pointee
    var keys: [String] = []
    let shape = frame.shape?.takeUnretainedValue()
    for field in 0..<frame.indexCount {
      let offset = pointee.input.offsets.base[frame.indexBase + field]
      if field >= frame.shapedCount {
        keys.append(String(decoding: keyBytes(try keyRange(at: offset)), as: UTF8.self))
      } else if let shape, pointee.base.load(fromByteOffset: offset, as: UInt8.self) != BodyTag.absent {
        keys.append(shape.keys[field])
      }
    }
    if let shape, !shape.earlierPositions.isEmpty {
      var seen: Set<String> = []
      keys.removeAll { !seen.insert($0).inserted }
    }
    return keys
  }
}
