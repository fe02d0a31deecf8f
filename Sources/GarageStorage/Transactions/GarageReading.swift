/// The verbs that read: ``Garage``, ``GarageReader`` and ``GarageWriter`` have them all.
///
/// Code that takes `some GarageReading` works in a garage as well as inside a transaction. The library's own
/// types conform; no others should.
public protocol GarageReading: AnyObject {
  /// The garage that is read.
  var garage: Garage { get }

  /// Runs `body` on one state of the store. For the verbs, which are extensions of this protocol.
  func withReadAccess<R>(_ body: (ReadAccess) throws -> R) throws -> R

  /// The same for a body that may run again, because it hands nothing out before it ends. Where writes run beside each other,
  /// an engine may ask for another try of a read, too.
  func withRepeatableReadAccess<R>(_ body: (ReadAccess) throws -> R) throws -> R
}

extension GarageReading {
  /// Runs `body` once, because a reader and a writer are inside a transaction that they cannot begin again.
  public func withRepeatableReadAccess<R>(_ body: (ReadAccess) throws -> R) throws -> R {
    try withReadAccess(body)
  }
}
