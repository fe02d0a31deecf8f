/// An object that cannot be read, with the place in its record and the reason.
///
/// A garage's `forEach(_:onError:_:)` passes one to its closure for each object that it leaves out. A `DecodingError` has one
/// as the underlying error of its context. It names the record that was being read, which is the one that *holds* the missing
/// or unsuitable value.
public struct UnreadableObject: Error, Sendable {
  /// The unqualified name of its type.
  public let type: String
  /// Its identifier, as text.
  public let identifier: String
  /// The path to the property, for instance `sections.one.pages[1]`; empty if the whole record cannot be read.
  public let path: String
  /// The reason; nil if the error that contains this one gives it.
  public let error: (any Error)?

  /// An object with this name, and what is wrong with it.
  package init(type: String, identifier: String, path: String = "", error: (any Error)?) {
    self.type = type
    self.identifier = identifier
    self.path = path
    self.error = error
  }
}

extension UnreadableObject: CustomStringConvertible {
  /// The object, the path and the reason.
  public var description: String {
    let place = path.isEmpty ? "" : " at \(path)"
    return "\(type) \"\(identifier)\" cannot be read\(place)" + (error.map { ": \($0)" } ?? "")
  }
}

/// A class that is named inside a record and is not known. It becomes
/// ``GraphCodingError/unregisteredSubclass(tag:type:identifier:)`` where the record is known.
struct UnregisteredClass: Error {
  var tag: String
  /// The type of the property.
  var type: String
  var path: [any CodingKey]
}

/// The version of a value inside a record is newer than its type's. It becomes
/// ``GraphCodingError/newerVersion(type:identifier:version:known:)`` where the record is known.
struct NewerInlineVersion: Error {
  var type: String
  var version: Int
  var known: Int
  var path: [any CodingKey]
}

/// The record that was being read when an error was thrown.
struct RecordInHand {
  var type: String
  var identifier: String
  /// Whether errors about a value without an identifier name the record that holds the value.
  var namesHolders = true

  /// The error with the name of the record, if it is an error that needs it.
  func naming(_ error: any Error) -> any Error {
    switch error {
    case let error as DecodingError: named(error)
    case let unknown as UnregisteredClass:
      GraphCodingError.unregisteredSubclass(
        tag: unknown.tag, type: unknown.type,
        identifier: place(unknown.path))
    case let newer as NewerInlineVersion:
      GraphCodingError.newerVersion(
        type: newer.type, identifier: namesHolders ? place(newer.path) : nil, version: newer.version,
        known: newer.known)
    default: error
    }
  }

  /// `all[1] of Station north`
  private func place(_ path: [any CodingKey]) -> String {
    (path.isEmpty ? "" : "\(text(of: path)) of ") + "\(type) \(identifier)"
  }

  private func named(_ error: DecodingError) -> DecodingError {
    switch error {
    case .typeMismatch(let type, let context): .typeMismatch(type, named(context))
    case .valueNotFound(let type, let context): .valueNotFound(type, named(context))
    case .keyNotFound(let key, let context): .keyNotFound(key, named(context, key))
    case .dataCorrupted(let context): .dataCorrupted(named(context))
    @unknown default: error
    }
  }

  /// Adds the name, unless the error has one: that of the innermost record stays.
  private func named(_ context: DecodingError.Context, _ key: (any CodingKey)? = nil) -> DecodingError.Context
  {
    if context.underlyingError is UnreadableObject { return context }
    let path = context.codingPath + (key.map { [$0] } ?? [])
    return DecodingError.Context(
      codingPath: context.codingPath, debugDescription: context.debugDescription,
      underlyingError: UnreadableObject(
        type: type, identifier: identifier, path: text(of: path), error: context.underlyingError))
  }
}

/// `sections.one.pages[1]`
private func text(of path: [any CodingKey]) -> String {
  path.reduce(into: "") { text, key in
    if let index = key.intValue {
      text += "[\(index)]"
    } else {
      text += text.isEmpty ? key.stringValue : ".\(key.stringValue)"
    }
  }
}

extension GraphWalk {
  /// An error with the name of the record that was being read. An error that was noted because it must not be lost is named in
  /// the same way: it is thrown in the end.
  func naming(_ error: any Error, inRecordOf type: String, _ key: RecordKey) -> any Error {
    func named(_ error: any Error) -> any Error {
      let record = RecordInHand(type: type, identifier: key.text, namesHolders: namesHolders)
      return record.naming(key.naming(error, type))
    }
    if let failure = state.failure { state.failure = named(failure) }
    return named(error)
  }

  /// Does the same if the record was read before, and something was to be filled in.
  func naming(_ error: any Error, inRecordOf number: Int) -> any Error {
    // The value of a typed key has no tag. The caller that knows the key names it.
    guard number >= 0, identities.tag(of: number) != 0 else { return error }
    let tag = identities.tag(of: number)
    let type = records[number].typeName ?? plan.typeName(tag: tag) ?? "object"
    let identifier = identities.identity(of: number).identifier
    return RecordInHand(type: type, identifier: identifier.description).naming(error)
  }

  /// Forgets the objects that a failed call has decoded. The first `count` complete objects, which existed before it, are kept.
  func forget(behind count: Int) {
    if !builds.isEmpty { builds = [] }
    inlineTargets.forget()
    fills.removeAll(behind: count) { records[$0].release() }
    for number in plan.order { records[number].planPosition = -1 }
    plan.forgetObjects()
    forgetKept()
    for number in failedNumbers { records[number].forgetFailures() }
    failedNumbers = []
  }
}

extension GraphDecodingSession {
  /// Lets errors about values that stand inline name the object that holds them.
  package func nameHolders() { walk.namesHolders = true }

  /// Until the next call of this, or of ``reset()``, a failing call forgets only the objects that it has decoded itself.
  /// Objects that are decoded later are still shared with those that were decoded before.
  package func keepWhatIsComplete() { walk.keptCount = walk.fills.completeCount }
}
