// Values without parts: a tag and a few bytes, or a length and bytes.

extension EncoderPointer {
  @inline(__always)
  func write(_ value: Bool) { append(value ? BodyTag.true : BodyTag.false) }

  @inline(__always)
  func writeNull() { append(BodyTag.null) }

  @inline(__always)
  func write(integer value: Int64) {
    if value >= 0 && value < 64 {
      append(BodyTag.smallInteger | UInt8(truncatingIfNeeded: value))
    } else if let narrow = Int8(exactly: value) {
      append(BodyTag.int8, narrow)
    } else if let narrow = Int16(exactly: value) {
      append(BodyTag.int16, narrow.littleEndian)
    } else if let narrow = Int32(exactly: value) {
      append(BodyTag.int32, narrow.littleEndian)
    } else {
      append(BodyTag.int64, value.littleEndian)
    }
  }

  @inline(__always)
  func write(integer value: UInt64) {
    if let signed = Int64(exactly: value) {
      write(integer: signed)
    } else {
      append(BodyTag.uint64, value.littleEndian)
    }
  }

  func write(integer value: Int128) {
    if let narrow = Int64(exactly: value) {
      write(integer: narrow)
    } else if let narrow = UInt64(exactly: value) {
      write(integer: narrow)
    } else {
      append(BodyTag.int128)
      append128(UInt128(truncatingIfNeeded: value))
    }
  }

  func write(integer value: UInt128) {
    if let signed = Int128(exactly: value) {
      write(integer: signed)
    } else {
      append(BodyTag.uint128)
      append128(value)
    }
  }

  private func append128(_ value: UInt128) {
    for index in 0..<16 { append(UInt8(truncatingIfNeeded: value >> UInt128(index * 8))) }
  }

  /// In canonical bodies -0.0 is 0.0, all NaN are one, and a float is written as the double it equals.
  func write(_ value: Float) {
    if isCanonical { return write(Double(value)) }
    append(BodyTag.float, value.bitPattern.littleEndian)
  }

  @inline(__always)
  func write(_ value: Double) {
    append(BodyTag.double, (isCanonical ? canonical(value) : value).bitPattern.littleEndian)
  }

  @inline(__always)
  func write(date seconds: Double) {
    append(BodyTag.date, (isCanonical ? canonical(seconds) : seconds).bitPattern.littleEndian)
  }

  @inline(__always)
  func canonical(_ value: Double) -> Double { value.isNaN ? .nan : value + 0.0 }

  @inline(__always)
  func write(_ value: String) throws {
    let (bytes, count) = shortStrings.bytes(of: value)
    if count >= 0 {
      reserve(1 &+ ShortStrings.room)
      append(BodyTag.shortString | UInt8(truncatingIfNeeded: count), bytes, count)
      return
    }
    try write(longer: value)
  }

  @inline(never)
  private func write(longer value: String) throws {
    if isCanonical { return try writeNormalized(value) }
    let failure: (any Error)?? = value.utf8.withContiguousStorageIfAvailable { utf8 in
      do {
        try write(utf8: UnsafeRawBufferPointer(utf8))
        return nil
      } catch {
        return error
      }
    }
    if let failure {
      if let failure { throw failure }
    } else {
      var native = value
      try native.withUTF8 { try write(utf8: UnsafeRawBufferPointer($0)) }
    }
  }

  /// Equal strings, composed or decomposed, have equal canonical bytes.
  @inline(never)
  private func writeNormalized(_ value: String) throws {
    var normalized = value
    if !normalized.withUTF8({ isSurelyComposed(UnsafeRawBufferPointer($0)) }) {
      normalized = composed(value)
      hasComposed = true
    }
    try normalized.withUTF8 { try write(utf8: UnsafeRawBufferPointer($0)) }
  }

  @inline(__always)
  func write(utf8: UnsafeRawBufferPointer) throws {
    let count = utf8.count
    if count < 64 {
      reserve(1 &+ count)
      append(BodyTag.shortString | UInt8(truncatingIfNeeded: count), short: utf8)
    } else {
      try writeLength(count, small: BodyTag.string8, large: BodyTag.string32)
      append(utf8)
    }
  }

  func write(data: UnsafeRawBufferPointer) throws {
    try writeLength(data.count, small: BodyTag.data8, large: BodyTag.data32)
    append(data)
  }

  /// A tag and a length of one byte where it fits, else of four.
  func writeLength(_ count: Int, small: UInt8, large: UInt8) throws {
    if count < 256 {
      append(small, UInt8(truncatingIfNeeded: count))
    } else {
      guard let length = UInt32(exactly: count) else { throw tooLarge(count) }
      append(large, length.littleEndian)
    }
  }

  func tooLarge(_ count: Int) -> any Error {
    fail(
      EncodingError.invalidValue(
        count,
        EncodingError.Context(
          codingPath: codingPath,
          debugDescription: """
            A value of \(count) bytes was to be encoded; one record holds less than 4 GiB. \
            Split it, or keep it in a file.
            """)))
  }
}
