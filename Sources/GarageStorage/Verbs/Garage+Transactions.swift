extension Garage {
  /// Runs `body` on one consistent snapshot: all its reads see one state, whatever is written meanwhile.
  ///
  /// ```swift
  /// let total = try garage.read { reader in
  ///   try reader.count(Cat.self) + reader.count(Dog.self)
  /// }
  /// ```
  /// Reads nest. A read inside a closure of ``write(retrying:_:)`` sees the last commit.
  ///
  /// - Parameter attempts: how often `body` is run again if its snapshot turns out to be no state of the store. That happens on
  ///   engines whose writers run beside each other (`StorageError.isRetryable`).
  /// - Throws: the errors of `body`, and ``GarageError/storage(_:)``.
  public func read<R>(retrying attempts: Int = 0, _ body: (GarageReader) throws -> R) throws -> R {
    func attempt() throws -> R {
      try withReadAccess { access in
        let reader = GarageReader(access)
        defer { reader.end() }
        return try passingErrors { try body(reader) }
      }
    }
    if attempts <= 0 { return try attempt() }
    return try translatingErrors { try retrying(attempts, store.gate, isRead: true, attempt) }
  }

  /// Runs `body` as the only writer. All its changes are committed together, or none if it throws.
  ///
  /// ```swift
  /// try garage.write { writer in
  ///   try writer.park(order)
  ///   try writer.delete(cart)
  /// }
  /// ```
  /// Reads through `writer` see its changes; reads through the garage see the last commit. Another write on the same thread,
  /// through any garage on the same store, throws ``GarageError/nestedWrite``. The writes of other threads wait, so do not wait
  /// for them inside `body`.
  ///
  /// - Parameter attempts: how often `body` is run again if a write of another process got in the way, which happens on some
  ///   engines (`StorageError.isRetryable`).
  /// - Throws: the errors of `body`, ``GarageError/nestedWrite``, and ``GarageError/storage(_:)``.
  public func write<R>(retrying attempts: Int = 0, _ body: (GarageWriter) throws -> R) throws -> R {
    try translatingErrors {
      try retrying(attempts, store.gate) {
        try change(isRepeated: attempts > 0) { access in
          let writer = GarageWriter(access)
          defer { writer.end() }
          return try passingErrors { try body(writer) }
        }
      }
    }
  }
}
