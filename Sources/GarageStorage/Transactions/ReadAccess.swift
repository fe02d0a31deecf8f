internal import GarageDriver

/// One state of the store, for the verbs that read. It is valid inside the closure that it was passed to.
public struct ReadAccess {
  private let lent: LentReadTransaction

  /// - Parameter pending: the pending commit of the writer whose transaction it is; nil if nothing can be changed.
  @inline(__always)
  init(garage: Garage, transaction: any ReadTransaction, pending: LentPendingCommit? = nil) {
    lent = LentReadTransaction(garage: garage, transaction: transaction, pending: pending)
  }

  var garage: Garage { @inline(__always) get { lent.garage } }
  var transaction: any ReadTransaction { @inline(__always) get { lent.transaction } }

  /// Whether the transaction may be changed while a verb runs a closure of the user's.
  var isWriting: Bool { lent.pending != nil }

  /// Runs `body`, which decodes objects, and so runs users' code while bytes are lent. Until it returns, the writer refuses
  /// changes.
  @inline(__always)
  func decoding<R>(_ body: () throws -> R) rethrows -> R {
    beginDecoding()
    defer { endDecoding() }
    return try body()
  }

  /// Does the same without a closure. ``endDecoding()`` has to follow.
  @inline(__always)
  func beginDecoding() {
    if let pending = lent.pending { pending.value.decodingDepth += 1 }
  }

  @inline(__always)
  func endDecoding() {
    if let pending = lent.pending { pending.value.decodingDepth -= 1 }
  }
}
