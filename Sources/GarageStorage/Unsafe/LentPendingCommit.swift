/// What has to be known or done when the transaction has committed. It stands in the stack frame of the call that made the
/// transaction.
struct LentPendingCommit {
  private let address: UnsafeMutablePointer<PendingCommit>

  /// Lends `pending` to `body`.
  @inline(__always)
  static func with<R>(
    _ pending: inout PendingCommit, _ body: (LentPendingCommit) throws -> R
  ) rethrows -> R {
    try withUnsafeMutablePointer(to: &pending) { try body(LentPendingCommit(address: $0)) }
  }

  var value: PendingCommit {
    @inline(__always) unsafeAddress { UnsafePointer(address) }
    @inline(__always) nonmutating unsafeMutableAddress { address }
  }
}
