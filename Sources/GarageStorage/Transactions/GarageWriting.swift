/// The verbs that make changes. ``Garage`` and ``GarageWriter`` have them all, and also those that read.
public protocol GarageWriting: GarageReading {
  /// Runs `body`, which changes the store: completely, or not at all if it throws. It is meant for the verbs, which are
  /// extensions of this protocol.
  func withWriteAccess<R>(_ body: (WriteAccess) throws -> R) throws -> R
}
