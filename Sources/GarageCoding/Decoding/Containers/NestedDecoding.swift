/// A container that was asked for by itself (`nestedContainer`, `superDecoder`): a value's bounds and its own
/// place in them. Each operation on it swaps that into the decoder's state and out again. When its record is
/// done the object is used again, under another serial.
final class NestedDecoding {
  fileprivate(set) var input = DecodingInput()
  fileprivate(set) var codingPath: [any CodingKey] = []
  fileprivate(set) var isActive = false
  /// How deep its value stands; the depth around it while it is active.
  fileprivate var depth = 0
  /// The serial of the container it is now; 0 while it waits to be used again.
  fileprivate(set) var serial: UInt64 = 0
  private var recordSerial: UInt64 = 0

  func close() { serial = 0 }

  fileprivate func open(_ state: DecoderPointer, _ value: Range<Int>, _ path: [any CodingKey]) {
    serial = state.nextSerial()
    depth = state.depth + 1
    codingPath = path
    recordSerial = state.record.serial
    input.offsets.truncate(to: 0)
    input.restart(
      DecodingFrame(
        serial: serial, start: value.lowerBound, end: value.upperBound, valueEnd: value.upperBound))
    input.nested = Permanent(self)
  }

  fileprivate func isCurrent(_ state: DecoderPointer, _ serial: UInt64) -> Bool {
    self.serial == serial && recordSerial == state.record.serial
  }
}

extension DecoderPointer {
  /// Makes a nested container's value the one that is read. Nothing where `nested` is nil.
  @inline(__always)
  func enter(_ nested: Permanent<NestedDecoding>?, _ serial: UInt64) throws {
    if let nested { try enterNested(nested.object, serial) }
  }

  @inline(never)
  private func enterNested(_ nested: NestedDecoding, _ serial: UInt64) throws {
    guard !nested.isActive, nested.isCurrent(self, serial) else { throw staleContainer([], serial) }
    nested.isActive = true
    swap(&input, &nested.input)
    swap(&depth, &nested.depth)
  }

  @inline(__always)
  func leave(_ nested: Permanent<NestedDecoding>?) {
    if let nested { leaveNested(nested.object) }
  }

  @inline(never)
  private func leaveNested(_ nested: NestedDecoding) {
    swap(&input, &nested.input)
    swap(&depth, &nested.depth)
    nested.isActive = false
  }

  func decoder(_ nested: Permanent<NestedDecoding>) -> ValueDecoder {
    ValueDecoder(state: self, serial: nested.object.serial, nested: nested)
  }

  /// The frame of a nested container, wherever it is at the moment, or the current one.
  func frame(of nested: Permanent<NestedDecoding>?) -> DecodingFrame {
    guard let nested = nested?.object, !nested.isActive else { return frame }
    return nested.input.frame
  }

  /// A nested for the value at the cursor, which is left behind it.
  func makeNested() throws -> Permanent<NestedDecoding> {
    guard self.depth < RecordFormat.maximumDepth else {
      throw fail(GraphCodingError.nestingTooDeep(depth: self.depth))
    }
    let end = try BodyScanner.skipValue(base, cursor, end: frame.end)
    let nested = core.takeNested()
    nested.object.open(self, cursor..<end, childPath)
    cursor = end
    return nested
  }

  /// A nested for a value elsewhere that stands for the one of `key`, which is not there.
  func makeNested(_ value: Range<Int>, _ key: any CodingKey) -> Permanent<NestedDecoding> {
    let nested = core.takeNested()
    nested.object.open(self, value, codingPath + [key])
    return nested
  }

  /// A nested for a value that is not there: it reads null.
  func makeNestedNull(_ key: any CodingKey) -> Permanent<NestedDecoding> {
    // Offsets count from the record's first byte, wherever they lead.
    let start = nullByte - base
    let nested = core.takeNested()
    nested.object.open(self, start..<(start + 1), codingPath + [key])
    return nested
  }
}

/// A null in memory of its own.
nonisolated(unsafe) private let nullByte: UnsafeRawPointer = {
  let byte = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)
  byte.storeBytes(of: BodyTag.null, as: UInt8.self)
  return UnsafeRawPointer(byte)
}()
