/// A container that was asked for by itself (`nestedContainer`, `superEncoder`) and may be filled at any time
/// until the value around it is complete.
///
/// Its bytes are its own. Each operation on it swaps them into the encoder's state and out again; when the
/// value around it closes, they are spliced in where the parent left a hole. Then the object is used again for
/// another container, under another serial: whoever still holds the old one is told so.
final class NestedEncoding {
  fileprivate(set) var output = EncodingOutput()
  /// The path to this container.
  fileprivate(set) var codingPath: [any CodingKey] = []
  fileprivate(set) var isActive = false
  /// How deep its value stands; the depth around it while it is active.
  fileprivate var depth = 0
  /// The serial of the container it is now; 0 while it waits to be used again.
  fileprivate(set) var serial: UInt64 = 0
  /// The field it stands for, where another request for the same is to find it.
  fileprivate var field: Field?

  /// A key's container: what one request made the next one goes on with, as in JSON.
  struct Field: Hashable {
    /// The frame that has the key.
    var frame: UInt64
    var key: String
    var kind: EncodingFrame.Kind
  }

  fileprivate func open(_ serial: UInt64, _ path: [any CodingKey], _ field: Field?) {
    self.serial = serial
    self.field = field
    codingPath = path
    output.count = 0
    // Of one that was given up because of an error.
    output.entries.truncate(to: 0)
    output.restart(serial: serial)
    output.nested = Permanent(self)
  }
}

extension EncoderPointer {
  /// Makes a nested container's bytes the ones that are written to. Nothing where `nested` is nil.
  @inline(__always)
  func enter(_ nested: Permanent<NestedEncoding>?, _ serial: UInt64) throws {
    guard let nested else { return }
    let outer = frame.serial
    try enterNested(nested, serial)
    if serial < outer { graph.noteCrossing(into: serial) }
  }

  @inline(never)
  private func enterNested(_ nested: Permanent<NestedEncoding>, _ serial: UInt64) throws {
    let nested = nested.object
    guard !nested.isActive, nested.serial == serial else { throw staleContainer([], serial) }
    nested.isActive = true
    swap(&output, &nested.output)
    swap(&depth, &nested.depth)
  }

  @inline(__always)
  func leave(_ nested: Permanent<NestedEncoding>?) {
    if let nested { leaveNested(nested.object) }
  }

  @inline(never)
  private func leaveNested(_ nested: NestedEncoding) {
    swap(&output, &nested.output)
    swap(&depth, &nested.depth)
    nested.isActive = false
  }

  func encoder(_ nested: Permanent<NestedEncoding>) -> ValueEncoder {
    ValueEncoder(state: self, serial: nested.object.serial, nested: nested)
  }

  @inline(__always)
  var hasHoles: Bool { output.holes.count > frame.holeBase }

  /// Leaves a hole where the next value of the current frame would begin.
  func makeNested(_ field: NestedEncoding.Field? = nil) throws -> Permanent<NestedEncoding> {
    guard self.depth < RecordFormat.maximumDepth else {
      throw fail(GraphCodingError.nestingTooDeep(depth: self.depth))
    }
    let nested = core.takeNested()
    nested.object.depth = self.depth + 1
    nested.object.open(nextSerial(), childPath, field)
    if let field { core.fields[field] = nested }
    output.holes.append(output.count)
    output.holeContainers.append(nested)
    return nested
  }

  /// Forgets the holes from `count` on.
  func dropHoles(to count: Int) {
    while output.holes.count > count {
      _ = output.holes.removeLast()
      let nested = output.holeContainers.removeLast()
      let waiting = nested.object
      waiting.serial = 0
      if let field = waiting.field { core.fields[field] = nil }
      // What it holds itself goes with it.
      try? withNested(nested) { dropHoles(to: 0) }
      core.giveBack(nested)
    }
  }

  private func withNested(_ nested: Permanent<NestedEncoding>, _ body: () throws -> Void) throws {
    let entered = nested.object
    try enterNested(nested, entered.serial)
    defer { leaveNested(entered) }
    try body()
  }

  /// Splices the frame's nested containers in, in one pass.
  @inline(never)
  func fillHoles() throws {
    let base = frame.holeBase
    let start = self.output.holes.base[base]
    var spliced: [UInt8] = []
    var at = start
    // How far each hole moves what stands behind it.
    var shifts: [(offset: Int, growth: Int)] = []
    guard StackLimit.hasRoom else { throw fail(GraphCodingError.nestingTooDeep(depth: self.depth)) }
    for index in base..<self.output.holes.count {
      let offset = self.output.holes.base[index]
      let nested = self.output.holeContainers.base[index]
      try withNested(nested) { try closeFrame() }
      spliced.append(contentsOf: UnsafeBufferPointer(start: self.output.base + at, count: offset - at))
      let output = nested.object.output
      spliced.append(contentsOf: UnsafeBufferPointer(start: output.base, count: output.count))
      shifts.append((offset, output.count))
      at = offset
    }
    spliced.append(
      contentsOf: UnsafeBufferPointer(start: self.output.base + at, count: self.output.count - at))
    self.output.count = start
    spliced.withUnsafeBytes { append($0) }
    dropHoles(to: base)
    moveEntries(shifts)
  }

  /// Entries that begin behind a hole moved with what was spliced in. An entry's own hole is behind its
  /// beginning, so it does not move itself.
  private func moveEntries(_ shifts: [(offset: Int, growth: Int)]) {
    var shift = 0
    var next = 0
    for index in frame.entryBase..<output.entries.count {
      let offset = output.entries.base[index]
      while next < shifts.count, shifts[next].offset <= offset {
        shift += shifts[next].growth
        next += 1
      }
      output.entries.base[index] = offset + shift
    }
  }
}
