internal import GarageCoding
internal import GarageDriver

/// Runs `body`. Errors of the layers below are thrown as ``GarageError``, all other errors unchanged.
///
/// This is the one place where errors are translated. Every public verb goes through it.
@inline(__always)
func translatingErrors<R>(_ body: () throws -> R) throws -> R {
  do { return try body() } catch { throw translated(error) }
}

/// Runs a closure of the user's. Its errors are not to be translated.
@inline(__always)
func passingErrors<R>(_ body: () throws -> R) throws -> R {
  do { return try body() } catch { throw UsersError(error: error) }
}

/// Carries an error of the user's unchanged through the layers.
struct UsersError: Error {
  let error: any Error
}

func translated(_ error: any Error) -> any Error {
  switch error {
  case let error as UsersError: error.error
  case let error as StorageError: GarageError(error)
  case let error as GraphCodingError: GarageError(error)
  default: error
  }
}

extension GarageError {
  /// The error for a record of a sealed store that does not open.
  init(sealDoesNotOpen identifier: String, type: String) {
    self = .corruptRecord(
      type: type, identifier: identifier,
      reason: """
        its seal does not open: it was damaged, changed, put here from another place, or sealed with a key that was \
        not given
        """)
  }

  init(_ error: StorageError) {
    self =
      switch error.kind {
      case .closed: .closed
      case .nestedWrite: .nestedWrite
      case .transactionClosed: .transactionEnded
      default: .storage(error)
      }
  }

  init(_ error: GraphCodingError) {
    self =
      switch error {
      case .missingConformance(let type): .missingConformance(type)
      case .unsupportedIdentifier(let type), .integerTooWide(let type): .unsupportedIDConformance(type)
      case .derivedTagCollision(_, let type, _), .emptyTag(let type), .tagOfSuperclass(_, let type, _):
        .invalidTypeTag(type: type, reason: error.description)
      case .digestCollision(let what): .digestCollision(what)
      case .unregisteredSubclass(let tag, let type, let identifier):
        .unregisteredClass(tag: tag, type: type, identifier: identifier)
      case .cycle(let path): .cycle(path: path)
      case .corrupt(let type, let identifier, let reason):
        .corruptRecord(type: type, identifier: identifier, reason: reason)
      case .newerFormat(let type, let identifier, let version):
        .newerRecordFormat(type: type, identifier: identifier, version: version)
      case .newerVersion(let type, let identifier, let version, let known):
        .newerTypeVersion(type: type, identifier: identifier, version: version, known: known)
      case .identityMismatch(let type, let record, let decoded):
        .identityMismatch(type: type, recordIdentifier: record, decodedIdentifier: decoded)
      case .unsuitableIdentifier(let type, let identifier, let idType):
        .unsuitableIdentifier(type: type, identifier: identifier, idType: idType)
      case .unretrievable(let type, let identifier, let reason):
        .unretrievableObject(type: type, identifier: identifier, reason: reason)
      case .invalidMapping(let type, let reason): .invalidMapping(type: type, reason: reason)
      case .emptyIdentifyingAttribute(let type, let attribute):
        .emptyIdentifyingAttribute(type: type, attribute: attribute)
      case .nestingTooDeep(let depth): .nestingTooDeep(depth: depth)
      }
  }
}
