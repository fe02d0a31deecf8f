internal import GarageDriver

/// Whether a garage's store has an index of references, by which referrers of an object are found without reading all records.
///
/// ```swift
/// let garage = try Garage(SQLiteStorage(at: url), referrers: .indexed)
/// ```
public struct ReferrerOption: Sendable, Hashable {
  private enum Kind { case asStored, indexed, readable, hashed }
  private let kind: Kind

  /// As the store has it: an index that is there is maintained and used, and none is made.
  public static let asStored = ReferrerOption(kind: .asStored)
  /// There is an index; it is made where the store has none. A sealed storage asks for ``hashed`` or ``readable``.
  public static let indexed = ReferrerOption(kind: .indexed)
  /// The same, with a keyed hash in place of the object that is referred to. In a sealed storage, whoever has the file sees
  /// which objects refer to the same one, but not to which.
  public static let hashed = ReferrerOption(kind: .hashed)
  /// The same in a sealed storage, where whoever has the file may read which object refers to which.
  public static let readable = ReferrerOption(kind: .readable)

  /// - Throws: ``GarageError/invalidIndex(type:index:reason:)`` where a sealed storage would show what it should not.
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
