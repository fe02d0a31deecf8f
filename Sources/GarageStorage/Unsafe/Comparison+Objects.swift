extension Comparison {
  /// The same, to be asked of objects.
  ///
  /// Invariant: a condition is made of comparisons of its own type, as ``Condition`` takes no others, and a query for this
  /// type of conditions on it.
  @inline(__always)
  func ofObjects<Root>(_ type: Root.Type) -> ObjectComparison<Root> {
    unsafeDowncast(self, to: ObjectComparison<Root>.self)
  }
}
