/// Reads what a ``HandWriter`` wrote, and trusts none of it: every length is compared with what is left, text is
/// validated, tags and depth are bounded.
struct HandReader {
  struct Damaged: Error {}

  private var at: UnsafeRawPointer
  private let end: UnsafeRawPointer
  private var depth = 0

  /// The object that these bytes are, all of them.
  @inline(__always)
  static func object<T: HandCoded>(_ type: T.Type, of bytes: UnsafeRawBufferPointer) throws -> T {
    guard let start = bytes.baseAddress else { throw Damaged() }
    var reader = HandReader(at: start, end: start + bytes.count)
    let object = try T(reading: &reader)
    guard reader.at == reader.end else { throw Damaged() }
    return object
  }

  private init(at: UnsafeRawPointer, end: UnsafeRawPointer) {
    self.at = at
    self.end = end
  }

  @inline(__always)
  mutating func next<T: HandCoded>() throws -> T { try T(reading: &self) }

  /// For structs of many fields.
  @inline(__always)
  mutating func nextFive<T: HandCoded>() throws -> (T, T, T, T, T) {
    try (next(), next(), next(), next(), next())
  }

  @inline(__always)
  private mutating func take(_ byteCount: Int) throws -> UnsafeRawPointer {
    guard byteCount <= end - at else { throw Damaged() }
    defer { at += byteCount }
    return at
  }

  @inline(__always)
  mutating func bits<T: BitwiseCopyable>() throws -> T {
    try take(MemoryLayout<T>.size).loadUnaligned(as: T.self)
  }

  /// The bytes of so many values of that size.
  @inline(__always)
  mutating func bytes(_ count: Int, of size: Int) throws -> UnsafeRawBufferPointer {
    // Counts have 32 bits and sizes are small: the product fits.
    UnsafeRawBufferPointer(start: try take(count * size), count: count * size)
  }

  /// One byte below 255; else that, and four more. What is counted has at least a byte each.
  @inline(__always)
  mutating func count() throws -> Int {
    let first: UInt8 = try bits()
    let count = first < 255 ? Int(first) : Int(try bits() as UInt32)
    guard count <= end - at else { throw Damaged() }
    return count
  }

  /// Which case of so many.
  @inline(__always)
  mutating func tag(below limit: UInt8) throws -> UInt8 {
    let tag: UInt8 = try bits()
    guard tag < limit else { throw Damaged() }
    return tag
  }

  @inline(__always)
  mutating func text() throws -> String {
    let utf8 = try bytes(count(), of: 1).assumingMemoryBound(to: UInt8.self)
    // The fastest of the validating ways, also for what is ASCII.
    if #available(macOS 26, *) {
      guard let valid = try? UTF8Span(validating: utf8.span) else { throw Damaged() }
      return String(copying: valid)
    } else {
      guard let text = String(validating: utf8, as: UTF8.self) else { throw Damaged() }
      return text
    }
  }

  /// For types that hold values of their own type: bytes must not tell how deep the stack becomes.
  @inline(__always)
  mutating func nested<T>(_ body: (inout HandReader) throws -> T) throws -> T {
    depth += 1
    guard depth <= 512 else { throw Damaged() }
    defer { depth -= 1 }
    return try body(&self)
  }
}
