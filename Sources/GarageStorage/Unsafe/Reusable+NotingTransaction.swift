internal import GarageDriver

// A transaction that notes changes is used again for one write after another, because making one costs a twentieth of a small
// write.

extension Reusable<NotingTransaction> {
  /// Runs `body` on a transaction that notes the changes, and returns these. Nobody may keep the transaction. If somebody does
  /// so nevertheless, it is not used again.
  @inline(__always)
  func log(
    of base: any WriteTransaction, isSealed: Bool, _ hub: NewsHub,
    _ body: (any WriteTransaction) throws -> Void
  ) throws -> ChangeLog {
    let noting = take { NotingTransaction(isSealed: isSealed, hub) }
    noting._withUnsafeGuaranteedRef { $0.begin(base) }
    defer { giveBack(noting) }
    return try noting._withUnsafeGuaranteedRef { noting in
      try body(noting)
      return noting.takeLog()
    }
  }

  private func giveBack(_ noting: Unmanaged<NotingTransaction>) {
    let isReusable = noting.isOnlyReference
    if isReusable { noting._withUnsafeGuaranteedRef { $0.end() } }
    if !giveBack(noting, keeping: isReusable) { noting.release() }
  }
}
