/// A container that was asked for by itself (`nestedContainer`, `superEncoder`) and may be filled at any time
/// until the value around it is complete.
///
/// Its bytes are its own. Each operation on it swaps them into the encoder's state and out again; when the
/// value around it closes, they are spliced in where the parent left a hole. Then the node is used again for
/// another container, under another serial: whoever still holds the old one is told so.
final class EncodingNode {
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
    while let outer = output.frame.pointee.outer { output.frame = outer }
    output.frame.pointee = EncodingFrame(serial: serial)
    output.node = Unmanaged.passUnretained(self)
  }
}

extension UnsafeMutablePointer where Pointee == EncoderState {
  /// Makes a nested container's bytes the ones that are written to. Nothing where `node` is nil.
  @inline(__always)
  func enter(_ node: Unmanaged<EncodingNode>?, _ serial: UInt64) throws {
    guard let node else { return }
    let outer = pointee.output.frame.pointee.serial
    try enterNode(node, serial)
    if serial < outer { pointee.graph.pointee.noteCrossing(into: serial) }
  }

  @inline(never)
  private func enterNode(_ node: Unmanaged<EncodingNode>, _ serial: UInt64) throws {
    let node = node.takeUnretainedValue()
    guard !node.isActive, node.serial == serial else { throw staleContainer([], serial) }
    node.isActive = true
    swap(&pointee.output, &node.output)
    swap(&pointee.depth, &node.depth)
  }

  @inline(__always)
  func leave(_ node: Unmanaged<EncodingNode>?) {
    if let node { leaveNode(node.takeUnretainedValue()) }
  }

  @inline(never)
  private func leaveNode(_ node: EncodingNode) {
    swap(&pointee.output, &node.output)
    swap(&pointee.depth, &node.depth)
    node.isActive = false
  }

  func encoder(_ node: Unmanaged<EncodingNode>) -> ValueEncoder {
    ValueEncoder(state: self, serial: node.takeUnretainedValue().serial, node: node)
  }

  @inline(__always)
  var hasHoles: Bool { pointee.output.holes.count > pointee.output.frame.pointee.holeBase }

  /// Leaves a hole where the next value of the current frame would begin.
  func makeNode(_ field: EncodingNode.Field? = nil) throws -> Unmanaged<EncodingNode> {
    guard pointee.depth < RecordFormat.maximumDepth else {
      throw fail(GraphCodingError.nestingTooDeep(depth: pointee.depth))
    }
    let node = core.takeNode()
    node.takeUnretainedValue().depth = pointee.depth + 1
    node.takeUnretainedValue().open(nextSerial(), childPath, field)
    if let field { core.fields[field] = node }
    pointee.output.holes.append(pointee.output.count)
    pointee.output.holeNodes.append(node)
    return node
  }

  /// Forgets the holes from `count` on.
  func dropHoles(to count: Int) {
    while pointee.output.holes.count > count {
      _ = pointee.output.holes.removeLast()
      let node = pointee.output.holeNodes.removeLast()
      let waiting = node.takeUnretainedValue()
      waiting.serial = 0
      if let field = waiting.field { core.fields[field] = nil }
      // What it holds itself goes with it.
      try? withNode(node) { dropHoles(to: 0) }
      core.giveBack(node)
    }
  }

  private func withNode(_ node: Unmanaged<EncodingNode>, _ body: () throws -> Void) throws {
    let entered = node.takeUnretainedValue()
    try enterNode(node, entered.serial)
    defer { leaveNode(entered) }
    try body()
  }

  /// Splices the frame's nested containers in, in one pass.
  @inline(never)
  func fillHoles() throws {
    let base = pointee.output.frame.pointee.holeBase
    let start = pointee.output.holes.base[base]
    var spliced: [UInt8] = []
    var at = start
    // How far each hole moves what stands behind it.
    var shifts: [(offset: Int, growth: Int)] = []
    guard hasStack() else { throw fail(GraphCodingError.nestingTooDeep(depth: pointee.depth)) }
    for index in base..<pointee.output.holes.count {
      let offset = pointee.output.holes.base[index]
      let node = pointee.output.holeNodes.base[index]
      try withNode(node) { try closeFrame() }
      spliced.append(contentsOf: UnsafeBufferPointer(start: pointee.output.base + at, count: offset - at))
      let output = node.takeUnretainedValue().output
      spliced.append(contentsOf: UnsafeBufferPointer(start: output.base, count: output.count))
      shifts.append((offset, output.count))
      at = offset
    }
    spliced.append(
      contentsOf: UnsafeBufferPointer(start: pointee.output.base + at, count: pointee.output.count - at))
    pointee.output.count = start
    spliced.withUnsafeBytes { append($0) }
    dropHoles(to: base)
    moveEntries(shifts)
  }

  /// Entries that begin behind a hole moved with what was spliced in. An entry's own hole is behind its
  /// beginning, so it does not move itself.
  private func moveEntries(_ shifts: [(offset: Int, growth: Int)]) {
    var shift = 0
    var next = 0
    for index in pointee.output.frame.pointee.entryBase..<pointee.output.entries.count {
      let offset = pointee.output.entries.base[index]
      while next < shifts.count, shifts[next].offset <= offset {
        shift += shifts[next].growth
        next += 1
      }
      pointee.output.entries.base[index] = offset + shift
    }
  }
}
