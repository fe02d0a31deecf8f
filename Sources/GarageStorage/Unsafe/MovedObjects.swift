/// Objects on their way from the thread that decoded them to the one that asked for them. They are moved and never copied,
/// because a copy counts references for each property.
///
/// Invariant: the places `taken..<count` hold objects. ``append(_:)`` and ``moveAll(to:)`` keep it so, and `deinit` releases
/// the objects that are left.
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

  /// Passes all of them to `visit`, in their order.
  func moveAll(to visit: (consuming T) throws -> Void) rethrows {
    while taken < count {
      taken += 1
      try visit((places + taken - 1).move())
    }
  }
}
