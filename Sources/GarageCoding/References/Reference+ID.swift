extension Reference where Target: Identifiable {
  /// The `id` of the target: the one that the reference was made with, equal to it, or that of the object it was made of.
  ///
  /// Made again from the reference's content, also where the reference was decoded. Nil where that gives no `id`: the type of
  /// the `id` accepts neither its raw value nor its text, or cannot be decoded; or the reference names an object of a type that
  /// had no `id` when it was parked, or no object at all (``identity`` then throws why).
  public var id: Target.ID? { (try? identity)?.identifier.value(as: Target.ID.self) }
}

extension Identifier {
  /// The `id` that has this identifier; nil where none of that type has it.
  package func value<ID>(as type: ID.Type) -> ID? {
    guard let plan = try? IdentifierPlan.of(type) else { return nil }
    return withUnsafeTemporaryAllocation(of: ID.self, capacity: 1) { room in
      guard let place = room.baseAddress, plan.read(self, to: UnsafeMutableRawPointer(place)) else {
        return nil
      }
      return place.move()
    }
  }
}
