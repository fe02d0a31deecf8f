/// A storage that can make another value on the same store, which is closed apart from it.
///
/// A garage on a storage that may outlive it must not close that storage, and still has to wait for its own calls. If it gets a
/// storage value of its own, its calls are counted once, as that value's transactions, and not twice.
package protocol SeparableStorage: StorageDriver {
  /// Another value on the same store, which is closed along with this one at the latest; nil if none can be made.
  func separated() -> (any StorageDriver)?
}
