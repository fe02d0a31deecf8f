extension Garage {
  /// The garage itself, where this is one and no transaction of it: known where the type is known, without asking the
  /// runtime.
  @inlinable
  @inline(__always)
  static func itself<G: GarageReading>(_ reading: G) -> Garage? {
    // The types are the same, so nothing is reinterpreted.
    G.self == Garage.self ? unsafeDowncast(reading, to: Garage.self) : nil
  }
}
