extension Array {
  /// Moves the elements, so that each place has the one that was at the place named for it. Nothing is copied: a copy of an object
  /// counts references for each property.
  ///
  /// - Parameter order: every place once; nil where all are in their places. Anything else is a fault of the library's, and ends
  ///   the program.
  @inlinable
  mutating func arrange(_ order: [Int]?) {
    guard var order else { return }
    precondition(order.count == count, "there is a place for each element")
    // Invariant: memory has all elements but one, which is in `first`, from the move out of a cycle's first place to the end of
    // the cycle, within which nothing throws. A place is taken once: `order` says of it then that it has its element.
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
