internal import Dispatch
internal import GarageCoding
internal import GarageDriver
internal import Synchronization

extension Garage {
  /// Reads the whole store, without any Swift type, and reports what is damaged or does not fit together.
  ///
  /// It goes through what the engine itself can check (`IntegrityChecking`), the texts that records name, every record
  /// with its checksum and its body to the last byte, every reference, the entries for sync statuses against the records
  /// and the other way round, and the values of typed keys. It changes nothing, and reads one state of the store while
  /// others write. Unsaved changes are not looked at.
  ///
  /// A reference to an object that is gone is a notice: references may lead to objects that were deleted, or never parked. If
  /// the property has to hold the object, the owner is unreadable all the same, but that cannot be told without the type;
  /// ``GarageReading/retrieveAll(_:onError:)`` tells.
  ///
  /// The engine's own check runs on a thread of its own meanwhile, and the call ends when both have.
  ///
  /// Where LMDB's pages are damaged, only that is said: reading on through LMDB could end the process.
  ///
  /// Memory: the identifiers of all objects, and up to 24 bytes for each.
  ///
  /// - Parameter progress: is told every 1024 entries how far it is, and again from the beginning where the engine asks for
  ///   another try. An error that it throws ends the call, and so does cancelling the task.
  /// - Throws: `CancellationError`, the errors of `progress`, ``GarageError/closed``, and ``GarageError/storage(_:)`` where the
  ///   store cannot be read at all, or reading it was refused or cut off. Damage is no error here.
  public func verify(progress: (CareProgress) throws -> Void = { _ in }) throws -> VerificationReport {
    try withoutActuallyEscaping(progress) { progress in
      try translatingErrors {
        try beginCall()
        defer { endCall() }
        let checking = store.driver as? any IntegrityChecking
        // Reading pages that the engine complains of may end the process.
        if let checking, checking.trustsItsPages {
          let report = VerificationReport(ofComplaints: try checking.integrityComplaints())
          if !report.isSound { return report }
        }
        let check = checking.flatMap { $0.trustsItsPages ? nil : EngineCheck($0) }
        // The check has to end before the call does, because the storage may be closed after that.
        defer { check?.wait() }
        let report = try retrying(nil, store.gate, isRead: true) {
          try store.driver.read { transaction in
            try StoreVerification(ReadAccess(garage: self, transaction: transaction), progress).run()
          }
        }
        guard let check else { return report }
        return VerificationReport(ofComplaints: try check.complaints()).adding(report)
      }
    }
  }
}

/// The engine's own check, on another thread, while this one goes through the records.
private final class EngineCheck: Sendable {
  private let result = Mutex<Result<[String], any Error>?>(nil)
  private let ended = DispatchSemaphore(value: 0)

  init(_ driver: any IntegrityChecking) {
    WorkerThreads.shared.run {
      let complaints = Result { try driver.integrityComplaints() }
      self.result.withLock { $0 = complaints }
      self.ended.signal()
    }
  }

  /// Its complaints, when it has ended.
  func complaints() throws -> [String] {
    wait()
    do { return try result.withLock { $0 }?.get() ?? [] } catch let error as StorageError
      where error.tellsOfDamage
    {
      return [error.message]
    }
  }

  func wait() {
    ended.wait()
    // For another wait.
    ended.signal()
  }
}

extension VerificationReport {
  fileprivate init(ofComplaints complaints: [String]) {
    for complaint in complaints {
      add(
        .damage, .engine,
        """
        \(complaint). Restore a backup, or salvage what can be read into a new store (GarageSalvage); do not go on \
        writing to this one.
        """)
    }
  }

  /// This report, and behind it what another one says of the same store.
  fileprivate func adding(_ other: VerificationReport) -> VerificationReport {
    var report = other
    report.findings = Array((findings + other.findings).prefix(VerificationReport.maximumFindingCount))
    report.findingCounts.merge(findingCounts, uniquingKeysWith: +)
    return report
  }
}
