#if PostgreSQL
  internal import GarageDriver

  /// Gets, scans and changes in one transaction of the server's.
  ///
  /// Changes are collected and sent in key order: when there are many, before something is read that they might be part
  /// of, and with the commit. So a write that reads nothing is one round trip, its beginning and its end included.
  final class PostgreSQLWriteTransaction: PostgreSQLReadTransaction, WriteTransaction {
    /// The outcome of a commit.
    enum End {
      case committed
      case failed(PostgreSQLFailure)
      /// The connection was lost when the server may have been about to commit.
      case unknown(PostgreSQLToken, PostgreSQLFailure)
    }

    private var changes: [StorageKey: PostgreSQLChange] = [:]
    /// About how many bytes they have.
    private var changedByteCount = 0
    /// Whether `BEGIN` was sent.
    private var hasBegun: Bool
    /// Whether no later batch can find that it has not.
    private var knowsToHaveBegun = false
    /// Whether any change was sent.
    private var hasChanged = false
    /// The keys that were announced to it.
    var announcement = PostgreSQLAnnouncement()
    /// The values that need not be asked for, because the storage remembers them.
    var recall: PostgreSQLRecall

    /// Values above that many bytes are kept in pieces of as many.
    static let pieceByteCount = 512 << 10
    /// How much is collected before it is sent, and how much is sent in one command.
    private static let maximumChangeCount = 2000
    private static let maximumChangedByteCount = 1 << 20
    /// How many batches are sent before the answers to all of them are waited for.
    private static let maximumBatchCount = 8

    init(
      _ connection: PostgreSQLConnection, place: String, hasBegun: Bool, _ memory: PostgreSQLMemory
    ) {
      self.hasBegun = hasBegun
      recall = PostgreSQLRecall(memory)
      super.init(connection, place: place)
    }

    // MARK: Changes

    func put(_ value: RawSpan, for key: RawSpan) throws {
      try state.beginChange(.put)
      try state.checkKey(key, .put, limit: StorageInfo.guaranteedKeyByteCount)
      try state.checkValue(value, limit: PostgreSQLStorage.maximumValueByteCount)
      if value.byteCount > Self.pieceByteCount { return try putLarge(value, for: key) }
      changedByteCount += value.byteCount + key.byteCount
      let changed = StorageKey(key)
      forgetForeseen(changed)
      changes[changed] = .put([UInt8](copying: value))
      if changes.count >= Self.maximumChangeCount || changedByteCount >= Self.maximumChangedByteCount {
        try sendAhead(.put)
      }
    }

    func remove(_ key: RawSpan) throws {
      try state.beginChange(.remove)
      try state.checkKey(key, .remove, limit: StorageInfo.guaranteedKeyByteCount)
      changedByteCount += key.byteCount
      let changed = StorageKey(key)
      forgetForeseen(changed)
      changes[changed] = .remove
      if changes.count >= Self.maximumChangeCount { try sendAhead(.remove) }
    }

    func removeAll(in range: StorageKeyRange) throws {
      try state.beginChange(.remove)
      if range.isEmpty { return }
      let upper =
        range.upperBound ?? [UInt8](repeating: 0xFF, count: StorageInfo.guaranteedKeyByteCount + 1)
      // Changes in the range that were not sent yet need not be sent.
      for key in changes.keys where range.contains(key) { changes[key] = nil }
      announcement.forgetFetched()
      recall.noteChanges(in: range)
      // Not awaited, so that deleting all of a type is one trip. If `BEGIN` fails, nothing is reported as committed.
      try changing(.remove, awaitsBegin: false) { connection in
        range.lowerBound.withUnsafeBytes { lower in
          upper.withUnsafeBytes { connection.send(.removeRange, [lower, $0]) }
        }
      }
    }

    private func putLarge(_ value: RawSpan, for key: RawSpan) throws {
      let changed = StorageKey(key)
      changes[changed] = nil
      forgetForeseen(changed)
      let identifier = (0..<2).flatMap { _ in
        withUnsafeBytes(of: UInt64.random(in: .min ... .max)) { [UInt8]($0) }
      }
      try changing(.put) { connection in
        identifier.withUnsafeBytes { identifier in
          key.withUnsafeBytes { key in
            withUnsafeBytes(of: Int64(value.byteCount).bigEndian) {
              connection.send(.putLarge, [key, identifier, $0])
            }
          }
        }
      }
      try value.withUnsafeBytes { value in
        for (number, start) in stride(from: 0, to: value.count, by: Self.pieceByteCount).enumerated() {
          let piece = UnsafeRawBufferPointer(rebasing: value[start...].prefix(Self.pieceByteCount))
          try changing(.put) { connection in
            identifier.withUnsafeBytes { identifier in
              withUnsafeBytes(of: Int32(number).bigEndian) {
                connection.send(.putPiece, [identifier, $0, piece])
              }
            }
          }
        }
      }
    }

    /// Sends changes, behind those that were collected, and leaves the answer for later.
    private func changing(
      _ operation: StorageError.Operation, awaitsBegin: Bool = true,
      _ send: (PostgreSQLConnection) -> Void
    ) throws {
      do throws(PostgreSQLFailure) {
        guard let connection else { throw PostgreSQLFailure(text: "The transaction has ended") }
        if awaitsBegin { try beginAlone(connection) }
        // No more than this is on its way while the server works.
        if connection.awaitedBatchCount >= Self.maximumBatchCount { try connection.receiveEarlier() }
        sendCollected(connection)
        hasChanged = true
        send(connection)
        connection.sendBatch()
      } catch {
        throw noted(error, operation)
      }
    }

    /// Begins the transaction before anything is sent that is not in the batch of the commit. If a command fails, the server
    /// skips only the rest of its batch: if `BEGIN` failed in a batch, each of the later batches would be a transaction of its
    /// own.
    private func beginAlone(_ connection: PostgreSQLConnection) throws(PostgreSQLFailure) {
      if knowsToHaveBegun { return }
      if !hasBegun {
        hasBegun = true
        connection.send(.beginWrite)
        try connection.receive(0)
      } else if connection.awaitedBatchCount > 0 {
        try connection.receiveEarlier()
      }
      knowsToHaveBegun = true
    }

    private func sendAhead(_ operation: StorageError.Operation) throws { try changing(operation) { _ in } }

    // MARK: Sending

    override func prepareToRead() throws(PostgreSQLFailure) {
      guard let connection else { return }
      sendCollected(connection)
    }

    override func unsent(_ key: RawSpan) -> PostgreSQLChange? {
      changes.isEmpty ? nil : changes[StorageKey(key)]
    }

    override func foreseen(_ key: RawSpan) throws -> Foreseen? { try foresee(key) }

    override var readsAhead: Bool { false }

    override func noteAnswered() { recall.noteChecked() }

    /// Queues what was collected, in key order, and `BEGIN` before it where nothing was sent yet.
    private func sendCollected(_ connection: PostgreSQLConnection) {
      if !hasBegun {
        hasBegun = true
        connection.send(.beginWrite)
      }
      // Has to be sent before the changes.
      recall.sendExpected(connection)
      if changes.isEmpty { return }
      hasChanged = true
      let sorted = changes.sorted { $0.key < $1.key }
      changes.removeAll(keepingCapacity: true)
      var keys = PostgreSQLArray(reservingBytes: changedByteCount / 4)
      var values = PostgreSQLArray(reservingBytes: changedByteCount)
      var removed = PostgreSQLArray()
      changedByteCount = 0
      for (key, change) in sorted {
        switch change {
        case .put(let value):
          keys.append(key.bytes)
          values.append(value)
        case .remove: removed.append(key.bytes)
        }
      }
      if keys.count > 0 {
        keys.withParameter { keys in values.withParameter { connection.send(.put, [keys, $0]) } }
      }
      if removed.count > 0 { removed.withParameter { connection.send(.remove, [$0]) } }
    }

    // MARK: The end

    /// Makes every later operation throw, and returns the first failure, which forbids the commit.
    func finish() -> StorageError? { state.finish() }

    /// Commits; where it does not, it has rolled back, or the connection is gone.
    func commit() -> End {
      let end = sendCommit()
      if case .committed = end { recall.endCommitted() } else { recall.endUndone() }
      return end
    }

    private func sendCommit() -> End {
      guard let connection else { return .committed }
      defer { self.connection = nil }
      if !hasBegun && changes.isEmpty && !recall.isUnchecked { return .committed }
      sendCollected(connection)
      let token = PostgreSQLToken(serverMilliseconds: connection.serverTime)
      if hasChanged { token.bytes.withUnsafeBytes { connection.send(.noteToken, [$0]) } }
      // A connection that was lost before cannot have delivered the commit.
      let wasLost = connection.isLost
      connection.send(.commit)
      let (tag, failure) = connection.receiveEnd()
      // After a failure `COMMIT` only answers that it has rolled back. If no transaction had begun, it answers that it has
      // committed; something before it has failed then.
      if tag == "COMMIT", failure.map(\.isOfConnection) ?? true { return .committed }
      let reason = failure ?? PostgreSQLFailure(text: "The server rolled the transaction back")
      if reason.leavesCommitOpen { connection.noteLost() }
      if !connection.isLost {
        rollBack(connection)
        return .failed(reason)
      }
      return wasLost || !hasChanged ? .failed(reason) : .unknown(token, reason)
    }

    /// Undoes what was sent, without waiting for the answer.
    func rollBack() {
      recall.endUndone()
      guard let connection else { return }
      self.connection = nil
      if hasBegun { rollBack(connection) }
    }

    private func rollBack(_ connection: PostgreSQLConnection) {
      connection.ignoreAnswers()
      connection.sendEnd(.rollBack)
    }
  }
#endif
