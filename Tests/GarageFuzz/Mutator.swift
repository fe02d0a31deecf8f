import GarageCoding

/// Where the values of a body are, and the lengths around each: what a mutation needs in order to change a
/// record and leave it whole.
struct BodyMap {
  struct Value {
    var range: Range<Int>
    /// The containers around it, as positions in ``BodyMap/values``.
    var parent: Int?
    /// Where its length stands, if it has one, in one or four bytes.
    var length: Int?
    var lengthWidth = 0
  }
  private(set) var values: [Value] = []
  private(set) var bodyStart = 0
  /// The varints of the header: counts and lengths.
  private(set) var headerNumbers: [Int] = []

  /// What can be found; a damaged record has fewer values.
  init(_ record: [UInt8]) {
    guard record.count > RecordHead.byteCount,
      let flags = record.withUnsafeBytes({ RecordHead.uncheckedFlags($0) })
    else { return }
    var at = RecordHead.byteCount
    if flags.contains(.wholeIdentifier) { skipCounted(record, &at) }
    if flags.contains(.concreteTag) { at += 8 }
    if flags.contains(.references) { skipReferences(record, &at) }
    if flags.contains(.shapes) { at += 8 * number(record, &at) }
    if flags.contains(.typeVersion) { _ = number(record, &at) }
    guard at < record.count else { return }
    bodyStart = at
    _ = addValue(record, at, record.count, nil)
  }

  private mutating func number(_ record: [UInt8], _ at: inout Int) -> Int {
    headerNumbers.append(at)
    var (result, shift) = (0, 0)
    while at < record.count, shift < 28 {
      let byte = record[at]
      at += 1
      result |= Int(byte & 0x7F) << shift
      if byte < 0x80 { break }
      shift += 7
    }
    return result
  }

  private mutating func skipCounted(_ record: [UInt8], _ at: inout Int) {
    let count = number(record, &at)
    at += count
  }

  private mutating func skipReferences(_ record: [UInt8], _ at: inout Int) {
    at += 8 * number(record, &at)
    // A count may be anything: each reference takes a byte at least.
    for _ in 0..<min(number(record, &at), record.count) {
      guard at < record.count else { return }
      let isLong = record[at] & 0x3F == 63
      at += 1
      if isLong { _ = number(record, &at) }
      skipCounted(record, &at)
    }
  }

  /// Adds the value at `start` and those in it; returns its end, or nil where it is none.
  private mutating func addValue(_ record: [UInt8], _ start: Int, _ limit: Int, _ parent: Int?) -> Int? {
    guard start < limit, values.count < 4000 else { return nil }
    let tag = record[start]
    var value = Value(range: start..<start, parent: parent)
    var end = start + 1
    switch tag {
    case 0x00...0x03, 0x40...0x7F, 0xC0...0xDF: break
    case 0x80...0xBF: end += Int(tag & 0x3F)
    case 0x04, 0x1A: end += 1
    case 0x05: end += 2
    case 0x06, 0x0B, 0x1B: end += 4
    case 0x07, 0x09, 0x0C, 0x0D: end += 8
    case 0x08, 0x0A, 0x0E: end += 16
    case 0x0F...0x19:
      let isLong = tag != 0x0F && tag & 1 == 1
      value.lengthWidth = isLong ? 4 : 1
      guard start + 1 + 2 * value.lengthWidth <= limit else { return nil }
      value.length = start + 1
      end += value.lengthWidth * (tag >= 0x14 ? 2 : 1) + read(record, start + 1, value.lengthWidth)
    default: return nil
    }
    guard end <= limit else { return nil }
    value.range = start..<end
    let index = values.count
    values.append(value)
    if (0x14...0x17).contains(tag) {
      var at = start + 1 + 2 * value.lengthWidth
      // Entries have a key each; where one stands for a value, what follows is noise, and as good.
      while at < end, let next = addValue(record, at, end, index) { at = next }
    }
    return end
  }

  private func read(_ record: [UInt8], _ at: Int, _ width: Int) -> Int {
    (0..<width).reduce(0) { $0 | Int(record[at + $1]) << (8 * $1) }
  }
}

/// Changes to records: some leave them whole but for one place, others know nothing of their structure.
struct Mutator {
  var random: InputRandom

  mutating func mutate(_ record: [UInt8], from others: [[UInt8]]) -> [UInt8] {
    var record = record
    for _ in 0...random.below(3) { record = once(record, others) }
    return Array(record.prefix(1 << 20))
  }

  private mutating func once(_ record: [UInt8], _ others: [[UInt8]]) -> [UInt8] {
    var record = record
    guard !record.isEmpty else { return random.bytes(random.below(40)) }
    let map = BodyMap(record)
    switch random.below(12) {
    case 0:
      record[random.below(record.count)] ^= 1 << UInt8(random.below(8))
    case 1:
      record[random.below(record.count)] = interestingByte()
    case 2:
      let start = random.below(record.count)
      record.removeSubrange(start..<min(record.count, start + 1 + random.below(8)))
    case 3:
      let count = 1 + random.below(8)
      record.insert(contentsOf: random.bytes(count), at: random.below(record.count + 1))
    case 4 where record.count > 1:
      record[1] ^= 1 << UInt8(random.below(8))
    case 5:
      record.removeLast(random.below(record.count))
    case 6 where !map.headerNumbers.isEmpty:
      changeHeaderNumber(&record, map)
    case 7, 8: changeLength(&record, map)
    case 9: wrap(&record, map)
    default: splice(&record, map, others)
    }
    return record
  }

  private mutating func interestingByte() -> UInt8 {
    let all: [UInt8] = [
      0, 1, 0x3F, 0x40, 0x7F, 0x80, 0xFE, 0xFF, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1A, 0x1B, 0x1C, 0x1E,
      0xC0, 0xDF,
    ]
    return random.once(in: 3) ? random.byte() : all[random.below(all.count)]
  }

  /// A count or length of the header becomes another, mostly a huge one.
  private mutating func changeHeaderNumber(_ record: inout [UInt8], _ map: BodyMap) {
    let at = map.headerNumbers[random.below(map.headerNumbers.count)]
    guard at < record.count else { return }
    if random.once(in: 2) {
      record[at] = interestingByte()
    } else {
      let bytes = [UInt8](repeating: 0xFF, count: 1 + random.below(9)) + [UInt8(random.below(0x80))]
      record.replaceSubrange(at...at, with: bytes)
    }
  }

  /// A length, or the number behind it, becomes another.
  private mutating func changeLength(_ record: inout [UInt8], _ map: BodyMap) {
    let sized = map.values.filter { $0.length != nil }
    guard !sized.isEmpty else { return }
    let value = sized[random.below(sized.count)]
    guard var at = value.length else { return }
    if random.once(in: 2) { at += value.lengthWidth }
    guard at + value.lengthWidth <= record.count else { return }
    let old = (0..<value.lengthWidth).reduce(0) { $0 | Int(record[at + $1]) << (8 * $1) }
    let candidates = [
      0, 1, old &+ 1, old &- 1, 0xFF, 0x7FFF_FFFF, 0xFFFF_FFFF, 0x8000_0000, old * 2, 11, 1 << 24,
    ]
    let new = candidates[random.below(candidates.count)]
    for byte in 0..<value.lengthWidth { record[at + byte] = UInt8(truncatingIfNeeded: new >> (8 * byte)) }
  }

  /// A value is put inside arrays, or a map, up to deeper than may be.
  private mutating func wrap(_ record: inout [UInt8], _ map: BodyMap) {
    guard !map.values.isEmpty else { return }
    let index = random.below(map.values.count)
    var content = Array(record[map.values[index].range])
    let depth = random.once(in: 4) ? 100 + random.below(600) : 1 + random.below(4)
    // Headers of nine bytes each; all lengths are right.
    var headers: [UInt8] = []
    for level in (0..<depth).reversed() {
      let length = content.count + 9 * level
      headers += [0x17] + number32(length) + number32(1)
    }
    // Outermost first: it holds all the others.
    content = headers + content
    replace(&record, map, index, with: content)
  }

  private func number32(_ number: Int) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }

  /// A value takes another's place, of this record or of another; lengths around it are mostly put right.
  private mutating func splice(_ record: inout [UInt8], _ map: BodyMap, _ others: [[UInt8]]) {
    let other = others.isEmpty || random.once(in: 3) ? record : others[random.below(others.count)]
    let otherMap = BodyMap(other)
    guard !map.values.isEmpty, !otherMap.values.isEmpty else { return }
    let content = Array(other[otherMap.values[random.below(otherMap.values.count)].range])
    let index = random.below(map.values.count)
    if random.once(in: 4) {
      record.replaceSubrange(map.values[index].range, with: content)
    } else {
      replace(&record, map, index, with: content)
    }
  }

  private func replace(_ record: inout [UInt8], _ map: BodyMap, _ index: Int, with content: [UInt8]) {
    let value = map.values[index]
    let difference = content.count - value.range.count
    var parent = value.parent
    while let container = parent {
      let outer = map.values[container]
      if let at = outer.length {
        let old = (0..<outer.lengthWidth).reduce(0) { $0 | Int(record[at + $1]) << (8 * $1) }
        for byte in 0..<outer.lengthWidth {
          record[at + byte] = UInt8(truncatingIfNeeded: (old + difference) >> (8 * byte))
        }
      }
      parent = outer.parent
    }
    record.replaceSubrange(value.range, with: content)
  }
}
