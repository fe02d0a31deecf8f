extension Comparison {
  /// The same comparison, for objects.
  ///
  /// Invariant: a condition consists of comparisons of its own type, because ``Condition`` takes no others. A query of this
  /// type consists of conditions on it.
  @inline(__always)
  func ofObjects<Root>(_ type: Root.Type) -> ObjectComparison<Root> {
    unsafeDowncast(self, to: ObjectComparison<Root>.self)
  }
}
