internal import CGarage
internal import Synchronization

extension Garage {
  /// Whether calls that code many objects may use several of the machine's cores; true from the beginning.
  ///
  /// ``retrieveAll(_:)`` and ``parkAll(_:)`` then run `init(from:)` and `encode(to:)` of different objects at the same time,
  /// on the caller's thread and in tasks that see its task-local values. That is for types that are bound to no actor,
  /// for values, and for records that refer to no others; results and their order are the same. Processor time is not
  /// saved by it: set this to false where other work needs the cores, or where a type's code may not run twice at a time.
  /// Inside of a transaction one thread does all.
  public var usesSeveralCores: Bool {
    get { severalCores.load(ordering: .relaxed) }
    set { severalCores.store(newValue, ordering: .relaxed) }
  }

  /// Whether a call that begins here may use several cores.
  ///
  /// Not inside of a transaction: users' code that calls the garage while it is coded would wait on another thread for the
  /// one that holds that transaction, which waits for the code. On the same thread it is served or told no.
  @usableFromInline
  var mayUseSeveralCores: Bool {
    CoreCount.helpers > 0 && usesSeveralCores && garage_transaction_count() == 0
  }

  /// All objects of this type, in the order of their identifiers.
  ///
  /// Many that refer to nothing are decoded on several cores, unless ``usesSeveralCores`` is false.
  ///
  /// - Throws: as ``GarageReading/retrieveAll(_:)``.
  @inlinable
  public func retrieveAll<T: Codable & SendableMetatype>(_ type: T.Type) throws -> [T] {
    // Inlined for the same reason as `retrieve`.
    var objects: [T] = []
    let isShared = mayUseSeveralCores
    try withRepeatableReadAccess { access in
      objects = []
      try access.makeRoom(in: &objects)
      try access.visitObjectsTogether(type, isShared: isShared) { object in objects.append(object) }
      try access.noteCount(of: &objects)
    }
    return objects
  }
}

// MARK: - Parking

// Beside those of `GarageWriting`, for elements that other threads may encode.
extension Garage {
  /// Parks objects and everything they refer to, all in one write.
  ///
  /// Many that hold no objects with records of their own are encoded on several cores, unless ``usesSeveralCores`` is
  /// false.
  ///
  /// - Throws: as ``GarageWriting/parkAll(_:)``.
  public func parkAll<S: Sequence>(_ objects: S) throws
  where S.Element: Codable & Identifiable & Sendable {
    try put(encoded: graphs(ofAllSendable: objects))
  }

  /// Parks values and everything they refer to, all in one write. Values are identified by their content.
  ///
  /// Many that hold no objects with records of their own are encoded on several cores, unless ``usesSeveralCores`` is
  /// false.
  ///
  /// - Throws: as ``GarageWriting/parkAll(_:)``.
  public func parkAll<S: Sequence>(_ values: S) throws
  where S.Element: Codable & Hashable & Sendable {
    try put(encoded: graphs(ofAllSendable: values))
  }

  /// Parks objects and everything they refer to, all in one write.
  ///
  /// Many that hold no objects with records of their own are encoded on several cores, unless ``usesSeveralCores`` is
  /// false.
  ///
  /// - Throws: as ``GarageWriting/parkAll(_:)``.
  public func parkAll<S: Sequence>(_ objects: S) throws
  where S.Element: Codable & Hashable & Identifiable & Sendable {
    try put(encoded: graphs(ofAllSendable: objects))
  }

  /// Parks objects and everything they refer to, all in one write.
  ///
  /// Many that hold no objects with records of their own are encoded on several cores, unless ``usesSeveralCores`` is
  /// false. Committing, and waiting for it, happens elsewhere.
  ///
  /// - Throws: as ``park(_:)-(T)`` for tasks.
  nonisolated(nonsending)
    public func parkAll<S: Sequence>(_ objects: S) async throws
  where S.Element: Codable & Identifiable & Sendable {
    try await commit(encoded: graphs(ofAllSendable: objects))
  }

  /// Parks values and everything they refer to, all in one write. Values are identified by their content.
  ///
  /// Many that hold no objects with records of their own are encoded on several cores, unless ``usesSeveralCores`` is
  /// false. Committing, and waiting for it, happens elsewhere.
  ///
  /// - Throws: as ``park(_:)-(T)`` for tasks.
  nonisolated(nonsending)
    public func parkAll<S: Sequence>(_ values: S) async throws
  where S.Element: Codable & Hashable & Sendable {
    try await commit(encoded: graphs(ofAllSendable: values))
  }

  /// Parks objects and everything they refer to, all in one write.
  ///
  /// Many that hold no objects with records of their own are encoded on several cores, unless ``usesSeveralCores`` is
  /// false. Committing, and waiting for it, happens elsewhere.
  ///
  /// - Throws: as ``park(_:)-(T)`` for tasks.
  nonisolated(nonsending)
    public func parkAll<S: Sequence>(_ objects: S) async throws
  where S.Element: Codable & Hashable & Identifiable & Sendable {
    try await commit(encoded: graphs(ofAllSendable: objects))
  }
}
