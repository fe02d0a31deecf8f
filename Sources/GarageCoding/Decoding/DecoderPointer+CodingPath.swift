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
  var childPath: [any CodingKey] {
    codingPath + (key(in: frame, frame.current, frame.currentKey).map { [$0] } ?? [])
  }

  /// How long that is.
  var childPathCount: Int {
    steps(to: framePlace).count { $0.isKey } + (Step(frame: frame).isKey ? 1 : 0)
  }

  private func path(to place: UnsafeMutablePointer<DecodingFrame>) -> [any CodingKey] {
    steps(to: place).compactMap { key(in: $0.frame, $0.current, $0.currentKey) }.reversed()
  }

  /// What is read of a frame: a field or an element.
  private struct Step {
    var frame: DecodingFrame
    var current: Int
    var currentKey: Int

    init(frame: DecodingFrame) { self.init(frame, frame.current, frame.currentKey) }

    init(_ frame: DecodingFrame, _ current: Int, _ currentKey: Int) {
      self.frame = frame
      self.current = current
      self.currentKey = currentKey
    }

    var isKey: Bool { current < -1 || current >= 0 && frame.kind != .value }
  }

  /// The steps from a frame outwards.
  private func steps(to place: UnsafeMutablePointer<DecodingFrame>) -> some Sequence<Step> {
    sequence(state: place.pointee) { inner -> Step? in
      guard let outer = inner.outer?.pointee else { return nil }
      defer { inner = outer }
      return inner.isNested ? Step(outer, inner.step, inner.stepKey) : Step(frame: outer)
    }
  }

  private func key(in frame: DecodingFrame, _ current: Int, _ currentKey: Int) -> (any CodingKey)? {
    if current < -1 {
      let index = -2 - current
      return index < core.nestedKeys.count ? core.nestedKeys[index] : nil
    }
    guard current >= 0 else { return nil }
    switch frame.kind {
    case .value: return nil
    case .array: return PathKey(intValue: current)
    case .map:
      let text: String
      if current < frame.shapedCount, let shape = frame.shape?.object {
        text = shape.keys[current]
      } else {
        var at = currentKey
        guard let key = try? BodyScanner.readKey(base, &at, end: frame.end) else { return nil }
        text = String(
          decoding: UnsafeRawBufferPointer(start: base + key.lowerBound, count: key.count), as: UTF8.self)
      }
      let known = frame.keys?.table.keys ?? []
      return known.first { $0?.stringValue == text } ?? PathKey(stringValue: text)
    }
  }
}
