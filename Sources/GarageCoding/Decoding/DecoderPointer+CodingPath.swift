extension DecoderPointer {
  /// The path to the value or nested container being decoded, inside its record; put together when somebody asks.
  var codingPath: [any CodingKey] { path(to: framePlace) }

  /// The path to the value or nested container with that serial. Empty for a serial of a session that is done: the
  /// decoder may be another thread's by now.
  func codingPath(_ serial: UInt64) -> [any CodingKey] {
    if serial <= serialBefore { return [] }
    return path(to: frame.serial == serial ? framePlace : openFrame(serial) ?? framePlace)
  }

  /// The path to the field or element being read.
  var childPath: [any CodingKey] { path(to: framePlace, Step(framePlace)) }

  /// The steps of that path, from the record inwards.
  var childSteps: [Step] {
    var steps = [Step(framePlace)]
    forEachStep(to: framePlace) { steps.append($0) }
    steps.reverse()
    return steps
  }

  /// How many steps ``childPath`` has.
  var childPathCount: Int {
    var count = Step(framePlace).isKey ? 1 : 0
    forEachStep(to: framePlace) { if $0.isKey { count += 1 } }
    return count
  }

  /// - Parameter last: a step behind those to the frame.
  func path(to place: UnsafeMutablePointer<DecodingFrame>, _ last: Step? = nil) -> [any CodingKey] {
    var path: [any CodingKey] = []
    path.reserveCapacity(8)
    if let last, let key = codingKey(of: last) { path.append(key) }
    forEachStep(to: place) { if let key = codingKey(of: $0) { path.append(key) } }
    path.reverse()
    return path
  }

  /// What is read of a frame: a field or an element.
  struct Step {
    var frame: UnsafeMutablePointer<DecodingFrame>
    var current: Int
    var currentKey: Int

    init(_ frame: UnsafeMutablePointer<DecodingFrame>) {
      self.init(frame, frame.pointee.current, frame.pointee.currentKey)
    }

    init(_ frame: UnsafeMutablePointer<DecodingFrame>, _ current: Int, _ currentKey: Int) {
      self.frame = frame
      self.current = current
      self.currentKey = currentKey
    }

    var isKey: Bool { current < -1 || current >= 0 && frame.pointee.kind != .value }
  }

  /// Visits the steps from a frame outwards.
  @inline(__always)
  private func forEachStep(to place: UnsafeMutablePointer<DecodingFrame>, _ visit: (Step) -> Void) {
    var inner = place
    while let outer = inner.pointee.outer {
      visit(inner.pointee.isNested ? Step(outer, inner.pointee.step, inner.pointee.stepKey) : Step(outer))
      inner = outer
    }
  }

  func codingKey(of step: Step) -> (any CodingKey)? {
    let (frame, current) = (step.frame, step.current)
    if current < -1 {
      let index = -2 - current
      return index < core.nestedKeys.count ? core.nestedKeys[index] : nil
    }
    guard current >= 0 else { return nil }
    switch frame.pointee.kind {
    case .value: return nil
    case .array: return PathKey(intValue: current)
    case .map:
      let keys = frame.pointee.keys
      if current < frame.pointee.shapedCount, let shape = frame.pointee.shape?.object {
        let text = shape.keys[current]
        return keys?.pathKey(text) ?? PathKey(stringValue: text)
      }
      var at = step.currentKey
      guard let key = try? BodyScanner.readKey(base, &at, end: frame.pointee.end) else { return nil }
      let text = String(
        decoding: UnsafeRawBufferPointer(start: base + key.lowerBound, count: key.count), as: UTF8.self)
      return keys?.pathKey(text) ?? PathKey(stringValue: text)
    }
  }
}
