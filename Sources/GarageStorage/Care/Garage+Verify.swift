internal import GarageCoding
internal import GarageDriver

extension Garage {
  /// Reads the whole store, without any Swift type, and reports what is damaged or does not fit together.
  ///
  /// It goes through what the engine itself can check (`IntegrityChecking`), the texts that records name, every record
  /// with its checksum and its body to the last byte, every reference, the entries for sync statuses against the records
  /// and the other way round, and the values of typed keys. It changes nothing, and reads one state of the store while
  /// others write. Unsaved changes are not looked at.
  ///
  /// A reference to an object that is gone is a notice: references may lead to what was deleted, or was never parked. A
  /// property that has to hold the object makes its owner unreadable all the same, which no one can tell who does not
  /// know the type; ``GarageReading/retrieveAll(_:onError:)`` tells.
  ///
  /// Where LMDB's pages are damaged, only that is said: reading on through LMDB could end the process.
  ///
  /// Memory: the identifiers of all objects, and 8 bytes for each.
  ///
  /// - Parameter progress: is told every 1024 entries how far it is. What it throws ends the call, and so does
  ///   cancelling the task.
  /// - Throws: `CancellationError`, what `progress` throws, ``GarageError/closed``, and ``GarageError/storage(_:)`` where
  ///   the store cannot be read at all. Damage is no error here.
  public func verify(progress: (CareProgress) throws -> Void = { _ in }) throws -> VerificationReport {
    try withoutActuallyEscaping(progress) { progress in
      try translatingErrors {
        try beginCall()
        defer { endCall() }
        var report = VerificationReport()
        if let checking = store.driver as? any IntegrityChecking {
          for complaint in try checking.integrityComplaints() {
            report.add(
              .damage, .engine,
              """
              \(complaint). Restore a backup, or salvage what can be read into a new store (GarageSalvage); do not go on \
              writing to this one.
              """)
          }
          // What reads on may find itself at the end of the process.
          if checking.trustsItsPages && !report.isSound { return report }
        }
        return try store.driver.read { transaction in
          let access = ReadAccess(garage: self, transaction: transaction)
          var verification = try StoreVerification(access, report, progress)
          return try verification.run()
        }
      }
    }
  }
}
