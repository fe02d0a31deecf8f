/// A storage whose engine can give back the room that it does not use any more.
public protocol Compacting: StorageDriver {
  /// Gives back to the file system what room it can, and tells how much the store took before and after.
  ///
  /// What the store holds is the same. Readers go on; what they still need is given back when it is called again.
  ///
  /// - Parameter progress: is told how many pages are done of how many. What it throws ends the call, and leaves the store
  ///   as it was, or with a part of the room given back.
  /// - Throws: ``StorageError``, and what `progress` throws.
  func compact(progress: (_ completed: Int, _ total: Int) throws -> Void) throws -> CompactionResult

  /// How many bytes of its files hold nothing, and are used before the files grow; nil where the engine does not tell, which
  /// is the default.
  ///
  /// - Throws: ``StorageError``.
  func freeByteCount() throws -> Int?
}

extension Compacting {
  /// Nil: it is not known.
  public func freeByteCount() throws -> Int? { nil }
}

/// How much room a store took before and after it gave some back.
public struct CompactionResult: Sendable, Hashable {
  /// How many bytes its files took on the disk before.
  public var byteCountBefore: Int
  /// How many they take now.
  public var byteCountAfter: Int

  /// So many before and so many after.
  public init(byteCountBefore: Int, byteCountAfter: Int) {
    self.byteCountBefore = byteCountBefore
    self.byteCountAfter = byteCountAfter
  }
}
