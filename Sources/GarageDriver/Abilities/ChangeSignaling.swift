/// A storage that can tell cheaply whether another process, or another storage, has committed to its store.
///
/// A garage asks it several times a second while somebody listens for changes, and never otherwise. Storages without it work as
/// well, but a change that another process makes is then noticed only when it is read.
///
/// It promises the following, and `GarageConformance` checks it:
/// - After a commit that was made outside of ``changeOrigin``, for instance in another process, the next mark that is not nil
///   differs from all earlier ones.
/// - It differs no earlier than reads see the commit: listeners read once for each mark, and would miss what came after.
/// - A commit made within ``changeOrigin`` leaves the mark as it is. So do a write that is rolled back, and a read.
/// - A mark may change although nothing was committed. Listeners then look once in vain, and are told of no change.
/// - Asking for the mark never waits. If it would have to wait, the mark is nil.
public protocol ChangeSignaling: StorageDriver {
  /// A number that changes when somebody else commits; nil if that cannot be told at the moment.
  ///
  /// - Throws: ``StorageError/Kind/closed``, and the failures of the engine.
  func foreignChangeMark() throws -> UInt64?

  /// Identifies the storages of this process whose commits do not count as somebody else's. For most drivers it is the store
  /// that these storages share. Nil if that is no object: then each garage counts by itself.
  var changeOrigin: ObjectIdentifier? { get }

  /// Whether it can tell at all. A storage that wraps another one can if the other one can. True by default.
  var signalsChanges: Bool { get }
}

extension ChangeSignaling {
  /// True.
  public var signalsChanges: Bool { true }
}

/// Tells the stores of a process apart for those who listen for changes.
public enum NewsOrigin {
  /// The ``ChangeSignaling/changeOrigin`` of a storage. For a storage that does not signal changes it is the storage itself, or
  /// nil if that is no object.
  public static func of(_ driver: any StorageDriver) -> ObjectIdentifier? {
    if let driver = driver as? any ChangeSignaling { return driver.changeOrigin }
    return type(of: driver) is AnyClass ? ObjectIdentifier(driver as AnyObject) : nil
  }
}
