// Finding a map's fields. Mostly they are asked for in the order in which they stand, and the offset of the next one is known.
// Where they are not, the offsets of the fields up to the wanted one are noted, once for each map.

extension DecoderPointer {
  /// Begins reading the current frame's value as a map, or goes on with it from the start.
  ///
  /// - Parameter isLook: whether the value is looked at from outside, by who asked for a nested container.
  func requestMap(isLook: Bool = false) throws {
    let before = frame
    if before.kind == .map { return }
    if before.kind == .array { throw mismatchOfFrame([String: Any].self) }
    guard
      let header = try ContainerHeader.read(
        base, before.start, end: before.end, small: BodyTag.mapSmall, large: BodyTag.mapLarge)
        ?? mapElsewhere(isLook: isLook)
    else { throw mismatchOfFrame([String: Any].self) }
    frame.kind = .map
    frame.end = header.end
    frame.content = header.content
    frame.next = 0
    frame.nextOffset = header.content
    frame.indexCount = 0
    frame.elsewhere = .unknown
    frame.composition = .unknown
    if header.second > 0 {
      let shape = try shape(at: header.second - 1)
      frame.shape = shape
      frame.shapedCount = shape.with { $0.keys.count }
    } else {
      frame.shape = nil
      frame.shapedCount = 0
    }
  }

  /// The header of a map with something before it, or of the object that a reference here leads to.
  @inline(never)
  private func mapElsewhere(isLook: Bool) throws -> ContainerHeader? {
    var (start, end) = (try contentOfFrame(isLook: isLook), frame.end)
    if start == frame.start {
      guard let target = try targetOfFrame() else { return nil }
      (start, end) = (target.lowerBound, target.upperBound)
    }
    return try ContainerHeader.read(base, start, end: end, small: BodyTag.mapSmall, large: BodyTag.mapLarge)
  }

  /// Moves the cursor to the value of `key`. False where the map has none.
  @inline(__always)
  func find<Key: CodingKey>(_ key: Key, _ keys: KeyTablePointer, serial: UInt64) throws -> Bool {
    try resume(serial, key)
    if keys.isByte {
      let discriminator = discriminator(of: key)
      if frame.keys != keys { bind(keys) }
      let field = frame.fields.unsafelyUnwrapped[discriminator]
      if field >= 0 {
        if !keys.hasNoted(discriminator) { note(key, discriminator, keys) }
        return try findShaped(Int(field), key)
      }
      return try findNew(key, discriminator, keys)
    }
    // For coding paths.
    if frame.keys != keys { frame.keys = keys }
    return try findText(key.stringValue)
  }

  @inline(never)
  private func bind(_ keys: KeyTablePointer) {
    frame.keys = keys
    frame.fields = keys.fields(of: frame.shape)
  }

  @inline(never)
  private func note<Key: CodingKey>(_ key: Key, _ discriminator: UInt8, _ keys: KeyTablePointer) {
    keys.note(key, discriminator)
  }

  /// Finds a key that was not asked for in this shape before, or that the shape does not have.
  @inline(never)
  private func findNew<Key: CodingKey>(_ key: Key, _ discriminator: UInt8, _ keys: KeyTablePointer) throws
    -> Bool
  {
    if !keys.hasNoted(discriminator) { note(key, discriminator, keys) }
    if frame.fields.unsafelyUnwrapped[discriminator] == FieldMap.unknown,
      let shape = frame.shape
    {
      let field = shape.object.positions[key.stringValue].map { Int32($0) } ?? FieldMap.missing
      frame.fields.unsafelyUnwrapped[discriminator] = field
      if field >= 0 { return try findShaped(Int(field), key) }
    }
    return try mayHaveOthers() && findEntry(keyed: keys.text(discriminator))
  }

  /// Finds the shape's field at a position; an absent one may stand among the entries.
  @inline(__always)
  private func findShaped<Key: CodingKey>(_ field: Int, _ key: Key) throws -> Bool {
    let offset =
      frame.next == field
      ? frame.nextOffset : try offset(ofField: field)
    cursor = offset
    frame.current = field
    guard offset < frame.end else {
      throw DamagedBytes(reason: "a map ends before its fields", offset: offset)
    }
    if base.byte(at: offset) != BodyTag.absent { return true }
    // The next look-up will mostly be for the field behind this one.
    frame.next = field &+ 1
    frame.nextOffset = offset &+ 1
    return frame.elsewhere == .nothing ? false : try findElsewhere(key)
  }

  /// Finds a field that is absent in the shape: among the entries, or under the same key of a superclass.
  @inline(never)
  private func findElsewhere(_ key: some CodingKey) throws -> Bool {
    guard try mayHaveOthers() else { return false }
    let text = key.stringValue
    return try findEntry(text) || findEarlier(text)
  }

  /// Whether something may stand in the map beside the fields of its shape, each of which has a key of its own.
  @inline(__always)
  private func mayHaveOthers() throws -> Bool {
    if frame.elsewhere == .unknown { try lookForOthers() }
    return frame.elsewhere == .something
  }

  @inline(never)
  private func lookForOthers() throws {
    let isPlain = try !hasEntries() && frame.shape?.with { $0.earlierPositions.isEmpty } ?? true
    frame.elsewhere = isPlain ? .nothing : .something
  }

  /// Finds a field that a superclass wrote under a key for which its subclass has no value.
  private func findEarlier(_ key: String) throws -> Bool {
    guard let shape = frame.shape?.object,
      !shape.earlierPositions.isEmpty
    else { return false }
    for field in shape.earlierPositions[key] ?? [] where try hasValue(field) {
      cursor = try offset(ofField: field)
      frame.current = field
      return true
    }
    return false
  }

  private func hasValue(_ field: Int) throws -> Bool {
    let offset = try offset(ofField: field)
    return offset < frame.end
      && base.byte(at: offset) != BodyTag.absent
  }

  /// Finds the field at a position of the frame's shape, for callers that know this shape. False where the field is absent.
  func findField(_ field: Int) throws -> Bool {
    let offset =
      frame.next == field
      ? frame.nextOffset : try offset(ofField: field)
    guard offset < frame.end else {
      throw DamagedBytes(reason: "a map ends before its fields", offset: offset)
    }
    cursor = offset
    frame.current = field
    if base.byte(at: offset) != BodyTag.absent { return true }
    frame.next = field &+ 1
    frame.nextOffset = offset &+ 1
    return false
  }

  func findText(_ text: String) throws -> Bool {
    if let shape = frame.shape, let field = shape.object.positions[text],
      try hasValue(field)
    {
      cursor = try offset(ofField: field)
      frame.current = field
      return true
    }
    return try mayHaveOthers() && (findEntry(text) || findEarlier(text))
  }

  /// Called when a field was read and the cursor stands behind it, where the next one begins.
  @inline(__always)
  func advance() {
    frame.next = frame.current &+ 1
    frame.nextOffset = cursor
  }

  // MARK: - Offsets

  /// The offset of a field of the shape, or, from `shapedCount` on, of an entry.
  private func offset(ofField field: Int) throws -> Int {
    while frame.indexCount <= field {
      guard try indexNext() else {
        throw DamagedBytes(reason: "a map ends before its fields", offset: frame.end)
      }
    }
    return input.offsets.base[frame.indexBase + field]
  }

  /// Notes the offset of one more field or entry. False at the end of the map.
  private func indexNext() throws -> Bool {
    let before = frame
    guard let next = try nextIndexOffset() else { return false }
    // Nested containers have noted their offsets behind these. So all offsets of this map are moved behind theirs, once.
    let isCovered = input.offsets.count != before.indexBase + before.indexCount
    if isCovered {
      let indexed = input.offsets.count
      for index in 0..<before.indexCount {
        input.offsets.append(input.offsets.base[before.indexBase + index])
      }
      frame.indexBase = indexed
    }
    noteIndexOffset(next)
    if isCovered { while let next = try nextIndexOffset() { noteIndexOffset(next) } }
    return true
  }

  private func noteIndexOffset(_ offset: Int) {
    input.offsets.append(offset)
    frame.indexCount += 1
  }

  /// Where the field or entry begins that is the first not to be noted; nil at the end of the map.
  private func nextIndexOffset() throws -> Int? {
    let before = frame
    var offset = before.content
    if before.indexCount > 0 {
      let last = before.indexCount - 1
      offset = input.offsets.base[before.indexBase + last]
      offset = try end(ofField: last, at: offset)
    }
    return offset < before.end ? offset : nil
  }

  private func end(ofField field: Int, at offset: Int) throws -> Int {
    let end = frame.end
    var value = offset
    if field >= frame.shapedCount { value = try keyRange(at: offset).upperBound }
    return try BodyScanner.skipValue(base, value, end: end)
  }

  private func indexAll() throws { while try indexNext() {} }

  // MARK: - Entries

  /// Whether entries stand behind the fields of the shape. Looks on from the next field.
  private func hasEntries() throws -> Bool {
    // One was read already.
    if frame.next > frame.shapedCount { return true }
    var at = frame.nextOffset
    let end = frame.end
    for _ in frame.next..<frame.shapedCount { at = try BodyScanner.skipValue(base, at, end: end) }
    return at < end
  }

  private func keyRange(at offset: Int) throws -> Range<Int> {
    var at = offset
    return try BodyScanner.readKey(base, &at, end: frame.end)
  }

  private func keyBytes(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count)
  }

  /// Moves the cursor to the value of the entry with this key.
  @inline(never)
  func findEntry(_ text: String) throws -> Bool {
    var text = text
    return try text.withUTF8 { try findEntry(keyed: UnsafeRawBufferPointer($0)) }
  }

  private func findEntry(keyed wanted: UnsafeRawBufferPointer) throws -> Bool {
    let before = frame
    if before.next >= before.shapedCount, before.nextOffset < before.end {
      let key = try keyRange(at: before.nextOffset)
      if compareBytes(keyBytes(key), wanted) == 0 {
        frame.currentKey = before.nextOffset
        cursor = key.upperBound
        frame.current = before.next
        return true
      }
    }
    try indexAll()
    if frame.indexCount == before.shapedCount { return false }
    return try searchEntry(keyed: wanted) || findEntry(equivalentTo: wanted)
  }

  /// The same by the bytes of the key, where all offsets are noted.
  private func searchEntry(keyed wanted: UnsafeRawBufferPointer) throws -> Bool {
    let indexBase = frame.indexBase
    var low = frame.shapedCount
    var high = frame.indexCount
    while low < high {
      let middle = (low + high) / 2
      let key = try keyRange(at: input.offsets.base[indexBase + middle])
      let order = compareBytes(keyBytes(key), wanted)
      if order == 0 {
        moveToEntry(middle, key)
        return true
      }
      if order < 0 { low = middle + 1 } else { high = middle }
    }
    return false
  }

  private func moveToEntry(_ place: Int, _ key: Range<Int>) {
    frame.currentKey = input.offsets.base[frame.indexBase + place]
    cursor = key.upperBound
    frame.current = place
  }

  /// The same of an entry whose key is composed otherwise than this one, and equal to it as text: in a shape it would be
  /// found as well, and by the coders of other formats.
  private func findEntry(equivalentTo wanted: UnsafeRawBufferPointer) throws -> Bool {
    if !mayBeComposedOtherwise(wanted) { return false }
    // Others than composed ones are rare, and looked for one by one only in maps that have some.
    if try areEntriesComposed() {
      var form = composed(String(decoding: wanted, as: UTF8.self))
      return try form.withUTF8 { try searchEntry(keyed: UnsafeRawBufferPointer($0)) }
    }
    if frame.indexCount - frame.shapedCount > DecodingCore.linearEntryCount {
      guard let place = try placesByText()[String(decoding: wanted, as: UTF8.self)] else { return false }
      moveToEntry(place, try keyRange(at: input.offsets.base[frame.indexBase + place]))
      return true
    }
    for place in frame.shapedCount..<frame.indexCount {
      let key = try keyRange(at: input.offsets.base[frame.indexBase + place])
      if isSameText(keyBytes(key), wanted) {
        moveToEntry(place, key)
        return true
      }
    }
    return false
  }

  /// The entries whose keys may be composed in another way, by their texts as Swift compares these. Made once for each map, so
  /// that it does not take the square of their number to look for all of them.
  private func placesByText() throws -> [String: Int] {
    if let known = core.entriesByText, known.serial == frame.serial { return known.places }
    var places: [String: Int] = [:]
    for place in frame.shapedCount..<frame.indexCount {
      let key = keyBytes(try keyRange(at: input.offsets.base[frame.indexBase + place]))
      guard mayBeComposedOtherwise(key) else { continue }
      let text = String(decoding: key, as: UTF8.self)
      if places[text] == nil { places[text] = place }
    }
    core.entriesByText = (frame.serial, places)
    return places
  }

  /// Whether the keys of all entries are in composed form: looked at once for each map.
  private func areEntriesComposed() throws -> Bool {
    if frame.composition == .unknown {
      frame.composition = .composed
      core.entriesByText = nil
      for place in frame.shapedCount..<frame.indexCount where frame.composition == .composed {
        let key = try keyRange(at: input.offsets.base[frame.indexBase + place])
        if !isComposed(keyBytes(key)) { frame.composition = .other }
      }
    }
    return frame.composition == .composed
  }

  /// All keys that the map has a value for, as far as they are of a type.
  func allKeys<Key: CodingKey>(_: Key.Type, _ keys: KeyTablePointer, serial: UInt64) throws -> [Key] {
    try resume(serial)
    // A subclass's map may have a key twice.
    guard keys.isByte, frame.shape?.with({ $0.earlierPositions.isEmpty }) ?? true else {
      let texts = try allKeys(serial: serial)
      if texts.isEmpty { return [] }
      // One after the other into their places: to append asks for the array's type each time.
      return [Key](unsafeUninitializedCapacity: texts.count) { keys, count in
        for text in texts {
          guard let key = Key(stringValue: text) else { continue }
          keys.initializeElement(at: count, to: key)
          count += 1
        }
      }
    }
    if let only = try onlyKey(keys) { return keys.array(ofOnly: only, Key.self) }
    if let all = try notedKeys(Key.self, keys) { return all }
    var all: [Key] = []
    var at = frame.content
    var field = 0
    while at < frame.end {
      let discriminator: Int
      if field < frame.shapedCount, let shape = frame.shape {
        let isAbsent = base.byte(at: at) == BodyTag.absent
        at = try BodyScanner.skipValue(base, at, end: frame.end)
        field += 1
        if isAbsent { continue }
        let text = shape.object.keys[field - 1]
        discriminator = keys.discriminator(of: text)
        if discriminator < 0 { appendKey(text, keys, to: &all) }
      } else {
        let range = try BodyScanner.readKey(base, &at, end: frame.end)
        at = try BodyScanner.skipValue(base, at, end: frame.end)
        discriminator = keys.discriminator(of: keyBytes(range))
        if discriminator < 0 { appendKey(String(decoding: keyBytes(range), as: UTF8.self), keys, to: &all) }
      }
      if discriminator >= 0 { all.append(key(UInt8(truncatingIfNeeded: discriminator), as: Key.self)) }
    }
    return all
  }

  /// The keys of a map that has the keys of a shape and no others, where all of these were met before; nil for any other map.
  private func notedKeys<Key: CodingKey>(_: Key.Type, _ keys: KeyTablePointer) throws -> [Key]? {
    guard let shape = frame.shape, let ofShape = keys.discriminators(of: shape) else { return nil }
    return try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: ofShape.count) { found in
      var at = frame.content
      var count = 0
      for discriminator in ofShape {
        if at >= frame.end { return nil }
        let isAbsent = base.byte(at: at) == BodyTag.absent
        at = try BodyScanner.skipValue(base, at, end: frame.end)
        found[count] = discriminator
        if !isAbsent { count &+= 1 }
      }
      if at < frame.end { return nil }
      return keys.array(of: UnsafeBufferPointer(rebasing: found[..<count]), Key.self)
    }
  }

  /// Appends the key with that text, which was not met before, where there is one.
  private func appendKey<Key: CodingKey>(_ text: String, _ keys: KeyTablePointer, to all: inout [Key]) {
    guard let key = Key(stringValue: text) else { return }
    note(key, GarageCoding.discriminator(of: key), keys)
    all.append(key)
  }

  /// The discriminator of the map's only key, if that key was met before; nil for other maps. Enums with payloads are such
  /// maps.
  private func onlyKey(_ keys: KeyTablePointer) throws -> UInt8? {
    var at = frame.content
    guard at < frame.end, frame.shapedCount <= 1 else { return nil }
    let discriminator: Int
    if frame.shapedCount == 1, let shape = frame.shape {
      guard base.byte(at: at) != BodyTag.absent else { return nil }
      discriminator = keys.discriminator(of: shape.with { $0.keys[0] })
    } else {
      discriminator = keys.discriminator(of: keyBytes(try BodyScanner.readKey(base, &at, end: frame.end)))
    }
    guard discriminator >= 0, try BodyScanner.skipValue(base, at, end: frame.end) == frame.end else {
      return nil
    }
    return UInt8(truncatingIfNeeded: discriminator)
  }

  /// The texts of all keys that the map has a value for.
  func allKeys(serial: UInt64) throws -> [String] {
    try resume(serial)
    try indexAll()
    var keys: [String] = []
    keys.reserveCapacity(frame.indexCount)
    let shape = frame.shape?.object
    for field in 0..<frame.indexCount {
      let offset = input.offsets.base[frame.indexBase + field]
      if field >= frame.shapedCount {
        keys.append(String(decoding: keyBytes(try keyRange(at: offset)), as: UTF8.self))
      } else if let shape, base.byte(at: offset) != BodyTag.absent {
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
