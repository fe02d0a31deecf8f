public import GarageDriver

extension StorageError.Kind {
  /// The store, or a value in it, is sealed with a key that was not given; or the given key is wrong.
  public static let wrongKey = StorageError.Kind(rawValue: "wrongKey")
  /// A value does not open: it was damaged, changed, or moved from another key.
  public static let tampered = StorageError.Kind(rawValue: "tampered")
  /// A store, or a value in it, is not sealed.
  public static let notSealed = StorageError.Kind(rawValue: "notSealed")
  /// A sealer failed to seal a value.
  public static let sealingFailed = StorageError.Kind(rawValue: "sealingFailed")
}
