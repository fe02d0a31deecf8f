/// Bodies that are one value of the plainest types, read and written without a coder: the quick way of typed keys.
///
/// The coders define the format; this does a part of their work in a shorter way, and tests compare the two. For other values
/// writing returns 0 and reading nil, and the coder has to be used.
enum PlainBody {
  /// The most that is written here: a string whose length takes one byte.
  static let maximumByteCount = 2 + 255

  // MARK: - Writing: each returns how many bytes it wrote

  static func write(_ value: Bool, to body: UnsafeMutableRawPointer) -> Int {
    body.storeBytes(of: value ? BodyTag.true : BodyTag.false, as: UInt8.self)
    return 1
  }

  static func write(_ number: Double, to body: UnsafeMutableRawPointer) -> Int {
    store(BodyTag.double, number.bitPattern, to: body)
  }

  static func write(_ number: Int, to body: UnsafeMutableRawPointer) -> Int {
    if 0..<64 ~= number {
      body.storeBytes(of: BodyTag.smallInteger + UInt8(truncatingIfNeeded: number), as: UInt8.self)
      return 1
    }
    if let number = Int8(exactly: number) { return store(BodyTag.int8, number, to: body) }
    if let number = Int16(exactly: number) { return store(BodyTag.int16, number, to: body) }
    if let number = Int32(exactly: number) { return store(BodyTag.int32, number, to: body) }
    return store(BodyTag.int64, Int64(number), to: body)
  }

  @inline(__always)
  private static func store<N: FixedWidthInteger & BitwiseCopyable>(
    _ tag: UInt8, _ number: N, to body: UnsafeMutableRawPointer
  ) -> Int {
    body.storeBytes(of: tag, as: UInt8.self)
    (body + 1).storeBytes(of: number.littleEndian, as: N.self)
    return 1 + MemoryLayout<N>.size
  }

  static func write(_ string: String, to body: UnsafeMutableRawPointer) -> Int {
    string.utf8.withContiguousStorageIfAvailable { utf8 in
      guard utf8.count < 256 else { return 0 }
      let text: UnsafeMutableRawPointer
      if utf8.count < 64 {
        body.storeBytes(of: BodyTag.shortString + UInt8(utf8.count), as: UInt8.self)
        text = body + 1
      } else {
        body.storeBytes(of: BodyTag.string8, as: UInt8.self)
        body.storeBytes(of: UInt8(utf8.count), toByteOffset: 1, as: UInt8.self)
        text = body + 2
      }
      if let source = utf8.baseAddress { text.copyMemory(from: source, byteCount: utf8.count) }
      return text - body + utf8.count
    } ?? 0
  }

  // MARK: - Reading: a body has one byte at least

  static func bool(_ body: UnsafeRawPointer, _ count: Int) -> Bool? {
    let tag = body.load(as: UInt8.self)
    return count == 1 && (tag == BodyTag.true || tag == BodyTag.false) ? tag == BodyTag.true : nil
  }

  static func double(_ body: UnsafeRawPointer, _ count: Int) -> Double? {
    guard count == 9, body.load(as: UInt8.self) == BodyTag.double else { return nil }
    let bits = body.loadUnaligned(fromByteOffset: 1, as: UInt64.self)
    return Double(bitPattern: UInt64(littleEndian: bits))
  }

  static func integer(_ body: UnsafeRawPointer, _ count: Int) -> Int? {
    func load<N: FixedWidthInteger & BitwiseCopyable>(_: N.Type) -> Int? {
      count == 1 + MemoryLayout<N>.size
        ? Int(exactly: N(littleEndian: body.loadUnaligned(fromByteOffset: 1, as: N.self))) : nil
    }
    let tag = body.load(as: UInt8.self)
    switch tag {
    case BodyTag.smallInteger..<BodyTag.shortString: return count == 1 ? Int(tag & 0x3F) : nil
    case BodyTag.int8: return load(Int8.self)
    case BodyTag.int16: return load(Int16.self)
    case BodyTag.int32: return load(Int32.self)
    case BodyTag.int64: return load(Int64.self)
    default: return nil
    }
  }

  /// Text other than ASCII is left to the coder, which checks that it is text.
  static func string(_ body: UnsafeRawPointer, _ count: Int) -> String? {
    let tag = body.load(as: UInt8.self)
    let start: Int
    if tag & 0xC0 == BodyTag.shortString, count == 1 + Int(tag & 0x3F) {
      start = 1
    } else if tag == BodyTag.string8, count > 1,
      count == 2 + Int(body.load(fromByteOffset: 1, as: UInt8.self))
    {
      start = 2
    } else {
      return nil
    }
    let text = UnsafeRawBufferPointer(start: body + start, count: count - start)
    return isASCII(text) ? String(decoding: text, as: UTF8.self) : nil
  }
}
