/// A nested container (`nestedContainer`, `superEncoder`) that waits: it was asked for, and then something else was written
/// before it was complete. Its bytes are kept apart until the value around it closes, which puts them in where it left a hole.
/// Then the object is used again for another container, under another serial.
///
/// Most nested containers never come to this: they are filled at once and are the last thing in the value around them,
/// so that they are written where they belong. See ``EncoderPointer/openNested(_:_:)``.
final class NestedEncoding {
  /// Its bytes; while it is active, those that were being written before.
  @exclusivity(unchecked) fileprivate(set) var output = EncodingOutput()
  /// Whether its bytes are those that are being written.
  @exclusivity(unchecked) fileprivate(set) var isActive = false
  /// Whether its bytes are complete.
  @exclusivity(unchecked) fileprivate(set) var isClosed = false
  /// How deep its value stands; the depth around it while it is active.
  @exclusivity(unchecked) fileprivate var depth = 0
  /// The serial of the container it is now; 0 while it waits to be used again.
  @exclusivity(unchecked) fileprivate(set) var serial: UInt64 = 0
  /// Its own first frame.
  let place: UnsafeMutablePointer<EncodingFrame>
  /// The frame that has the hole, and which field or element of it this is.
  @exclusivity(unchecked) fileprivate(set) var around: UnsafeMutablePointer<EncodingFrame>
  @exclusivity(unchecked) fileprivate(set) var step = PathStep.none

  init() {
    place = output.framePlace
    around = output.framePlace
    // Many may wait at once, most of them small.
    output.removeAll(keeping: 64, entries: 4, holes: 4)
    output.nested = Permanent(self)
  }

  func deallocate() {
    output.base.deallocate()
    output.entries.deallocate()
    output.holes.deallocate()
    place.deallocate()
  }
}

/// A nested container in the frame that it was asked for in.
struct EncodingHole {
  /// Where its bytes belong.
  var offset: Int
  var serial: UInt64
  /// Which field or element it is and, if it was asked for by a key, as which kind: the next request for the same finds it, as
  /// in JSON.
  var step: PathStep
  var kind: EncodingFrame.Kind?
  /// What holds its bytes; nil while it is written where it belongs.
  var container: Permanent<NestedEncoding>?
}

extension EncodingOutput {
  /// Takes over what `other` holds from the beginning of its current frame on, and that frame, as its only one.
  fileprivate mutating func takeFrame(of other: inout EncodingOutput) {
    var frame = other.framePlace.pointee
    let (start, byteCount) = (frame.start, other.count - frame.start)
    if capacity < byteCount {
      base.deallocate()
      capacity = max(2 * capacity, byteCount)
      base = .allocate(capacity: capacity)
    }
    base.update(from: other.base + start, count: byteCount)
    count = byteCount
    other.count = start
    for index in frame.entryBase..<other.entries.count { entries.append(other.entries[index] - start) }
    other.entries.truncate(to: frame.entryBase)
    for index in frame.holeBase..<other.holes.count {
      var hole = other.holes[index]
      hole.offset -= start
      hole.container?.object.around = framePlace
      holes.append(hole)
    }
    other.holes.truncate(to: frame.holeBase)
    (frame.start, frame.entryBase, frame.holeBase) = (0, 0, 0)
    (frame.outer, frame.owner) = (nil, nested)
    framePlace.pointee = frame
  }
}

// MARK: - Opening and going on

extension EncoderPointer {
  /// Opens a nested container where the next value of the current frame begins, and returns its serial.
  func openNested(_ step: PathStep, _ kind: EncodingFrame.Kind? = nil) throws -> UInt64 {
    guard depth < RecordFormat.maximumDepth else {
      throw fail(GraphCodingError.nestingTooDeep(depth: depth))
    }
    depth &+= 1
    let serial = nextSerial()
    frame.child = step
    output.holes.append(EncodingHole(offset: output.count, serial: serial, step: step, kind: kind))
    push(
      EncodingFrame(
        serial: serial, isNested: true, start: output.count, entryBase: output.entries.count,
        holeBase: output.holes.count, outer: output.framePlace))
    return serial
  }

  /// Makes the frame with that serial the current one. It belongs to the value that is being encoded, or to a nested container
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
    // The coder may be another thread's by now.
    if serial <= serialBefore { return false }
    leaveNested(around: serial)
    if detachNested(of: serial) { return true }
    guard let nested = core.waiting(serial)?.object, !nested.isActive else { return false }
    if let value = innermostValue, serial < value.serial { graph.noteCrossing(into: serial) }
    enter(nested)
    return true
  }

  /// Goes back from nested containers that were waiting to the bytes written before them, if the frame with that serial is none
  /// of theirs and no value is being written to them.
  private func leaveNested(around serial: UInt64) {
    while let nested = output.nested?.object, !isOpen(serial), let first = innermostNested,
      first == nested.place
    {
      _ = detachNested(of: nested.serial)
      leave(nested)
    }
  }

  /// Whether the frame with that serial is the current one, or around it with nothing but nested containers between.
  private func isOpen(_ serial: UInt64) -> Bool {
    var place = output.framePlace
    while place.pointee.serial != serial {
      guard place.pointee.isNested, let outer = place.pointee.outer else { return false }
      place = outer
    }
    return true
  }

  /// The outermost frame around the current one with nothing but nested containers between; nil where it is a value's.
  private var innermostNested: UnsafeMutablePointer<EncodingFrame>? {
    var place = output.framePlace
    while place.pointee.isNested {
      guard let outer = place.pointee.outer else { return place }
      place = outer
    }
    return nil
  }

  /// The frame of the value that is being encoded, in these bytes.
  private var innermostValue: EncodingFrame? { framesOutwards.first { !$0.isNested } }

  private func enter(_ nested: NestedEncoding) {
    nested.isActive = true
    swap(&output, &nested.output)
    swap(&depth, &nested.depth)
  }

  private func leave(_ nested: NestedEncoding) {
    swap(&output, &nested.output)
    swap(&depth, &nested.depth)
    nested.isActive = false
  }

  /// Lets the nested containers wait that are open inside the frame with that serial. False where it is not open.
  private func detachNested(of serial: UInt64) -> Bool {
    guard isOpen(serial) else { return false }
    while frame.serial != serial { detach() }
    return true
  }

  /// Lets the nested container that is being written wait: leaves a hole in its place.
  private func detach() {
    let kept = core.takeNested()
    let nested = kept.object
    nested.output.takeFrame(of: &output)
    nested.depth = depth
    nested.serial = frame.serial
    popFrame()
    depth &-= 1
    let last = output.holes.count - 1
    nested.around = output.framePlace
    nested.step = output.holes[last].step
    output.holes[last].container = kept
    core.wait(kept)
  }

  /// The nested container that was asked for by `key` in the current frame, as one of that kind.
  func nested<Key: CodingKey>(_ key: Key, _ keys: KeyTablePointer, _ kind: EncodingFrame.Kind) -> UInt64? {
    let base = frame.holeBase
    if output.holes.count == base { return nil }
    if output.holes.count - base > EncodingCore.linearFieldCount {
      return core.field(key.stringValue, kind, self)
    }
    for index in base..<output.holes.count where output.holes[index].kind == kind {
      switch output.holes[index].step {
      case .byte(let others, let other) where others == keys:
        if other == discriminator(of: key) { return output.holes[index].serial }
      case let step:
        if self.key(of: step)?.stringValue == key.stringValue { return output.holes[index].serial }
      }
    }
    return nil
  }
}

// MARK: - Closing

extension EncoderPointer {
  @inline(__always)
  var hasHoles: Bool { output.holes.count > frame.holeBase }

  /// Closes the nested containers that are open behind the value with that serial, which is complete.
  @inline(never)
  func closeNested(_ serial: UInt64) throws {
    leaveNested(around: serial)
    guard isOpen(serial) else { throw staleContainer([], serial) }
    // Those that wait were asked for before these.
    var place = output.framePlace
    while place.pointee.serial != serial, let outer = place.pointee.outer { place = outer }
    try closeWaiting(from: place.pointee.holeBase)
    while frame.serial != serial {
      try closeFrame()
      popFrame()
      depth &-= 1
      _ = output.holes.removeLast()
    }
  }

  /// Leaves the nested containers that are open behind the value with that serial, which failed.
  @inline(never)
  func abandonNested(_ serial: UInt64) {
    leaveNested(around: serial)
    guard isOpen(serial) else { return }
    while frame.serial != serial {
      popFrame()
      depth &-= 1
    }
  }

  /// Goes back to the bytes of the record.
  func leaveAllNested() {
    while let nested = output.nested?.object { leave(nested) }
  }

  private func closeWaiting(from base: Int) throws {
    guard StackLimit.hasRoom else { throw fail(GraphCodingError.nestingTooDeep(depth: depth)) }
    for index in base..<output.holes.count {
      guard let nested = output.holes[index].container?.object, !nested.isClosed else { continue }
      enter(nested)
      defer { leave(nested) }
      try closeFrame()
      nested.isClosed = true
    }
  }

  /// Splices the frame's nested containers in, in one pass from the last one on.
  @inline(never)
  func fillHoles() throws {
    let base = frame.holeBase
    try closeWaiting(from: base)
    let holes = UnsafeMutableBufferPointer(rebasing: output.holes.all[base...])
    var shift = holes.reduce(0) { $0 + ($1.container?.object.output.count ?? 0) }
    reserve(shift)
    var end = output.count
    output.count += shift
    moveEntries(holes)
    for hole in holes.reversed() {
      guard let bytes = hole.container?.object.output.bytes else { continue }
      let place = UnsafeMutableRawPointer(output.base + hole.offset)
      (place + shift).copyMemory(from: place, byteCount: end - hole.offset)
      shift -= bytes.count
      if let source = bytes.baseAddress { (place + shift).copyMemory(from: source, byteCount: bytes.count) }
      end = hole.offset
    }
    dropHoles(to: base)
  }

  /// Entries that begin behind a hole move with what is spliced in. An entry's own hole is behind its beginning, so it
  /// does not move itself.
  private func moveEntries(_ holes: UnsafeMutableBufferPointer<EncodingHole>) {
    var shift = 0
    var next = 0
    for index in frame.entryBase..<output.entries.count {
      let offset = output.entries[index]
      while next < holes.count, holes[next].offset <= offset {
        shift += holes[next].container?.object.output.count ?? 0
        next += 1
      }
      output.entries[index] = offset + shift
    }
  }

  /// Forgets the holes from `count` on.
  func dropHoles(to count: Int) {
    while output.holes.count > count {
      if let waiting = output.holes.removeLast().container { drop(waiting) }
    }
  }

  private func drop(_ waiting: Permanent<NestedEncoding>) {
    let nested = waiting.object
    core.endWaiting(nested.serial)
    nested.serial = 0
    nested.isClosed = false
    // What it holds itself goes with it.
    for hole in nested.output.holes.all { if let inner = hole.container { drop(inner) } }
    // Hundreds of them are kept to be used again, so none may keep memory that only a large value needs. One that was given up
    // because of an error still has entries.
    nested.output.removeAll(keeping: 16 << 10, entries: 256, holes: 32)
    nested.output.restart()
    core.giveBack(waiting)
  }
}
