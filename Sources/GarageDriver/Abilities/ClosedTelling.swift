/// A storage that tells at once, and without asking its engine, whether it was closed.
///
/// Whoever has a storage may close it under a garage. If somebody listens to that garage, it looks for this several times a
/// second, because no change that could wake the listener will ever come.
package protocol ClosedTelling: StorageDriver {
  /// Whether it was closed; nil if that cannot be told.
  var isClosed: Bool? { get }
}
