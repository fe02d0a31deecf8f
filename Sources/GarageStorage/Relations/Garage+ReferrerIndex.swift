internal import GarageCoding
internal import GarageDriver

// The index of references, as a part of the store.

extension Garage {
  /// The index of references that the store has; nil where it has none.
  ///
  /// Counts its entries, which takes time in proportion to their number: one for each object that a record refers to.
  ///
  /// - Throws: ``GarageError/closed``, ``GarageError/storage(_:)``.
  public func referrerIndex() throws -> IndexInfo? {
    try withRepeatableReadAccess { access in
      let transaction = access.committed
      let items = try indexing.catalog(in: transaction)?.items.filter { $0.definition.isOfReferences } ?? []
      let item = items.first { $0.state == .ready } ?? items.first
      return try item.map { try indexInfo($0, in: transaction) }
    }
  }

  /// Removes the index of references from the store. Finding referrers then reads all records.
  ///
  /// A garage that is opened later with `referrers:` makes it again; this one does when ``buildIndexes(_:)`` is called.
  ///
  /// - Throws: ``GarageError/invalidIndex(type:index:reason:)`` where there is none; ``GarageError/nestedWrite``,
  ///   ``GarageError/storage(_:)``.
  public func dropReferrerIndex() throws {
    try drop(
      name: "referrers", typeName: "all types",
      absence: "the store has none. Open the garage with referrers: .indexed to have one."
    ) { $0.definition.isOfReferences }
  }

  /// Makes the index of references complete where the garage was opened with one, so that it can be used. Where that cannot
  /// be done now, for instance inside of a write, all records are read instead.
  ///
  /// - Throws: ``GarageError/closed``.
  func prepareReferrerIndex() throws {
    guard indexing.declaresReferences, !indexing.isSettled(ReferrerOption.self) else { return }
    try checkOpen()
    try prepareDeclared(ReferrerOption.self)
  }
}
