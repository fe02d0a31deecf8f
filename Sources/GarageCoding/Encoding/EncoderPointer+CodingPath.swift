extension EncoderPointer {
  /// The path to the value or nested container being encoded, put together when it is asked for.
  var codingPath: [any CodingKey] { path(to: output.framePlace) }

  /// The path to the value or nested container with that serial. Empty if the serial belongs to a graph that is done, because
  /// another thread may already use the coder.
  func codingPath(_ serial: UInt64) -> [any CodingKey] {
    if serial <= serialBefore { return [] }
    return path(to: openFrame(serial) ?? output.framePlace)
  }

  private func path(to place: UnsafeMutablePointer<EncodingFrame>) -> [any CodingKey] {
    var steps: [PathStep] = []
    var place = place
    while true {
      if let outer = place.pointee.outer {
        steps.append(outer.pointee.child)
        place = outer
      } else if let owner = place.pointee.owner?.object {
        steps.append(owner.step)
        place = owner.around
      } else {
        return steps.reversed().compactMap { key(of: $0) }
      }
    }
  }

  /// The open frame with that serial: of a value or of a nested container, also of one that is not being filled at present.
  func openFrame(_ serial: UInt64) -> UnsafeMutablePointer<EncodingFrame>? {
    if frame.serial == serial { return output.framePlace }
    if serial <= serialBefore { return nil }
    // They stand in the order of their serials.
    var low = 0
    var high = openFrameCount
    while low < high {
      let middle = (low + high) / 2
      let place = openFrame(at: middle)
      if place.pointee.serial == serial { return place }
      if place.pointee.serial < serial { low = middle + 1 } else { high = middle }
    }
    return core.waiting(serial)?.object.place
  }

  func key(of step: PathStep) -> (any CodingKey)? {
    switch step {
    case .none: nil
    case .byte(let keys, let discriminator):
      keys.table.keys[Int(discriminator)]
    case .index(let index): PathKey(intValue: index)
    case .text(let text): PathKey(stringValue: text[as: String.self])
    case .number(let number): DictionaryKey(number[as: Int.self])
    case .key(let index):
      index < graph.pathKeys.count ? graph.pathKeys[index] : nil
    }
  }
}
