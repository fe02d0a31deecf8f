import Foundation

/// A coder for `Person` alone, without `Codable`: what the format's bytes cost at least.
enum HandWritten {
  static func encode(_ person: Person) -> [UInt8] {
    var person = person
    return [UInt8](unsafeUninitializedCapacity: capacity(for: person)) { buffer, count in
      var writer = Writer(base: UnsafeMutableRawPointer(buffer.baseAddress!))
      writer.write(&person.id)
      writer.write(&person.name)
      writer.write(person.age)
      writer.write(person.birthdate)
      writer.write(&person.address.street)
      writer.write(&person.address.city)
      writer.write(&person.address.country)
      writer.write(count: person.dates.count)
      for date in person.dates { writer.write(date) }
      writer.write(count: person.tags.count)
      for var tag in person.tags { writer.write(&tag) }
      writer.write(&person.partner)
      writer.write(count: person.friends.count)
      for var friend in person.friends { writer.write(&friend) }
      count = writer.count
    }
  }

  private static func capacity(for person: Person) -> Int {
    func size(_ text: String) -> Int { text.utf8.count + 4 }
    var capacity = size(person.id) + size(person.name) + size(person.partner) + 8 + 8 + 12
    capacity += size(person.address.street) + size(person.address.city) + size(person.address.country)
    capacity += person.dates.count * 8
    for tag in person.tags { capacity += size(tag) }
    for friend in person.friends { capacity += size(friend) }
    return capacity
  }

  static func decode(_ bytes: [UInt8]) throws -> Person {
    try bytes.withUnsafeBytes { bytes in
      var reader = Reader(bytes: bytes)
      return Person(
        id: try reader.string(), name: try reader.string(), age: try reader.integer(),
        birthdate: try reader.date(),
        address: Address(
          street: try reader.string(), city: try reader.string(), country: try reader.string()),
        dates: try reader.array { try $0.date() }, tags: try reader.array { try $0.string() },
        partner: try reader.string(), friends: try reader.array { try $0.string() })
    }
  }

  private struct Writer {
    let base: UnsafeMutableRawPointer
    var count = 0

    mutating func write(_ text: inout String) {
      text.withUTF8 { text in
        write(count: text.count)
        if let source = text.baseAddress { (base + count).copyMemory(from: source, byteCount: text.count) }
        count += text.count
      }
    }

    mutating func write(_ number: Int) {
      base.storeBytes(of: number, toByteOffset: count, as: Int.self)
      count += 8
    }

    mutating func write(_ date: Date) {
      base.storeBytes(of: date.timeIntervalSinceReferenceDate, toByteOffset: count, as: Double.self)
      count += 8
    }

    /// One byte below 255; else that, and three more.
    mutating func write(count number: Int) {
      if number < 255 {
        base.storeBytes(of: UInt8(number), toByteOffset: count, as: UInt8.self)
        count += 1
      } else {
        precondition(number < 1 << 24)
        base.storeBytes(of: UInt32(number) << 8 | 255, toByteOffset: count, as: UInt32.self)
        count += 4
      }
    }
  }

  struct Damaged: Error {}

  private struct Reader {
    let bytes: UnsafeRawBufferPointer
    var at = 0

    mutating func take(_ count: Int) throws -> Int {
      guard count <= bytes.count - at else { throw Damaged() }
      defer { at += count }
      return at
    }

    mutating func count() throws -> Int {
      let first = bytes[try take(1)]
      if first < 255 { return Int(first) }
      let rest = try take(3)
      return Int(bytes[rest]) | Int(bytes[rest + 1]) << 8 | Int(bytes[rest + 2]) << 16
    }

    mutating func string() throws -> String {
      let count = try count()
      let start = try take(count)
      let utf8 = UnsafeRawBufferPointer(rebasing: bytes[start..<start + count])
      // What is ASCII needs no validating, which is generic and slow.
      if isASCII(utf8) { return String(decoding: utf8, as: UTF8.self) }
      guard let text = String(validating: utf8, as: UTF8.self) else { throw Damaged() }
      return text
    }

    private func isASCII(_ utf8: UnsafeRawBufferPointer) -> Bool {
      var all: UInt64 = 0
      var at = 0
      while at + 8 <= utf8.count {
        all |= utf8.loadUnaligned(fromByteOffset: at, as: UInt64.self)
        at += 8
      }
      while at < utf8.count {
        all |= UInt64(utf8[at])
        at += 1
      }
      return all & 0x8080_8080_8080_8080 == 0
    }

    mutating func integer() throws -> Int { bytes.loadUnaligned(fromByteOffset: try take(8), as: Int.self) }

    mutating func date() throws -> Date {
      Date(timeIntervalSinceReferenceDate: bytes.loadUnaligned(fromByteOffset: try take(8), as: Double.self))
    }

    mutating func array<T>(_ element: (inout Reader) throws -> T) throws -> [T] {
      let count = try count()
      guard count <= bytes.count - at else { throw Damaged() }
      var elements: [T] = []
      elements.reserveCapacity(count)
      for _ in 0..<count { elements.append(try element(&self)) }
      return elements
    }
  }
}
