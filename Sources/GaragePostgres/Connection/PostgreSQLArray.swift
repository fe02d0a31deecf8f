#if PostgreSQL
  /// An array of byte strings in PostgreSQL's binary form: `bytea[]`.
  struct PostgreSQLArray {
    private(set) var bytes: [UInt8] = []
    private(set) var count = 0

    private static let headByteCount = 20
    /// The number of the type `bytea` in every server's catalog.
    private static let bytea: UInt32 = 17

    /// An array without elements, with room for so many bytes.
    init(reservingBytes byteCount: Int = 0) {
      bytes.reserveCapacity(byteCount + Self.headByteCount)
      // Dimensions, whether there are nulls, the type, the number of elements, the first one's number.
      for number in [1, 0, Self.bytea, 0, 1] { append(number) }
    }

    /// Adds an element.
    mutating func append(_ element: UnsafeRawBufferPointer) {
      append(UInt32(element.count))
      bytes.append(contentsOf: element)
      count += 1
    }

    mutating func append(_ element: [UInt8]) { element.withUnsafeBytes { append($0) } }

    /// Lends the array's bytes. It must not be empty, because PostgreSQL writes an empty array in another form.
    mutating func withParameter<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
      withUnsafeBytes(of: UInt32(count).bigEndian) { bytes.replaceSubrange(12..<16, with: $0) }
      return try bytes.withUnsafeBytes(body)
    }

    private mutating func append(_ number: UInt32) {
      withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }
  }
#endif
