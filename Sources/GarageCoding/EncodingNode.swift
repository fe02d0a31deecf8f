/// A container that was asked for by itself (`nestedContainer`, `superEncoder`) and may be filled at any time
/// until the value around it is complete.
///
/// Its bytes are its own. Each operation on it swaps them into the encoder's state and out again; when the
/// value around it closes, they are spliced in where the parent left a hole.
final class EncodingNode {
  fileprivate(set) var output: EncodingOutput
  /// The path to this container.
  let codingPath: [any CodingKey]
  private(set) var isActive = false
  fileprivate(set) var isClosed = false
  let serial: UInt64

  init(serial: UInt64, codingPath: [any CodingKey]) {
    output = EncodingOutput()
    output.frame.serial = serial
    self.serial = serial
    self.codingPath = codingPath
  }

  deinit { output.deallocate() }

  /// Makes this node's bytes the ones that the encoder writes to.
  func enter(_ state: EncoderPointer) throws {
    guard !isActive, !isClosed else { throw state.staleContainer([]) }
    isActive = true
    swap(&state.pointee.output, &output)
  }

  func leave(_ state: EncoderPointer) {
    swap(&state.pointee.output, &output)
    isActive = false
  }
}

/// Nested containers that wait to be spliced in.
final class HoleList {
  var holes: [(offset: Int, node: EncodingNode)] = []

  func truncate(to count: Int) {
    guard holes.count > count else { return }
    for hole in holes[count...] { hole.node.isClosed = true }
    holes.removeSubrange(count...)
  }
}

extension UnsafeMutablePointer where Pointee == EncoderState {
  @inline(__always)
  var hasHoles: Bool {
    pointee.output.holes._withUnsafeGuaranteedRef { $0.holes.count } > pointee.output.frame.holeBase
  }

  /// Leaves a hole where the next value of the current frame would begin.
  func makeNode() throws -> EncodingNode {
    guard pointee.depth < RecordFormat.maximumDepth else {
      throw fail(GraphCodingError.nestingTooDeep(depth: pointee.depth))
    }
    let node = EncodingNode(serial: nextSerial(), codingPath: codingPath)
    node.output.frame.start = 0
    pointee.output.holes.takeUnretainedValue().holes.append((pointee.output.count, node))
    return node
  }

  /// Splices the frame's nested containers in, in one pass.
  @inline(never)
  func fillHoles() throws {
    let list = pointee.output.holes.takeUnretainedValue()
    let holes = Array(list.holes[pointee.output.frame.holeBase...])
    var spliced: [UInt8] = []
    let start = holes[0].offset
    var at = start
    // How far each hole moves what stands behind it.
    var shifts: [(offset: Int, growth: Int)] = []
    pointee.depth += 1
    defer { pointee.depth -= 1 }
    guard pointee.depth < RecordFormat.maximumDepth, hasStack() else {
      throw fail(GraphCodingError.nestingTooDeep(depth: pointee.depth))
    }
    for hole in holes {
      try hole.node.enter(self)
      do { try closeFrame() } catch {
        hole.node.leave(self)
        throw error
      }
      hole.node.leave(self)
      hole.node.isClosed = true
      spliced.append(contentsOf: UnsafeBufferPointer(start: pointee.output.base + at, count: hole.offset - at))
      let bytes = UnsafeBufferPointer(start: hole.node.output.base, count: hole.node.output.count)
      spliced.append(contentsOf: bytes)
      shifts.append((hole.offset, bytes.count))
      at = hole.offset
    }
    spliced.append(
      contentsOf: UnsafeBufferPointer(start: pointee.output.base + at, count: pointee.output.count - at))
    pointee.output.count = start
    spliced.withUnsafeBytes { append($0) }
    list.holes.removeSubrange(pointee.output.frame.holeBase...)
    moveEntries(shifts)
  }

  /// Entries that begin behind a hole moved with what was spliced in. An entry's own hole is behind its
  /// beginning, so it does not move itself.
  private func moveEntries(_ shifts: [(offset: Int, growth: Int)]) {
    var shift = 0
    var next = 0
    for index in pointee.output.frame.entryBase..<pointee.output.entries.count {
      let offset = pointee.output.entries.base[index]
      while next < shifts.count, shifts[next].offset <= offset {
        shift += shifts[next].growth
        next += 1
      }
      pointee.output.entries.base[index] = offset + shift
    }
  }
}
