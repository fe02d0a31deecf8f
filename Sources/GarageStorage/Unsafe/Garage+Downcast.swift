extension Garage {
  /// The garage itself; nil if this is a transaction of it. Code that knows the type knows the answer without asking the
  /// runtime.
  @inlinable
  @inline(__always)
  static func itself<G: GarageReading>(_ reading: G) -> Garage? {
    // The types are the same, so nothing is reinterpreted.
    G.self == Garage.self ? unsafeDowncast(reading, to: Garage.self) : nil
  }
}
