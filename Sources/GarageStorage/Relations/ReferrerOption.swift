internal import GarageDriver

/// Whether a garage's store has an index of references, by which the objects that refer to another are found without reading
/// all records.
///
/// ```swift
/// let garage = try Garage(SQLiteStorage(at: url), referrers: .indexed)
/// ```
public struct ReferrerOption: Sendable, Hashable {
  private enum Kind { case asStored, indexed, readable, hashed }
  private let kind: Kind

  /// As the store has it: an existing index is maintained and used, and none is made.
  public static let asStored = ReferrerOption(kind: .asStored)
  /// The store has an index, which is made if it is missing. A sealed storage requires ``hashed`` or ``readable`` instead.
  public static let indexed = ReferrerOption(kind: .indexed)
  /// The store has an index that holds a keyed hash of the object that is referred to. In a sealed storage, anybody who has the
  /// file can tell which objects refer to the same object, but not which object that is.
  public static let hashed = ReferrerOption(kind: .hashed)
  /// The store has an index. In a sealed storage, anybody who has the file can read which object refers to which.
  public static let readable = ReferrerOption(kind: .readable)

  /// - Throws: ``GarageError/invalidIndex(type:index:reason:)`` if a sealed storage would reveal what it should not.
  func check(_ driver: any StorageDriver) throws {
    guard self == .indexed, driver.info.isSealed else { return }
    throw GarageError.invalidIndex(
      type: "all types", index: "referrers",
      reason: """
        the storage is sealed, and which object refers to which could be read in the index's keys. Open the garage with \
        referrers: .hashed, or .readable where it may be read.
        """)
  }
}
