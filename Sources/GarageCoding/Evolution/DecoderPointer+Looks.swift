// Values of types with a version are read by these types alone, which know what the version means. But code around such a value may
// look at it by a container before it decides as what to decode it, such as an enum whose cases hold values of several types: it
// sees what was encoded. A type that reads the value only so is refused, because the value may be of an older version.

extension DecoderPointer {
  /// Reads a value by the own code of a type without a version. That code may look behind the version of the value, if it then
  /// decodes the value as one of a type with a version.
  @inline(never)
  func readAroundVersion<T: Decodable>(_ type: T.Type) throws -> T {
    let serial = try openFrame()
    defer { leaveFrame(serial) }
    let place = framePlace
    place.pointee.look = .allowed
    let value: T
    do { value = try T(from: ValueDecoder(state: self, serial: serial)) } catch {
      // What it misses may well be there in another version.
      guard place.pointee.look == .taken, failure == nil, isMismatch(error) else { throw error }
      throw unsettledLook(serial)
    }
    if place.pointee.look == .taken { throw unsettledLook(serial) }
    // Who holds the value of this type may have looked, too.
    if place.pointee.look == .settled, let outer = place.pointee.outer {
      settleLook(of: outer, at: place.pointee.start)
    }
    return value
  }

  private func unsettledLook(_ serial: UInt64) -> any Error {
    if frame.serial != serial { returnToValue(serial) }
    return mismatchOfFrame([String: Any].self)
  }

  /// Where the current frame's value begins behind its sync status, although its type has none (any more), and where that is
  /// allowed behind the version of its type.
  func contentOfFrame(isLook: Bool) throws -> Int {
    let (base, end) = (base, frame.end)
    let start = InlinePrefix.skipSyncStatus(base, frame.start, end: end)
    guard isLook || frame.look != .refused, start < end, base.byte(at: start) == BodyTag.versioned else {
      return start
    }
    if frame.look == .allowed { frame.look = .taken }
    return try InlinePrefix.skip(base, start, end: end)
  }

  /// Notes that the value at an offset is read as one of a type with a version.
  @inline(__always)
  func settleLook(at offset: Int) {
    if frame.look != .refused { settleLook(of: framePlace, at: offset) }
  }

  /// Notes that for a frame, if it is the frame's own value.
  @inline(never)
  private func settleLook(of place: UnsafeMutablePointer<DecodingFrame>, at offset: Int) {
    let (base, end) = (base, place.pointee.valueEnd)
    func content(_ start: Int) -> Int { InlinePrefix.skipSyncStatus(base, start, end: end) }
    guard place.pointee.look != .refused, content(offset) == content(place.pointee.start) else { return }
    place.pointee.look = .settled
  }
}

/// Whether a value, or a field, is not what it was taken for.
private func isMismatch(_ error: any Error) -> Bool {
  switch error {
  case DecodingError.typeMismatch, DecodingError.valueNotFound, DecodingError.keyNotFound: true
  default: false
  }
}
