#if Command
  import GarageDriver
  import GarageStorage

  /// The result of looking for an object.
  enum ObjectLook {
    case object(StoredObject)
    case nothing
    /// It exists, but cannot be read.
    case damaged(GarageError)

    /// The object; nil if there is none that can be read.
    var object: StoredObject? {
      if case .object(let object) = self { return object }
      return nil
    }

    /// - Throws: errors that are not about this one object.
    init(_ read: () throws -> StoredObject?) throws {
      do { self = try read().map { .object($0) } ?? .nothing } catch let error as GarageError
        where error.isOfOneEntry
      { self = .damaged(error) }
    }
  }

  extension GarageReading {
    func look(at identity: RecordIdentity) throws -> ObjectLook {
      try ObjectLook { try storedObject(identity) }
    }

    func look(atTypeNamed name: String, _ identifier: Identifier) throws -> ObjectLook {
      try ObjectLook { try storedObject(ofTypeNamed: name, identifier: identifier) }
    }
  }

  extension GarageError {
    /// Whether one entry of the store is the cause, so that others can be read.
    var isOfOneEntry: Bool {
      switch self {
      case .corruptRecord, .newerRecordFormat, .corruptValue, .damagedText: true
      case .storage(let error): error.isOfOneValue
      default: false
      }
    }
  }
#endif
