internal import GarageCoding
internal import GarageDriver

// How changes that only write bytes are committed together (`CommitQueue`).

extension GarageWriting {
  /// Does as ``withWriteAccess(_:)``, for a body that runs no users' code and has no hooks. The body may run on another thread,
  /// and more than once. If others are about to commit, it is committed together with their changes.
  ///
  /// - Parameters:
  ///   - byteCount: about how many bytes it writes.
  ///   - onlyTag: the tag of the only type whose records it changes, if that is known.
  ///   - prepare: what is to be done on this thread before another one may run the body.
  @inline(__always)
  func withByteAccess(
    byteCount: Int = 0, onlyTag: UInt64? = nil, preparing prepare: () throws -> Void,
    _ body: (WriteAccess) throws -> Void
  ) throws {
    if let garage = Garage.itself(self) {
      try garage.commitBytes(byteCount, onlyTag, prepare, body)
    } else {
      try withWriteAccess(body)
    }
  }

  /// The same where nothing is to be done before.
  @inline(__always)
  func withByteAccess(_ body: (WriteAccess) throws -> Void) throws {
    try withByteAccess(preparing: {}, body)
  }

  /// Does the same for the records of a graph. If objects in it stood inline, they have to be told that they are parked, which
  /// writing bytes does not do: then the body is committed in the usual way.
  @inline(__always)
  func withByteAccess(of graph: EncodedGraph, _ body: (WriteAccess) throws -> Void) throws {
    if graph.inlineTargets.isEmpty {
      // Computed only if it is needed.
      let onlyTag = garage.store.news.isHeard ? graph.onlyTag : nil
      try withByteAccess(
        byteCount: graph.bytes.count, onlyTag: onlyTag, preparing: { try garage.meetTypes(of: graph) }, body)
    } else {
      try withWriteAccess(body)
    }
  }
}

extension Garage {
  /// Commits a body of bytes: alone if no other call commits, and otherwise in turn, together with others.
  fileprivate func commitBytes(
    _ byteCount: Int, _ onlyTag: UInt64?, _ prepare: () throws -> Void,
    _ body: (WriteAccess) throws -> Void
  ) throws {
    try translatingErrors {
      try retrying(isClocked: store.isSharedAcrossProcesses, store.gate) {
        guard let queue = store.commits, !CommitQueue.isPassed, isAutosaveEnabled else {
          return try commit(isRepeated: true, onlyTag: onlyTag, body)
        }
        // The holder of the turn may be waiting for the gate that this thread holds.
        if let gate = store.gate, gate.isEntered {
          return try commit(inTurnOf: nil, isRepeated: true, onlyTag: onlyTag, body)
        }
        if try queue.beginIfFree() {
          try commit(inTurnOf: queue, isRepeated: true, onlyTag: onlyTag, body)
        } else {
          try prepare()
          try commitTogether(queue, byteCount, body)
        }
      }
    }
  }

  private func commitTogether(
    _ queue: CommitQueue, _ byteCount: Int, _ body: (WriteAccess) throws -> Void
  ) throws {
    try withoutActuallyEscaping(body) { body in
      let job = CommitJob(ofThread: .bytes(body), byteCount: byteCount)
      defer { job.end() }
      switch try queue.begin(job) {
      case .settled(let error):
        if let error { throw error }
        job.hooks.runAfterCommit()
      case .turn:
        if store.hasUnsavedChanges { return try commit(inTurnOf: queue, isRepeated: true, body) }
        var settled = commitTogether(job, queue)
        // The next holder need not wait until all callers are awake.
        queue.end()
        let own = settled.removeFirst()
        for (job, error) in settled { job.settle(error) }
        if let error = own.error { throw error }
        job.hooks.runAfterCommit()
      }
    }
  }

  /// Commits the job of the holder of the turn, and the jobs behind it, in one transaction. A job that fails is left out, and
  /// the others are committed without it.
  ///
  /// - Returns: the outcome of each job that was taken, the given one first. No caller has been told yet.
  func commitTogether(_ first: CommitJob, _ queue: CommitQueue) -> [(job: CommitJob, error: (any Error)?)] {
    var batch = CommitBatch(first, queue)
    while !batch.isDone { attempt(&batch) }
    return batch.settled
  }

  private func attempt(_ batch: inout CommitBatch) {
    var pending = PendingCommit()
    batch.beginAttempt()
    do {
      let isSaved = try LentPendingCommit.with(&pending) { pending in
        try beginCall()
        defer { endCall() }
        return try store.writeShared { transaction in
          try batch.run(WriteAccess(garage: self, transaction: transaction, pending: pending))
        }
      }
      if !isSaved { return commitAlone(&batch) }
      noteCommitted(pending)
      batch.succeed()
    } catch {
      if !batch.repeats(after: error) { batch.fail(error) }
    }
  }

  /// Commits the first job with the unsaved changes, on the calling thread, which is one of the library's or the job's own. The
  /// others wait for their own turns. The hooks that have to run after the commit are left to the job's caller.
  private func commitAlone(_ batch: inout CommitBatch) {
    let job = batch.takeFirst()
    var pending = PendingCommit()
    do {
      _ = try LentPendingCommit.with(&pending) { pending in
        try store.write(autosaves: true, pending) { transaction in
          try job.run(WriteAccess(garage: self, transaction: transaction, pending: pending))
          if let failure = pending.value.failure { throw failure }
        }
      }
      noteCommitted(pending)
      job.hooks = pending.hooks
      batch.settle(job, nil)
    } catch {
      batch.settle(job, error)
    }
  }
}
