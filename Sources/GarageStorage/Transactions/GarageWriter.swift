/// Reads and changes the store, inside a closure of ``Garage/write(retrying:_:)``. It has all verbs of ``Garage``.
///
/// It lives on one thread. After its closure it throws ``GarageError/transactionEnded``.
public final class GarageWriter: GarageWriting {
  /// The garage whose transaction it is.
  public let garage: Garage
  private var access: WriteAccess?

  init(_ access: WriteAccess) {
    garage = access.garage
    self.access = access
  }

  func end() { access = nil }

  /// For the verbs.
  public func withReadAccess<R>(_ body: (ReadAccess) throws -> R) throws -> R {
    guard let access else { throw GarageError.transactionEnded }
    return try translatingErrors { try body(access.reading) }
  }

  /// For the verbs.
  public func withWriteAccess<R>(_ body: (WriteAccess) throws -> R) throws -> R {
    guard let access else { throw GarageError.transactionEnded }
    if access.pending.decodingDepth > 0 { throw GarageError.changeWhileDecoding }
    return try translatingErrors { try body(access) }
  }
}
