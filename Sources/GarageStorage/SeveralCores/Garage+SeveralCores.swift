internal import CGarage
internal import Synchronization

extension Garage {
  /// Whether calls that code many objects may use several of the machine's cores. True by default.
  ///
  /// ``retrieveAll(_:)`` and ``parkAll(_:)`` then run `init(from:)` and `encode(to:)` of different objects at the same time, on
  /// the caller's thread and in tasks that see its task-local values. They do so for types that are bound to no actor, for
  /// values, and for records that refer to no others. Results and their order are the same. Processor time is not saved: set
  /// this to false if other work needs the cores, or if a type's code may not run twice at a time. Inside a transaction one
  /// thread does everything.
  public var usesSeveralCores: Bool {
    get { severalCores.load(ordering: .relaxed) }
    set { severalCores.store(newValue, ordering: .relaxed) }
  }

  /// Whether a call that begins now may use several cores.
  ///
  /// It may not inside a transaction. Users' code that is being coded may call the garage. On another thread that call would
  /// wait for the thread that holds the transaction, which itself waits for that code. On the same thread the call is served,
  /// or refused at once.
  @usableFromInline
  var mayUseSeveralCores: Bool {
    CoreCount.helpers > 0 && usesSeveralCores && garage_transaction_count() == 0
  }

  /// All objects of this type, in the order of their identifiers.
  ///
  /// If there are many that refer to nothing, they are decoded on several cores, unless ``usesSeveralCores`` is false.
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

// Overloads of the verbs of `GarageWriting`, for elements that other threads may encode.
extension Garage {
  /// Parks objects and everything they refer to, all in one write.
  ///
  /// If there are many, and they hold no objects with records of their own, they are encoded on several cores, unless
  /// ``usesSeveralCores`` is false.
  ///
  /// - Throws: as ``GarageWriting/parkAll(_:)``.
  public func parkAll<S: Sequence>(_ objects: S) throws
  where S.Element: Codable & Identifiable & Sendable {
    try put(encoded: graphs(ofAllSendable: objects))
  }

  /// Parks values and everything they refer to, all in one write. Values are identified by their content.
  ///
  /// If there are many, and they hold no objects with records of their own, they are encoded on several cores, unless
  /// ``usesSeveralCores`` is false.
  ///
  /// - Throws: as ``GarageWriting/parkAll(_:)``.
  public func parkAll<S: Sequence>(_ values: S) throws
  where S.Element: Codable & Hashable & Sendable {
    try put(encoded: graphs(ofAllSendable: values))
  }

  /// Parks objects and everything they refer to, all in one write.
  ///
  /// If there are many, and they hold no objects with records of their own, they are encoded on several cores, unless
  /// ``usesSeveralCores`` is false.
  ///
  /// - Throws: as ``GarageWriting/parkAll(_:)``.
  public func parkAll<S: Sequence>(_ objects: S) throws
  where S.Element: Codable & Hashable & Identifiable & Sendable {
    try put(encoded: graphs(ofAllSendable: objects))
  }

  /// Parks objects and everything they refer to, all in one write.
  ///
  /// If there are many, and they hold no objects with records of their own, they are encoded on several cores, unless
  /// ``usesSeveralCores`` is false. The commit is made, and waited for, on a thread of the library's.
  ///
  /// - Throws: as ``park(_:)-(T)`` for tasks.
  nonisolated(nonsending)
    public func parkAll<S: Sequence>(_ objects: S) async throws
  where S.Element: Codable & Identifiable & Sendable {
    try await commit(encoded: graphs(ofAllSendable: objects))
  }

  /// Parks values and everything they refer to, all in one write. Values are identified by their content.
  ///
  /// If there are many, and they hold no objects with records of their own, they are encoded on several cores, unless
  /// ``usesSeveralCores`` is false. The commit is made, and waited for, on a thread of the library's.
  ///
  /// - Throws: as ``park(_:)-(T)`` for tasks.
  nonisolated(nonsending)
    public func parkAll<S: Sequence>(_ values: S) async throws
  where S.Element: Codable & Hashable & Sendable {
    try await commit(encoded: graphs(ofAllSendable: values))
  }

  /// Parks objects and everything they refer to, all in one write.
  ///
  /// If there are many, and they hold no objects with records of their own, they are encoded on several cores, unless
  /// ``usesSeveralCores`` is false. The commit is made, and waited for, on a thread of the library's.
  ///
  /// - Throws: as ``park(_:)-(T)`` for tasks.
  nonisolated(nonsending)
    public func parkAll<S: Sequence>(_ objects: S) async throws
  where S.Element: Codable & Hashable & Identifiable & Sendable {
    try await commit(encoded: graphs(ofAllSendable: objects))
  }
}
