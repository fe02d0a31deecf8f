/// A storage of which there can be another value on the same store, that is closed apart from it.
///
/// A garage on a storage that does not outlive its value may not close that storage, and still has to wait for its own
/// calls. Where it gets a value of its own it counts them once, as the storage's transactions, not twice.
package protocol SeparableStorage: StorageDriver {
  /// Another value on the same store, closed along with this one at the latest; nil where there is none.
  func separated() -> (any StorageDriver)?
}
