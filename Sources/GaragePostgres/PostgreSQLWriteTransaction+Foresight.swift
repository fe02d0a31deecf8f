#if PostgreSQL
  internal import GarageDriver

  extension PostgreSQLWriteTransaction: AnnouncedReading {
    func willGet(_ keys: [StorageKey]) -> Bool {
      announcement = PostgreSQLAnnouncement(keys)
      return true
    }

    func mayRemember(_ key: StorageKey) { recall.add(key) }

    /// The value of a key, where it was announced or may be remembered.
    func foresee(_ key: RawSpan) throws -> Foreseen? {
      if announcement.isEmpty && recall.isEmpty { return nil }
      let key = StorageKey(key)
      if let value = recall.value(of: key) { return Foreseen(value: value) }
      if let known = announcement.known(key) { return foreseen(known) }
      if let block = announcement.block(from: key) {
        try fetch(block + recall.unknownKeys)
        return announcement.known(key).flatMap(foreseen)
      }
      guard recall.contains(key) else { return nil }
      let result = try key.bytes.withUnsafeBytes { try ask(.get, [$0], .get) }
      if result.rowCount > 0 && !result.isNull(0, 1) { return nil }
      let value = result.rowCount > 0 ? result.bytes(0, 0) : nil
      if (value?.count ?? 0) <= PostgreSQLStatement.inlineByteCount { recall.note(value, of: key) }
      return Foreseen(value: value)
    }

    private func foreseen(_ known: PostgreSQLAnnouncement.Known) -> Foreseen? {
      if case .value(let value) = known { Foreseen(value: value) } else { nil }
    }

    /// Fetches a block of announced keys and, along with it, the keys to be remembered.
    private func fetch(_ keys: [StorageKey]) throws {
      var wanted = PostgreSQLArray()
      var block: [StorageKey: PostgreSQLAnnouncement.Known] = [:]
      for key in keys where block.updateValue(.value(nil), forKey: key) == nil { wanted.append(key.bytes) }
      let result = try wanted.withParameter { try ask(.getMany, [$0], .get) }
      for row in 0..<result.rowCount {
        block[StorageKey(result.bytes(row, 0))] =
          result.isNull(row, 1) ? .large : .value(result.bytes(row, 1))
      }
      for key in recall.unknownKeys {
        if case .value(let value)? = block[key] { recall.note(value, of: key) }
      }
      announcement.note(block)
    }

    /// Forgets what is known of a key that is about to be changed.
    func forgetForeseen(_ key: StorageKey) {
      if !announcement.isEmpty { announcement.forget(key) }
      if !recall.isEmpty { recall.noteChange(of: key) }
    }

    /// Runs the body of a write. If it does not end with a commit, and has seen remembered values, these are checked first: if
    /// they were out of date, the result is a conflict.
    func checkingRecalled<R>(_ body: () throws -> TransactionOutcome<R>) throws -> TransactionOutcome<R> {
      do {
        let outcome = try body()
        if case .rollBack = outcome { try checkRecalled() }
        return outcome
      } catch {
        try checkRecalled()
        throw error
      }
    }

    private func checkRecalled() throws {
      // After a failure the server answers nothing, and the failure is the reason.
      guard recall.isUnchecked, state.firstError == nil else { return }
      do throws(PostgreSQLFailure) {
        try prepareToRead()
        guard let connection else { return }
        try connection.receive(0)
        recall.noteChecked()
      } catch {
        throw noted(error, .get)
      }
    }
  }
#endif
