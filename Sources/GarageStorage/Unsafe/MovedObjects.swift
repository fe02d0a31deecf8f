/// Objects on their way from the thread that decoded them to the one that asked for them: moved, never copied, since
/// a copy counts references for each property.
///
/// Invariant: the places `taken..<count` hold objects. ``append(_:)`` and ``moveAll(to:)`` keep it, and `deinit` lets go
/// of what they left.
final class MovedObjects<T> {
  private let places: UnsafeMutablePointer<T>
  private let capacity: Int
  private var taken = 0
  private var count = 0

  init(capacity: Int) {
    places = .allocate(capacity: capacity)
    self.capacity = capacity
  }

  deinit {
    (places + taken).deinitialize(count: count - taken)
    places.deallocate()
  }

  func append(_ object: consuming T) {
    precondition(count < capacity, "there is room for as many objects as there are records")
    (places + count).initialize(to: object)
    count += 1
  }

  /// Hands all of them to `visit`, in their order.
  func moveAll(to visit: (consuming T) throws -> Void) rethrows {
    while taken < count {
      taken += 1
      try visit((places + taken - 1).move())
    }
  }
}
