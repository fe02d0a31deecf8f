/// A storage whose engine can check its own files.
///
/// What a driver cannot tell through its entries alone: pages that belong to nothing or to two, entries out of order, a free
/// list that holds what is in use.
public protocol IntegrityChecking: StorageDriver {
  /// Has the engine read and check everything, and returns what it complains about, in its own words; nothing where all is
  /// well.
  ///
  /// It sees one committed state, may take as long as reading the whole store, and changes nothing. Where the engine does not
  /// trust its pages, it is called on a thread of its own while others read.
  ///
  /// - Throws: ``StorageError`` where it could not check.
  func integrityComplaints() throws -> [String]

  /// Whether the engine trusts what it reads, so that going on where it complains may end the process.
  var trustsItsPages: Bool { get }
}

extension IntegrityChecking {
  /// It does not: what is damaged is an error.
  public var trustsItsPages: Bool { false }
}
