extension SortKey {
  /// The same sort key, for objects.
  ///
  /// Invariant: a query has only sort keys of its own type, because `Query.sorted` takes no others.
  @inline(__always)
  func ofObjects<Root>(_ type: Root.Type) -> ObjectSortKey<Root> {
    unsafeDowncast(self, to: ObjectSortKey<Root>.self)
  }
}
