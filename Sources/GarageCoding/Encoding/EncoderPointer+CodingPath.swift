extension EncoderPointer {
  /// The path to the value being encoded, put together when somebody asks.
  var codingPath: [any CodingKey] {
    let base = output.nested.map { $0.object.codingPath } ?? []
    return base + framesOutwards.dropFirst().reversed().compactMap { key(of: $0.child) }
  }

  /// The path to a nested container, or to the value being encoded. Empty for one with a serial of a graph that is
  /// done: the coder may be another thread's by now.
  func codingPath(_ nested: Permanent<NestedEncoding>?, _ serial: UInt64) -> [any CodingKey] {
    if serial <= serialBefore { return [] }
    return nested?.object.codingPath ?? codingPath
  }

  /// The path to the field or element being written.
  var childPath: [any CodingKey] {
    codingPath + (key(of: frame.child).map { [$0] } ?? [])
  }

  private func key(of step: PathStep) -> (any CodingKey)? {
    switch step {
    case .none: nil
    case .byte(let keys, let discriminator):
      keys.table.keys[Int(discriminator)]
    case .index(let index): PathKey(intValue: index)
    case .key(let index):
      index < graph.pathKeys.count ? graph.pathKeys[index] : nil
    }
  }
}
