/// Reads one value without a container around it.
struct SingleValueReader: SingleValueDecodingContainer {
  let state: DecoderPointer
  let serial: UInt64

  var codingPath: [any CodingKey] { state.codingPath(serial) }

  @inline(__always)
  private func read<R>(_ body: () throws -> R) throws -> R {
    try state.resume(serial)
    state.cursor = state.frame.start
    if state.frame.kind != .value { return try state.readingWhole(body) }
    return try body()
  }

  /// Also true for a reference whose target is gone: so an optional becomes nil. For a `Reference` it is false, because that
  /// does not need its target.
  func decodeNil() -> Bool { (try? read { try state.isNullOrGone() }) ?? false }

  func decode(_ type: Bool.Type) throws -> Bool { try read { try state.readBool() } }
  func decode(_ type: String.Type) throws -> String { try read { try state.readString() } }
  func decode(_ type: Double.Type) throws -> Double { try read { try state.readDouble() } }
  func decode(_ type: Float.Type) throws -> Float { try read { try state.readFloat() } }
  func decode(_ type: Int.Type) throws -> Int { try read { try state.readInteger(type) } }
  func decode(_ type: Int8.Type) throws -> Int8 { try read { try state.readInteger(type) } }
  func decode(_ type: Int16.Type) throws -> Int16 { try read { try state.readInteger(type) } }
  func decode(_ type: Int32.Type) throws -> Int32 { try read { try state.readInteger(type) } }
  func decode(_ type: Int64.Type) throws -> Int64 { try read { try state.readInteger(type) } }
  func decode(_ type: Int128.Type) throws -> Int128 { try read { try state.readInteger(type) } }
  func decode(_ type: UInt.Type) throws -> UInt { try read { try state.readInteger(type) } }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try read { try state.readInteger(type) } }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try read { try state.readInteger(type) } }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try read { try state.readInteger(type) } }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try read { try state.readInteger(type) } }
  func decode(_ type: UInt128.Type) throws -> UInt128 { try read { try state.readInteger(type) } }
  func decode<T: Decodable>(_ type: T.Type) throws -> T {
    try state.resume(serial)
    state.cursor = state.frame.start
    if state.frame.kind != .value { return try state.readingWhole { try state.readAny(type) } }
    return try state.readAny(type)
  }
}

extension DecoderPointer {
  /// Reads the whole value of the current frame after its fields or elements have begun to be read. These may stand, and end,
  /// somewhere else, and the one that was read last is no step on the way to what is read now.
  @inline(never)
  func readingWhole<R>(_ body: () throws -> R) throws -> R {
    let place = framePlace
    let (end, current) = (place.pointee.end, place.pointee.current)
    (place.pointee.end, place.pointee.current) = (place.pointee.valueEnd, -1)
    defer { (place.pointee.end, place.pointee.current) = (end, current) }
    return try body()
  }
}
