internal import GarageCoding
internal import GarageDriver

// How a verb of a garage gets what it works on: the encoder, one state of the store, or a transaction that changes it.
// It goes through one of these, or first through the encoder and then through one of the others; each translates the
// errors of the layers below.

extension Garage {
  /// Runs `body` before any transaction begins: encoding runs users' code, and holds up no other writer.
  ///
  /// - Throws: ``GarageError/closed``, before any of that code has run.
  @inline(__always)
  func encoding<R>(_ body: (GraphEncoder) throws -> R) throws -> R {
    try translatingErrors {
      try checkOpen()
      return try body(encoder)
    }
  }
}

extension Garage: GarageWriting {
  /// Itself.
  public var garage: Garage { self }

  /// Runs `body` on one state of the store. For the verbs.
  @_specialize(where R == Void)
  public func withReadAccess<R>(_ body: (ReadAccess) throws -> R) throws -> R {
    try translatingErrors {
      try beginCall()
      defer { endCall() }
      return try store.read { try body(ReadAccess(garage: self, transaction: $0)) }
    }
  }

  /// Runs `body` on one state of the store, again where the engine asks for another try. For the verbs.
  @_specialize(where R == Void)
  public func withRepeatableReadAccess<R>(_ body: (ReadAccess) throws -> R) throws -> R {
    try translatingErrors {
      try repeatableRead { try body(ReadAccess(garage: self, transaction: $0)) }
    }
  }

  /// Runs `body` on one state of the store, again where the engine asks for another try. Where writes run beside each other an
  /// engine asks that of reads, too. The read begins with its first operation.
  @inline(__always)
  func repeatableRead<R>(_ body: (any ReadTransaction) throws -> R) throws -> R {
    if store.repeatsReads {
      return try retrying(nil, store.gate, isRead: true) {
        try beginCall()
        defer { endCall() }
        // Verbs run no user's code before their first operation on the storage.
        return try store.readDeferred(body)
      }
    }
    try beginCall()
    defer { endCall() }
    return try store.read(body)
  }

  /// Runs `body` in a transaction that changes the store, again where the engine asks for another try. For the verbs.
  @_specialize(where R == Void)
  public func withWriteAccess<R>(_ body: (WriteAccess) throws -> R) throws -> R {
    try translatingErrors {
      try retrying(isClocked: store.isSharedAcrossProcesses, store.gate) {
        try change(isRepeated: true, body)
      }
    }
  }

  /// Runs `body` once, in a transaction of its own.
  ///
  /// - Parameter isRepeated: whether the caller does so again after a conflict.
  func change<R>(isRepeated: Bool, _ body: (WriteAccess) throws -> R) throws -> R {
    var result: R?
    try commit(isRepeated: isRepeated) { result = try body($0) }
    return result.unsafelyUnwrapped
  }

  /// Writes, remembers which texts are in the store now, and runs the hooks of the commit. Not generic: the runtime
  /// looks generic types up each time.
  ///
  /// - Parameter onlyTag: the type whose records are all that `body` changes, where that is known.
  func commit(isRepeated: Bool, onlyTag: UInt64? = nil, _ body: (WriteAccess) throws -> Void) throws {
    // Where several may write at a time (the store has a gate), a single commit waits for no turn.
    let queue = CommitQueue.isPassed || store.gate != nil ? nil : store.commits
    if let queue { try queue.begin() }
    try commit(inTurnOf: queue, isRepeated: isRepeated, onlyTag: onlyTag, body)
  }

  /// The same in a turn that has begun, and ends here.
  ///
  /// - Parameters:
  ///   - queue: nil where the garage has none, or the thread goes past it.
  ///   - isRepeated: whether the caller does so again after a conflict.
  ///   - onlyTag: the type whose records are all that `body` changes, where that is known.
  @inline(__always)
  func commit(
    inTurnOf queue: CommitQueue?, isRepeated: Bool, onlyTag: UInt64? = nil,
    _ body: (WriteAccess) throws -> Void
  ) throws {
    var pending = PendingCommit()
    pending.isRepeated = isRepeated
    pending.onlyTag = onlyTag
    let isSaved = try commitKeepingHooks(&pending, inTurnOf: queue, autosaves: isAutosaveEnabled, body)
    if isSaved { pending.hooks.runAfterCommit() }
  }

  /// The same, but for the hooks that run after the commit, which are left to the caller.
  ///
  /// - Returns: whether the changes are in the storage.
  @inline(__always)
  func commitKeepingHooks(
    _ pending: inout PendingCommit, inTurnOf queue: CommitQueue?, autosaves: Bool,
    _ body: (WriteAccess) throws -> Void
  ) throws -> Bool {
    let isSaved = try LentPendingCommit.with(&pending) { pending in
      defer { if let queue { queue.end() } }
      try beginCall()
      defer { endCall() }
      return try store.write(autosaves: autosaves, pending) { transaction in
        try body(WriteAccess(garage: self, transaction: transaction, pending: pending))
        if let failure = pending.value.failure { throw failure }
      }
    }
    if isSaved { noteCommitted(pending) }
    return isSaved
  }

  /// Remembers what a transaction that has committed found in the store, or put there.
  @inline(__always)
  func noteCommitted(_ pending: borrowing PendingCommit) {
    if !pending.newTexts.isEmpty { texts.remember(pending.newTexts) }
    if let catalog = pending.indexes ?? nil { indexing.noteStored(catalog) }
  }
}

// MARK: - Calls that closing waits for

extension Garage {
  /// Begins a call that ``close()`` waits for; ``endCall()`` follows. Whether the garage is closed is told here or, where
  /// the driver is closed with it, by the driver.
  @inline(__always)
  func beginCall() throws {
    if let calls { try calls.beginCall() }
  }

  @inline(__always)
  func endCall() {
    if let calls { calls.endCall() }
  }
}
