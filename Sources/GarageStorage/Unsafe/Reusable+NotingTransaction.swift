internal import GarageDriver

// One that notes changes is used again, for one write after another: to make it costs a twentieth of a small write.

extension Reusable<NotingTransaction> {
  /// Runs `body` on a transaction that notes what is changed, and returns that. Nobody may keep the transaction; one that
  /// somebody keeps nevertheless is not used again.
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
