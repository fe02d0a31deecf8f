internal import GarageCoding
internal import GarageDriver

extension Garage {
  /// Runs `body` on one consistent snapshot: whatever is written meanwhile, all its reads see one state.
  ///
  /// ```swift
  /// let total = try garage.read { reader in
  ///   try reader.count(Cat.self) + reader.count(Dog.self)
  /// }
  /// ```
  /// Reads nest. A read inside a closure of ``write(retrying:_:)`` sees the last commit.
  ///
  /// - Throws: what `body` throws, and ``GarageError/storage(_:)``.
  public func read<R>(_ body: (GarageReader) throws -> R) throws -> R {
    try withReadAccess { access in
      let reader = GarageReader(access)
      defer { reader.end() }
      return try passingErrors { try body(reader) }
    }
  }

  /// Runs `body` as the only writer; all its changes are made together, or none where it throws.
  ///
  /// ```swift
  /// try garage.write { writer in
  ///   try writer.park(order)
  ///   try writer.delete(cart)
  /// }
  /// ```
  /// Reads through `writer` see its changes; reads through the garage see the last commit. Another write on the
  /// same thread, through whatever garage on the same store, throws ``GarageError/nestedWrite``. Other threads'
  /// writes wait, so do not wait for them inside `body`.
  ///
  /// - Parameter attempts: how often `body` is run again where another process's write got in the way, as some
  ///   engines have it (`StorageError.isRetryable`).
  /// - Throws: what `body` throws, ``GarageError/nestedWrite``, and ``GarageError/storage(_:)``.
  public func write<R>(retrying attempts: Int = 0, _ body: (GarageWriter) throws -> R) throws -> R {
    try translatingErrors {
      try retrying(attempts) {
        try change { access in
          let writer = GarageWriter(access)
          defer { writer.end() }
          return try passingErrors { try body(writer) }
        }
      }
    }
  }
}

/// Reads one consistent snapshot, inside a closure of ``Garage/read(_:)``. It has the verbs of ``Garage`` that read.
///
/// It lives on one thread. After its closure it throws ``GarageError/transactionEnded``.
public final class GarageReader: GarageReading {
  /// The garage that the transaction is of.
  public let garage: Garage
  private var access: ReadAccess?

  fileprivate init(_ access: ReadAccess) {
    garage = access.garage
    self.access = access
  }

  fileprivate func end() { access = nil }

  /// For the verbs.
  public func withReadAccess<R>(_ body: (ReadAccess) throws -> R) throws -> R {
    guard let access else { throw GarageError.transactionEnded }
    return try translatingErrors { try body(access) }
  }
}

/// Reads and changes the store, inside a closure of ``Garage/write(retrying:_:)``. It has all verbs of ``Garage``.
///
/// It lives on one thread. After its closure it throws ``GarageError/transactionEnded``.
public final class GarageWriter: GarageWriting {
  /// The garage that the transaction is of.
  public let garage: Garage
  private var access: WriteAccess?

  fileprivate init(_ access: WriteAccess) {
    garage = access.garage
    self.access = access
  }

  fileprivate func end() { access = nil }

  /// For the verbs.
  public func withReadAccess<R>(_ body: (ReadAccess) throws -> R) throws -> R {
    guard let access else { throw GarageError.transactionEnded }
    return try translatingErrors { try body(access.reading) }
  }

  /// For the verbs.
  public func withWriteAccess<R>(_ body: (WriteAccess) throws -> R) throws -> R {
    guard let access else { throw GarageError.transactionEnded }
    if access.pending.pointee.decodingDepth > 0 { throw GarageError.changeWhileDecoding }
    return try translatingErrors { try body(access) }
  }
}
