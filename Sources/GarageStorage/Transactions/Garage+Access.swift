internal import GarageDriver

extension Garage: GarageWriting {
  /// Itself.
  public var garage: Garage { self }

  /// For the verbs.
  @_specialize(where R == Void)
  public func withReadAccess<R>(_ body: (ReadAccess) throws -> R) throws -> R {
    try translatingErrors {
      try beginCall()
      defer { endCall() }
      return try store.read { try body(ReadAccess(garage: self, transaction: $0)) }
    }
  }

  /// For the verbs.
  @_specialize(where R == Void)
  public func withWriteAccess<R>(_ body: (WriteAccess) throws -> R) throws -> R {
    try translatingErrors {
      try retrying(isClocked: store.isSharedAcrossProcesses) { try change(body) }
    }
  }

  /// Runs `body` once, in a transaction of its own.
  func change<R>(_ body: (WriteAccess) throws -> R) throws -> R {
    var result: R?
    try changeOnce { result = try body($0) }
    return result.unsafelyUnwrapped
  }

  /// Not generic: the runtime looks generic types up each time.
  private func changeOnce(_ body: (WriteAccess) throws -> Void) throws {
    var pending = PendingCommit()
    let isSaved = try LentPendingCommit.with(&pending) { pending in
      try beginCall()
      defer { endCall() }
      return try store.write(autosaves: isAutosaveEnabled, pending) { transaction in
        try body(WriteAccess(garage: self, transaction: transaction, pending: pending))
      }
    }
    if isSaved {
      if !pending.newTexts.isEmpty { texts.remember(pending.newTexts) }
      pending.hooks.runAfterCommit()
    }
  }
}

// MARK: - Calls that closing waits for

extension Garage {
  /// Runs `body`, which works on the store, and which ``close()`` waits for.
  @inline(__always)
  func whileOpen<R>(_ body: () throws -> R) throws -> R {
    try beginCall()
    defer { endCall() }
    return try body()
  }

  /// Begins what ``close()`` waits for; ``endCall()`` follows.
  @inline(__always)
  func beginCall() throws {
    if let calls { try calls.beginCall() } else { try checkOpen() }
  }

  @inline(__always)
  func endCall() {
    if let calls { calls.endCall() }
  }
}
