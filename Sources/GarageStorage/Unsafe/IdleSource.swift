internal import GarageDriver
internal import Synchronization

/// A source that waits to be used again, for one object after another: most are made for one record.
///
/// Invariant: what stands in `address` owns one reference, and whoever takes the address out owns that reference, so
/// that a source is in use once at a time. It is kept again only where no session holds it any more.
struct IdleSource: ~Copyable {
  /// The address of a source that is owned here; 0 where there is none.
  private let address = Atomic<UInt>(0)

  deinit { take()?.release() }

  /// Lends a source on the transaction to `body`, which lets nobody keep it but an error.
  @inline(__always)
  func withSource(
    on transaction: any ReadTransaction, of garage: Garage, _ body: (TransactionSource) throws -> Void
  ) throws {
    let source = take() ?? .passRetained(TransactionSource(of: garage))
    source._withUnsafeGuaranteedRef { $0.begin(transaction) }
    defer { giveBack(source) }
    try source._withUnsafeGuaranteedRef(body)
  }

  private func take() -> Unmanaged<TransactionSource>? {
    if address.load(ordering: .relaxed) == 0 { return nil }
    return UnsafeRawPointer(bitPattern: address.exchange(0, ordering: .acquiring)).map { .fromOpaque($0) }
  }

  /// Keeps a source that nobody else holds, and lets others go.
  private func giveBack(_ source: Unmanaged<TransactionSource>) {
    var bits = UInt(bitPattern: source.toOpaque())
    // Looked at where it stands: a variable of its own would count as another reference.
    let isFree = withUnsafeMutableBytes(of: &bits) { bytes in
      bytes.withMemoryRebound(to: TransactionSource.self) { isKnownUniquelyReferenced(&$0[0]) }
    }
    let isReusable =
      isFree
      && source._withUnsafeGuaranteedRef { source in
        source.end()
        return !source.hasPrefetched
      }
    if isReusable, address.compareExchange(expected: 0, desired: bits, ordering: .releasing).exchanged {
      return
    }
    source.release()
  }
}
