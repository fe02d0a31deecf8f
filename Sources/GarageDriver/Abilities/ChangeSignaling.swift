/// A storage that can tell cheaply whether somebody else has committed to its store.
///
/// A garage asks it several times a second while somebody listens for changes, and never otherwise. Storages without it
/// work as well: then what other processes change is found when it is read, and no earlier.
///
/// What it promises, checked by `GarageConformance`:
/// - After a commit that was made outside of ``changeOrigin``, in another process for instance, the next mark that is not
///   nil differs from all before.
/// - A commit made within ``changeOrigin`` leaves the mark as it is, and so does a write that is rolled back, and a read.
/// - A mark may change although nothing was committed. That costs those who listen a look, and tells them nothing wrong.
/// - Asking waits for nobody: where it would have to, the mark is nil.
public protocol ChangeSignaling: StorageDriver {
  /// What changes when somebody else commits; nil where that cannot be told at the moment.
  ///
  /// - Throws: ``StorageError/Kind/closed``, and where the engine fails.
  func foreignChangeMark() throws -> UInt64?

  /// What the storages of this process have in common whose commits are none of somebody else's: for most drivers the
  /// store that they share. Nil where that is no object: then each garage is one by itself.
  var changeOrigin: ObjectIdentifier? { get }

  /// Whether it can tell at all: a storage that wraps another one can where that one can. True by default.
  var signalsChanges: Bool { get }
}

extension ChangeSignaling {
  /// True.
  public var signalsChanges: Bool { true }
}

/// What tells the stores of a process apart for those who listen for changes.
public enum NewsOrigin {
  /// The ``ChangeSignaling/changeOrigin`` of a storage; of one that signals nothing the storage itself. Nil where that is
  /// no object.
  public static func of(_ driver: any StorageDriver) -> ObjectIdentifier? {
    if let driver = driver as? any ChangeSignaling { return driver.changeOrigin }
    return type(of: driver) is AnyClass ? ObjectIdentifier(driver as AnyObject) : nil
  }
}
