/// A storage whose engine can check its own files.
///
/// It finds damage that a driver cannot find through the entries alone: pages that belong to nothing or to two trees, entries
/// out of order, a list of free pages that holds pages in use.
public protocol IntegrityChecking: StorageDriver {
  /// Has the engine read and check everything, and returns its complaints in its own words. The result is empty if all is well.
  ///
  /// The check sees one committed state, may take as long as reading the whole store, and changes nothing. If the engine does
  /// not trust its pages, the check is called on a thread of its own while others read.
  ///
  /// - Throws: ``StorageError`` if the engine could not check.
  func integrityComplaints() throws -> [String]

  /// Whether the engine trusts the pages that it reads, so that reading on after a complaint may end the process.
  var trustsItsPages: Bool { get }
}

extension IntegrityChecking {
  /// False: damage is an error.
  public var trustsItsPages: Bool { false }
}
