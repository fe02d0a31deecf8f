/// A storage whose engine can give back disk space that it does not use any more.
public protocol Compacting: StorageDriver {
  /// Gives back as much space to the file system as it can, and returns how much the store took before and after.
  ///
  /// The store's entries stay the same. Readers go on; the space that they still need can be given back by a later call.
  ///
  /// - Parameter progress: is told how many pages of how many are done. An error that it throws ends the call. The store is
  ///   then as it was, or has given back a part of the space.
  /// - Throws: ``StorageError``, and the errors of `progress`.
  func compact(progress: (_ completed: Int, _ total: Int) throws -> Void) throws -> CompactionResult

  /// How many bytes of its files hold nothing, and are used before the files grow. Nil if the engine does not tell, which is
  /// the default.
  ///
  /// - Throws: ``StorageError``.
  func freeByteCount() throws -> Int?
}

extension Compacting {
  /// Nil: it is not known.
  public func freeByteCount() throws -> Int? { nil }
}

/// How much space a store took before and after it gave some back.
public struct CompactionResult: Sendable, Hashable {
  /// How many bytes its files took on the disk before.
  public var byteCountBefore: Int
  /// How many they take now.
  public var byteCountAfter: Int

  /// A result with these two sizes.
  public init(byteCountBefore: Int, byteCountAfter: Int) {
    self.byteCountBefore = byteCountBefore
    self.byteCountAfter = byteCountAfter
  }
}
