extension Array {
  /// Moves the elements so that each place gets the element from the place that `order` names for it. Nothing is copied,
  /// because a copy of an object counts references for each property.
  ///
  /// - Parameter order: every place once; nil if all elements are in their places. Anything else is an error of the library,
  ///   and ends the program.
  @inlinable
  mutating func arrange(_ order: [Int]?) {
    guard var order else { return }
    precondition(order.count == count, "there is a place for each element")
    // Invariant: from the move out of a cycle's first place to the end of the cycle, memory holds all elements but one, which
    // is in `first`. Nothing throws in between. Each place is taken once: `order` then says that the place has its element.
    withUnsafeMutableBufferPointer { elements in
      guard let base = elements.baseAddress else { return }
      for start in order.indices where order[start] != start {
        let first = (base + start).move()
        var place = start
        while true {
          let next = order[place]
          precondition(order.indices.contains(next) && next != place, "each place is named once")
          order[place] = place
          if next == start { break }
          (base + place).moveInitialize(from: base + next, count: 1)
          place = next
        }
        (base + place).initialize(to: first)
      }
    }
  }
}
