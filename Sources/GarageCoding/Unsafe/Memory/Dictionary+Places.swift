extension Dictionary {
  /// A dictionary whose keys and values are made in their final places, and hashed once all of them are there. In code that
  /// does not know their types, that is three times as fast as adding one after another, because each addition looks up the
  /// types of the dictionary's parts. Of equal keys only one stays.
  ///
  /// The standard library has the initializer below for its own bridges (`Dictionary.init(_unsafeUninitializedCapacity:
  /// allowingDuplicates:initializingWith:)`, Swift 5.1). What it does is part of the binary interface.
  ///
  /// - Parameters:
  ///   - count: how many entries there is room for.
  ///   - fill: makes entries, beginning at the first place, and counts the complete ones, also if it throws.
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
