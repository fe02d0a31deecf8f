extension DecoderPointer {
  /// The path to the value being decoded, inside its record; put together when somebody asks.
  var codingPath: [any CodingKey] {
    let base = input.nested.map { $0.object.codingPath } ?? []
    return base + framesOutwards.dropFirst().reversed().compactMap { currentKey(of: $0) }
  }

  /// The path to a nested container, or to the value being decoded. Empty for one with a serial of a session that is
  /// done: the decoder may be another thread's by now.
  func codingPath(_ nested: Permanent<NestedDecoding>?, _ serial: UInt64) -> [any CodingKey] {
    if serial <= serialBefore { return [] }
    return nested?.object.codingPath ?? codingPath
  }

  /// The path to the field or element being read.
  var childPath: [any CodingKey] {
    codingPath + (currentKey(of: frame).map { [$0] } ?? [])
  }

  func currentKey(of frame: DecodingFrame) -> (any CodingKey)? {
    guard frame.current >= 0 else { return nil }
    switch frame.kind {
    case .value: return nil
    case .array: return PathKey(intValue: frame.current)
    case .map:
      let text: String
      if frame.current < frame.shapedCount, let shape = frame.shape?.object {
        text = shape.keys[frame.current]
      } else {
        var at = frame.currentKey
        guard let key = try? BodyScanner.readKey(base, &at, end: frame.end) else { return nil }
        text = String(
          decoding: UnsafeRawBufferPointer(start: base + key.lowerBound, count: key.count), as: UTF8.self)
      }
      return GarageCoding.codingKey(text, of: frame.keys)
    }
  }
}
