/// Reads one consistent snapshot, inside a closure of ``Garage/read(retrying:_:)``. It has the verbs of ``Garage`` that read.
///
/// It lives on one thread. After its closure it throws ``GarageError/transactionEnded``.
public final class GarageReader: GarageReading {
  /// The garage whose transaction it is.
  public let garage: Garage
  private var access: ReadAccess?

  init(_ access: ReadAccess) {
    garage = access.garage
    self.access = access
  }

  func end() { access = nil }

  /// For the verbs.
  public func withReadAccess<R>(_ body: (ReadAccess) throws -> R) throws -> R {
    guard let access else { throw GarageError.transactionEnded }
    return try translatingErrors { try body(access) }
  }
}
