#if Command && Inspector
  import GarageStorage

  /// The reason why a request is refused: an HTTP status, and a message for people.
  struct InspectorFailure: Error {
    var status: Int
    var message: String
    /// The allowed methods, if the failure is about the method.
    var allowed: [String] = []

    init(status: Int, _ message: String) {
      self.status = status
      self.message = message
    }

    init(_ error: any Error) {
      switch error {
      case let failure as InspectorFailure: self = failure
      case let failure as CommandFailure:
        self.init(status: failure.status == CommandFailure.usageStatus ? 400 : 404, failure.message)
      case ValueEdit.Refusal.unreadable: self.init(status: 400, "\(error)")
      case is ValueEdit.Refusal: self.init(status: 409, "\(error)")
      case let error as GarageError: self.init(status: Self.status(of: error), "\(error)")
      case is CancellationError: self.init(status: 503, "The request was given up.")
      default: self.init(status: 500, "\(error)")
      }
    }

    private static func status(of error: GarageError) -> Int {
      switch error {
      case .failedToRetrieveObject: 404
      case .notUnique, .identifiedByContent: 409
      case _ where error.isOfOneEntry: 422
      case .closed: 503
      case .storage(let error): error.isRetryable ? 503 : 500
      default: 500
      }
    }
  }
#endif
