extension SortKey {
  /// The same, to be asked of objects.
  ///
  /// Invariant: a query has sort keys of its own type alone, as `Query.sorted` takes no others.
  @inline(__always)
  func ofObjects<Root>(_ type: Root.Type) -> ObjectSortKey<Root> {
    unsafeDowncast(self, to: ObjectSortKey<Root>.self)
  }
}
