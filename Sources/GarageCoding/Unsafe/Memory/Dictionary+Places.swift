extension Dictionary {
  /// A dictionary whose keys and values are made where they stay, and hashed once all of them are there. In code that does
  /// not know their types it is three times as fast as to add one after the other, where each asks for the types of the
  /// dictionary's own parts. Of equal keys only one stays.
  ///
  /// The standard library has this initializer for its own bridges (`Dictionary.init(_unsafeUninitializedCapacity:
  /// allowingDuplicates:initializingWith:)`, Swift 5.1): what it does is part of the binary interface.
  ///
  /// - Parameters:
  ///   - count: how many entries there is room for.
  ///   - fill: makes entries from the first place on, and counts those that are complete, also where it throws.
  init(
    placesOf count: Int,
    _ fill: (UnsafeMutablePointer<Key>, UnsafeMutablePointer<Value>, inout Int) throws -> Void
  ) throws {
    // The storage of an empty dictionary is shared, and has no places.
    guard count > 0 else {
      self = [:]
      return
    }
    var failure: (any Error)?
    self.init(_unsafeUninitializedCapacity: count, allowingDuplicates: true) { keys, values in
      var filled = 0
      do {
        try fill(keys.baseAddress.unsafelyUnwrapped, values.baseAddress.unsafelyUnwrapped, &filled)
      } catch {
        failure = error
      }
      return filled
    }
    if let failure { throw failure }
  }
}
