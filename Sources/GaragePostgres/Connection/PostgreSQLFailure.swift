#if PostgreSQL
  internal import GarageDriver

  /// The driver's name in errors and in ``StorageInfo``.
  let driverName = "PostgreSQL"

  /// A failed call, as libpq or the server reports it.
  struct PostgreSQLFailure: Error {
    /// The five characters that name it (SQLSTATE), where it came from a server.
    var state: String?
    /// Their words, without any password.
    var text: String
    /// Whether the connection is gone.
    var isOfConnection = false
    /// Whether the server was there, and said nothing for too long: another connection would fare no better.
    var isSilence = false

    /// Of `expectValue` and `expectNone` alone: a division by zero.
    static let otherThanExpected = "22012"
    /// The state of all commands behind a failure in the same transaction.
    static let hasFailedBefore = "25P02"
    /// Of this driver's own: no server's.
    static let otherStore = "GA001"

    /// Whether it leaves the outcome open of a transaction whose commit was sent.
    var leavesCommitOpen: Bool { state == "40003" || state?.hasPrefix("08") == true }

    /// The failure as the protocol's error.
    ///
    /// - Parameter place: which store, or which server, in words without a password.
    func storageError(during operation: StorageError.Operation, at place: String) -> StorageError {
      let (kind, isRetryable, advice) = meaning(operation)
      let code = state.map { $0 == Self.otherStore ? "" : ", SQLSTATE \($0)" } ?? ""
      let end = text.hasSuffix(".") ? "" : "."
      return StorageError(
        kind, during: operation, driver: driverName, isRetryable: isRetryable,
        message: "\(place): \(text)\(code)\(end) \(advice)")
    }

    private typealias Meaning = (StorageError.Kind, isRetryable: Bool, advice: String)

    private func meaning(_ operation: StorageError.Operation) -> Meaning {
      guard let state else { return isOfConnection ? lost : other }
      switch state {
      case "40001", "40P01":
        return (.conflict, true, "Another transaction came first. Nothing was changed; make the call again.")
      case Self.otherThanExpected:
        return (
          .conflict, true,
          "What this storage remembered was changed elsewhere. Nothing was changed; make the call again."
        )
      case "55P03":
        return (
          .busy, true, "Another transaction held what this one needs for too long. Make the call again later."
        )
      case "57014": return (.busy, true, "The server's time limit for a statement was reached. Try again.")
      case "53300":
        return (
          .readersFull, true,
          """
          The server has as many connections as it takes (max_connections). Open fewer, or nest fewer reads, or \
          let it take more.
          """
        )
      case "57P01", "57P02", "57P03", "57P05": return lost
      case "25006":
        return (
          .readOnly, false,
          "This server only reads, as a standby does. Connect to one that writes: target_session_attrs=read-write."
        )
      case "42P01":
        return (.notFound, false, "The tables of the store are gone. Close the storage and open it again.")
      case Self.otherStore:
        return (.notFound, false, "Nothing was changed there. Close the storage and open it again.")
      case "3F000":
        return (.notFound, false, "Make the schema, or name one that is there in the role's search_path.")
      case "28P01", "28000": return (.permissionDenied, false, "Check the user's name and password.")
      case "42501":
        return (.permissionDenied, false, "The role may not do that. Grant it, or connect as another one.")
      case "3D000": return (.notFound, false, "Create the database first, or check its name.")
      case "26000", "42P05":
        return (
          .engine, false,
          """
          Prepared statements are not in the session that they were made in: a pooler gives each transaction another \
          one, as PgBouncer does with pool_mode=transaction. Connect to the server itself, or let the pooler pool sessions.
          """
        )
      case "54000": return (.valueTooLarge, false, "Use smaller values, or fewer at a time.")
      default: return classMeaning(state)
      }
    }

    private func classMeaning(_ state: String) -> Meaning {
      if state.hasPrefix("08") { return lost }
      switch state {
      case "53100":
        return (.storageFull, false, "The server's disk is full; the transaction was rolled back.")
      case "58030": return (.io, false, "The server's disk failed. Look into the server's log.")
      case "XX001", "XX002": return (.corrupt, false, "The database is damaged. Restore a backup.")
      default: return isOfConnection ? lost : other
      }
    }

    private var lost: Meaning {
      (
        .disconnected, true,
        "There is no connection to the server. Nothing was committed; make the call again when it is there."
      )
    }

    private var other: Meaning {
      (.engine, false, "This is a failure that the driver does not know; the server's log may say more.")
    }
  }
#endif
