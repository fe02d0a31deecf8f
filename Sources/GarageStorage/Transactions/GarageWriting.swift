/// The verbs that change: ``Garage`` and ``GarageWriter`` have them all, and those that read.
public protocol GarageWriting: GarageReading {
  /// Runs `body`, which changes the store: wholly, or not at all where it throws. For the verbs, which are
  /// extensions of this protocol.
  func withWriteAccess<R>(_ body: (WriteAccess) throws -> R) throws -> R
}
