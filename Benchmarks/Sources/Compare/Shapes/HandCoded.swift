import Foundation

/// What code by hand can write and read, without `Codable`: each type says it for itself, all at compile time.
protocol HandCoded {
  func write(to writer: inout HandWriter)
  init(reading reader: inout HandReader) throws

  /// An array's elements, behind their number; numbers do it in one copy.
  static func writeAll(_ values: [Self], to writer: inout HandWriter)
  static func readAll(_ count: Int, from reader: inout HandReader) throws -> [Self]
}

extension HandCoded {
  @inline(__always)
  static func writeAll(_ values: [Self], to writer: inout HandWriter) {
    for value in values { value.write(to: &writer) }
  }

  @inline(__always)
  static func readAll(_ count: Int, from reader: inout HandReader) throws -> [Self] {
    var values: [Self] = []
    values.reserveCapacity(count)
    for _ in 0..<count { values.append(try Self(reading: &reader)) }
    return values
  }
}

// MARK: Numbers

/// As many bytes as it has, in the machine's order.
protocol HandNumber: HandCoded, BitwiseCopyable {}

extension HandNumber {
  @inline(__always)
  func write(to writer: inout HandWriter) { writer.write(bits: self) }

  @inline(__always)
  init(reading reader: inout HandReader) throws { self = try reader.bits() }

  @inline(__always)
  static func writeAll(_ values: [Self], to writer: inout HandWriter) {
    values.withUnsafeBytes { writer.write(bytes: $0) }
  }

  @inline(__always)
  static func readAll(_ count: Int, from reader: inout HandReader) throws -> [Self] {
    let bytes = try reader.bytes(count, of: MemoryLayout<Self>.stride)
    return [Self](unsafeUninitializedCapacity: count) { buffer, initialized in
      UnsafeMutableRawBufferPointer(buffer).copyMemory(from: bytes)
      initialized = count
    }
  }
}

extension Int: HandNumber {}
extension Int8: HandNumber {}
extension Int16: HandNumber {}
extension Int32: HandNumber {}
extension Int64: HandNumber {}
extension UInt: HandNumber {}
extension UInt8: HandNumber {}
extension UInt16: HandNumber {}
extension UInt32: HandNumber {}
extension UInt64: HandNumber {}
extension Float: HandNumber {}
extension Double: HandNumber {}

extension Bool: HandCoded {
  @inline(__always)
  func write(to writer: inout HandWriter) { writer.write(bits: self ? 1 as UInt8 : 0) }

  @inline(__always)
  init(reading reader: inout HandReader) throws { self = try reader.tag(below: 2) == 1 }
}

// MARK: Enums and wrappers

/// An enum without payloads: the number of its case.
protocol HandCase: HandCoded, CaseIterable {
  static var caseCount: UInt8 { get }
}

extension HandCase {
  @inline(__always)
  func write(to writer: inout HandWriter) { writer.write(bits: unsafeBitCast(self, to: UInt8.self)) }

  @inline(__always)
  init(reading reader: inout HandReader) throws {
    self = unsafeBitCast(try reader.tag(below: Self.caseCount), to: Self.self)
  }
}

/// Its raw value, whatever that is.
protocol HandRaw: HandCoded, RawRepresentable where RawValue: HandCoded {}

extension HandRaw {
  @inline(__always)
  func write(to writer: inout HandWriter) { rawValue.write(to: &writer) }

  @inline(__always)
  init(reading reader: inout HandReader) throws {
    guard let value = Self(rawValue: try reader.next()) else { throw HandReader.Damaged() }
    self = value
  }
}

// MARK: Text and bytes

extension String: HandCoded {
  @inline(__always)
  func write(to writer: inout HandWriter) { writer.write(text: self) }

  @inline(__always)
  init(reading reader: inout HandReader) throws { self = try reader.text() }
}

extension Data: HandCoded {
  @inline(__always)
  func write(to writer: inout HandWriter) {
    withUnsafeBytes { bytes in
      writer.write(count: bytes.count)
      writer.write(bytes: bytes)
    }
  }

  @inline(__always)
  init(reading reader: inout HandReader) throws {
    let bytes = try reader.bytes(reader.count(), of: 1)
    self = bytes.isEmpty ? Data() : Data(bytes: bytes.baseAddress!, count: bytes.count)
  }
}

// MARK: Foundation's values

extension Date: HandCoded {
  @inline(__always)
  func write(to writer: inout HandWriter) { writer.write(bits: timeIntervalSinceReferenceDate) }

  @inline(__always)
  init(reading reader: inout HandReader) throws {
    self.init(timeIntervalSinceReferenceDate: try reader.bits())
  }
}

extension UUID: HandCoded {
  @inline(__always)
  func write(to writer: inout HandWriter) { writer.write(bits: uuid) }

  @inline(__always)
  init(reading reader: inout HandReader) throws { self.init(uuid: try reader.bits()) }
}

extension URL: HandCoded {
  func write(to writer: inout HandWriter) { writer.write(text: absoluteString) }

  init(reading reader: inout HandReader) throws {
    guard let url = URL(string: try reader.text()) else { throw HandReader.Damaged() }
    self = url
  }
}

extension Decimal: HandCoded {
  /// As text: Foundation keeps the digits to itself, and how they lie in memory is nothing to store.
  func write(to writer: inout HandWriter) { writer.write(text: description) }

  init(reading reader: inout HandReader) throws {
    guard let decimal = Decimal(string: try reader.text()) else { throw HandReader.Damaged() }
    self = decimal
  }
}

extension CGRect: HandCoded {
  func write(to writer: inout HandWriter) {
    writer.write(Double(origin.x), Double(origin.y), Double(size.width), Double(size.height))
  }

  init(reading reader: inout HandReader) throws {
    let (x, y, width, height): (Double, Double, Double, Double) = try (
      reader.next(), reader.next(), reader.next(), reader.next()
    )
    self.init(x: x, y: y, width: width, height: height)
  }
}

extension Measurement: HandCoded where UnitType: Dimension {
  /// As much as Foundation keeps of it: any linear unit, with its symbol and how it converts.
  func write(to writer: inout HandWriter) {
    let converter = unit.converter as? UnitConverterLinear
    writer.write(value, unit.symbol, converter?.coefficient ?? 1, converter?.constant ?? 0)
  }

  init(reading reader: inout HandReader) throws {
    let (value, symbol): (Double, String) = try (reader.next(), reader.next())
    let converter = try UnitConverterLinear(coefficient: reader.next(), constant: reader.next())
    self.init(value: value, unit: UnitType(symbol: symbol, converter: converter))
  }
}

// MARK: Containers

extension Optional: HandCoded where Wrapped: HandCoded {
  @inline(__always)
  func write(to writer: inout HandWriter) {
    switch self {
    case .none:
      writer.write(bits: 0 as UInt8)
    case .some(let value):
      writer.write(bits: 1 as UInt8)
      value.write(to: &writer)
    }
  }

  @inline(__always)
  init(reading reader: inout HandReader) throws {
    self = try reader.tag(below: 2) == 1 ? .some(try Wrapped(reading: &reader)) : .none
  }
}

extension Array: HandCoded where Element: HandCoded {
  @inline(__always)
  func write(to writer: inout HandWriter) {
    writer.write(count: count)
    Element.writeAll(self, to: &writer)
  }

  @inline(__always)
  init(reading reader: inout HandReader) throws { self = try Element.readAll(reader.count(), from: &reader) }
}

extension Set: HandCoded where Element: HandCoded {
  @inline(__always)
  func write(to writer: inout HandWriter) {
    writer.write(count: count)
    for element in self { element.write(to: &writer) }
  }

  @inline(__always)
  init(reading reader: inout HandReader) throws {
    let count = try reader.count()
    self.init(minimumCapacity: count)
    for _ in 0..<count { insert(try Element(reading: &reader)) }
    guard self.count == count else { throw HandReader.Damaged() }
  }
}

extension Dictionary: HandCoded where Key: HandCoded, Value: HandCoded {
  @inline(__always)
  func write(to writer: inout HandWriter) {
    writer.write(count: count)
    for (key, value) in self {
      key.write(to: &writer)
      value.write(to: &writer)
    }
  }

  @inline(__always)
  init(reading reader: inout HandReader) throws {
    let count = try reader.count()
    self.init(minimumCapacity: count)
    for _ in 0..<count {
      let key = try Key(reading: &reader)
      self[key] = try Value(reading: &reader)
    }
    guard self.count == count else { throw HandReader.Damaged() }
  }
}

extension Range: HandCoded where Bound: HandCoded {
  func write(to writer: inout HandWriter) { writer.write(lowerBound, upperBound) }

  init(reading reader: inout HandReader) throws {
    let (lower, upper): (Bound, Bound) = try (reader.next(), reader.next())
    guard lower <= upper else { throw HandReader.Damaged() }
    self = lower..<upper
  }
}

extension ClosedRange: HandCoded where Bound: HandCoded {
  func write(to writer: inout HandWriter) { writer.write(lowerBound, upperBound) }

  init(reading reader: inout HandReader) throws {
    let (lower, upper): (Bound, Bound) = try (reader.next(), reader.next())
    guard lower <= upper else { throw HandReader.Damaged() }
    self = lower...upper
  }
}
