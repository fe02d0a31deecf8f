internal import Foundation

/// A value of a property list, including the references of keyed archives, which Foundation's reader hides.
indirect enum PropertyListValue {
  case null
  case bool(Bool)
  case integer(Int)
  /// A number beyond the largest `Int`.
  case unsigned(UInt64)
  case real(Double)
  /// Seconds since 2001-01-01 UTC.
  case date(Double)
  case data(Data)
  case string(String)
  /// A reference to an object in a keyed archive: the object's place.
  case reference(Int)
  case array([PropertyListValue])
  case dictionary([String: PropertyListValue])

  subscript(key: String) -> PropertyListValue? {
    guard case .dictionary(let fields) = self else { return nil }
    return fields[key]
  }

  var string: String? { if case .string(let text) = self { text } else { nil } }
  var array: [PropertyListValue]? { if case .array(let elements) = self { elements } else { nil } }
  var reference: Int? { if case .reference(let place) = self { place } else { nil } }
}

/// Reads a binary property list (`bplist00`, as CoreFoundation's CFBinaryPList.c draws it), whatever its bytes are.
///
/// Foundation's own reader ends the process on some damaged archives.
struct BinaryPropertyList {
  private let bytes: [UInt8]
  private let offsets: [Int]
  private let referenceByteCount: Int
  /// Where the offsets begin. No object reaches beyond this place.
  private let end: Int
  /// How many values may still be read. Without a limit, shared values could make a small list a vast one.
  private var budget: Int

  private static let maximumDepth = 64
  private static let trailerByteCount = 32

  /// The value in the list; nil if the data are no property list, or a damaged one.
  static func value(_ data: Data) -> PropertyListValue? {
    guard var list = BinaryPropertyList([UInt8](data)), let top = list.top else { return nil }
    return list.object(top, depth: 0)
  }

  private var top: Int?

  private init?(_ bytes: [UInt8]) {
    let count = bytes.count
    guard count >= 8 + BinaryPropertyList.trailerByteCount, bytes.starts(with: "bplist0".utf8) else {
      return nil
    }
    self.bytes = bytes
    budget = 64 + count
    let trailer = count - BinaryPropertyList.trailerByteCount
    let offsetByteCount = Int(bytes[trailer + 6])
    referenceByteCount = Int(bytes[trailer + 7])
    func number(_ at: Int, _ byteCount: Int) -> Int? {
      guard (1...8).contains(byteCount), at >= 0, at <= count - byteCount else { return nil }
      return Int(exactly: bytes[at..<(at + byteCount)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }
    guard (1...8).contains(offsetByteCount), (1...8).contains(referenceByteCount),
      let objectCount = number(trailer + 8, 8), let top = number(trailer + 16, 8),
      let table = number(trailer + 24, 8), table >= 8, table <= trailer,
      objectCount > 0, objectCount <= (trailer - table) / offsetByteCount
    else { return nil }
    var offsets: [Int] = []
    for index in 0..<objectCount {
      guard let offset = number(table + index * offsetByteCount, offsetByteCount), offset >= 8, offset < table
      else { return nil }
      offsets.append(offset)
    }
    self.offsets = offsets
    self.top = top
    end = table
  }

  private func number(_ at: Int, _ byteCount: Int) -> UInt64? {
    guard byteCount <= 8, at <= end - byteCount else { return nil }
    return bytes[at..<(at + byteCount)].reduce(0) { $0 << 8 | UInt64($1) }
  }

  private mutating func object(_ place: Int, depth: Int) -> PropertyListValue? {
    budget -= 1
    guard budget >= 0, depth < BinaryPropertyList.maximumDepth, offsets.indices.contains(place) else {
      return nil
    }
    let at = offsets[place]
    let (kind, low) = (bytes[at] >> 4, Int(bytes[at] & 15))
    switch kind {
    case 0x0: return low == 0 ? .null : low == 8 ? .bool(false) : low == 9 ? .bool(true) : nil
    case 0x1: return integer(at + 1, exponent: low)
    case 0x2: return real(at + 1, exponent: low).map { .real($0) }
    case 0x3: return low == 3 ? real(at + 1, exponent: 3).map { .date($0) } : nil
    case 0x8:
      return number(at + 1, low + 1).flatMap { Int(exactly: $0) }.map { .reference($0) }
    default:
      guard let (count, start) = count(at, low) else { return nil }
      return container(kind, count, start, depth)
    }
  }

  private mutating func container(_ kind: UInt8, _ count: Int, _ start: Int, _ depth: Int)
    -> PropertyListValue?
  {
    func content(_ byteCount: Int) -> ArraySlice<UInt8>? {
      count <= (end - start) / byteCount ? bytes[start..<(start + count * byteCount)] : nil
    }
    switch kind {
    case 0x4: return content(1).map { .data(Data($0)) }
    case 0x5: return content(1).flatMap { String(validating: $0, as: UTF8.self) }.map { .string($0) }
    case 0x6:
      guard let content = content(2) else { return nil }
      let units = stride(from: content.startIndex, to: content.endIndex, by: 2).map {
        UInt16(content[$0]) << 8 | UInt16(content[$0 + 1])
      }
      return String(validating: units, as: UTF16.self).map { .string($0) }
    case 0xA, 0xC:
      guard content(referenceByteCount) != nil, let elements = objects(count, start, depth) else {
        return nil
      }
      return .array(elements)
    case 0xD:
      guard content(2 * referenceByteCount) != nil, let keys = objects(count, start, depth),
        let values = objects(count, start + count * referenceByteCount, depth)
      else { return nil }
      var fields: [String: PropertyListValue] = [:]
      for (key, value) in zip(keys, values) {
        guard let key = key.string else { return nil }
        fields[key] = value
      }
      return .dictionary(fields)
    default: return nil
    }
  }

  private mutating func objects(_ count: Int, _ start: Int, _ depth: Int) -> [PropertyListValue]? {
    var values: [PropertyListValue] = []
    for index in 0..<count {
      guard let place = number(start + index * referenceByteCount, referenceByteCount),
        let value = Int(exactly: place).flatMap({ object($0, depth: depth + 1) })
      else { return nil }
      values.append(value)
    }
    return values
  }

  /// The number of elements, and where they begin.
  private func count(_ at: Int, _ low: Int) -> (count: Int, start: Int)? {
    if low < 15 { return (low, at + 1) }
    guard at + 1 < end, bytes[at + 1] >> 4 == 1, bytes[at + 1] & 15 <= 3 else { return nil }
    let byteCount = 1 << Int(bytes[at + 1] & 15)
    guard let count = number(at + 2, byteCount).flatMap({ Int(exactly: $0) }) else { return nil }
    return (count, at + 2 + byteCount)
  }

  /// An integer: unsigned in one, two or four bytes, signed in eight. Sixteen bytes hold numbers that do not fit eight.
  private func integer(_ at: Int, exponent: Int) -> PropertyListValue? {
    if exponent <= 2 { return number(at, 1 << exponent).map { .integer(Int($0)) } }
    if exponent == 3 { return number(at, 8).map { .integer(Int(truncatingIfNeeded: $0)) } }
    guard exponent == 4, number(at, 8) == 0, let low = number(at + 8, 8) else { return nil }
    return Int(exactly: low).map { .integer($0) } ?? .unsigned(low)
  }

  private func real(_ at: Int, exponent: Int) -> Double? {
    switch exponent {
    case 2: number(at, 4).map { Double(Float(bitPattern: UInt32(truncatingIfNeeded: $0))) }
    case 3: number(at, 8).map { Double(bitPattern: $0) }
    default: nil
    }
  }
}
