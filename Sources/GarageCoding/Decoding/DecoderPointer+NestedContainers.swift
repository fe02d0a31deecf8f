// Containers that are asked for by themselves (`nestedContainer`, `superDecoder`): frames like those of values, which
// stay open until the value that they were made for is left. So a value and its nested containers may be read in turn:
// to go from one to another is to make its frame the current one.

extension DecoderPointer {
  /// Opens a nested container for the value at the cursor and returns its serial. The container around it counts the value as
  /// read.
  func openNested() throws -> UInt64 {
    guard depth < RecordFormat.maximumDepth else {
      throw fail(GraphCodingError.nestingTooDeep(depth: depth))
    }
    let start = cursor
    let end = try BodyScanner.skipValue(base, start, end: frame.end)
    let (step, stepKey) = (frame.current, frame.currentKey)
    cursor = end
    advance()
    return openNested(start..<end, step: step, stepKey)
  }

  /// Opens a nested container for a value elsewhere, which stands for that of a key that is not there.
  func openNested(_ value: Range<Int>, _ key: any CodingKey) -> UInt64 {
    core.nestedKeys.append(key)
    return openNested(value, step: -1 - core.nestedKeys.count)
  }

  /// Opens a nested container for a value that is not there: it reads null.
  func openNestedNull(_ key: any CodingKey) -> UInt64 {
    // Offsets count from the record's first byte, wherever they lead.
    let start = nullByte - base
    return openNested(start..<(start + 1), key)
  }

  @inline(__always)
  private func openNested(_ value: Range<Int>, step: Int, _ stepKey: Int = 0) -> UInt64 {
    let serial = nextSerial()
    depth &+= 1
    let offsetCount = input.offsets.count
    let valuePosition = innermostValue?.pointee.position ?? 0
    push(
      DecodingFrame(
        serial: serial, isNested: true, position: Int32(truncatingIfNeeded: openFrameCount),
        depth: Int32(truncatingIfNeeded: depth), start: value.lowerBound, end: value.upperBound,
        valueEnd: value.upperBound, indexBase: offsetCount, offsetBase: offsetCount, step: step,
        stepKey: stepKey, valuePosition: valuePosition,
        outer: framePlace))
    return serial
  }

  /// Closes the nested container that was opened last: it cannot be read as what was asked for.
  func closeNested() {
    popFrame()
    depth &-= 1
  }

  /// Makes the frame with that serial the current one. It belongs to the value that is being decoded, or to a nested container
  /// of that value or of one around it.
  ///
  /// - Throws: where there is none, or it waits for a value inside it.
  @inline(__always)
  func resume(_ serial: UInt64, _ key: @autoclosure () -> (any CodingKey)? = nil) throws {
    if frame.serial != serial, !goTo(serial) {
      throw staleContainer(key().map { [$0] } ?? [], serial)
    }
  }

  @inline(never)
  private func goTo(_ serial: UInt64) -> Bool {
    guard let place = openFrame(serial), let value = innermostValue else { return false }
    if place != value {
      guard place.pointee.isNested else { return false }
      // One that waits for the value that is being decoded.
      var outer = value.pointee.outer
      while let frame = outer {
        if frame == place { return false }
        outer = frame.pointee.outer
      }
    }
    suspend(value)
    framePlace = place
    depth = Int(place.pointee.depth)
    return true
  }

  /// Makes the frame of the value that is being decoded, with that serial, the current one again.
  @inline(never)
  func returnToValue(_ serial: UInt64) {
    guard let place = openFrame(serial) else { return }
    suspend(place)
    framePlace = place
    depth = Int(place.pointee.depth)
  }

  /// Forgets the offsets of the current frame if it is older than the value that is being decoded, because leaving that value
  /// would drop them.
  private func suspend(_ value: UnsafeMutablePointer<DecodingFrame>) {
    if frame.position < value.pointee.position { frame.indexCount = 0 }
  }

  /// The value that is being decoded: nested containers that were asked for in it are behind it.
  private var innermostValue: UnsafeMutablePointer<DecodingFrame>? {
    if openFrameCount == record.frameBase { return nil }
    let last = openFrame(at: openFrameCount - 1)
    return last.pointee.isNested ? openFrame(at: Int(last.pointee.valuePosition)) : last
  }

  /// The open frame of the current record with that serial. They have come in the order of their serials.
  func openFrame(_ serial: UInt64) -> UnsafeMutablePointer<DecodingFrame>? {
    // The decoder may be another thread's by now.
    if serial <= serialBefore { return nil }
    var low = record.frameBase
    var high = openFrameCount
    while low < high {
      let middle = (low + high) / 2
      let place = openFrame(at: middle)
      if place.pointee.serial == serial { return place }
      if place.pointee.serial < serial { low = middle + 1 } else { high = middle }
    }
    return nil
  }
}

/// A null in memory of its own.
nonisolated(unsafe) private let nullByte: UnsafeRawPointer = {
  let byte = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)
  byte.storeBytes(of: BodyTag.null, as: UInt8.self)
  return UnsafeRawPointer(byte)
}()
