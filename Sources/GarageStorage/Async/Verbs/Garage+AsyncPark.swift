internal import GarageCoding
internal import GarageDriver

// Parking for tasks. Objects are encoded where the caller is, and committed on a thread of the library's.

extension Garage {
  /// Parks an object and everything it refers to, as they are now, under the object's `id`.
  ///
  /// The object is encoded where the caller is. The commit is made, and waited for, on a thread of the library's. Objects that
  /// several tasks park at the same time are committed together.
  ///
  /// - Throws: as ``GarageWriting/park(_:)-(T)``, and `CancellationError` if the task was cancelled before the commit began.
  ///   Nothing is changed then.
  nonisolated(nonsending)
    public func park<T: Codable & Identifiable>(_ object: T) async throws
  {
    try await commit(encoded: graph(of: object))
  }

  /// Parks a value that is identified by its content.
  ///
  /// - Throws: as ``park(_:)-(T)``.
  nonisolated(nonsending)
    public func park<T: Codable & Hashable>(_ value: T) async throws
  {
    try await commit(encoded: graph(of: value))
  }

  /// Parks an object under its `id`.
  ///
  /// - Throws: as ``park(_:)-(T)``.
  nonisolated(nonsending)
    public func park<T: Codable & Hashable & Identifiable>(_ object: T) async throws
  {
    try await commit(encoded: graph(of: object))
  }

  /// Parks objects and everything they refer to, all in one write.
  ///
  /// - Throws: as ``park(_:)-(T)``.
  nonisolated(nonsending)
    public func parkAll<S: Sequence>(_ objects: S) async throws where S.Element: Codable & Identifiable
  {
    try await commit(encoded: graph(ofAll: objects))
  }

  /// Parks values that are identified by their content, all in one write.
  ///
  /// - Throws: as ``park(_:)-(T)``.
  nonisolated(nonsending)
    public func parkAll<S: Sequence>(_ values: S) async throws where S.Element: Codable & Hashable
  {
    try await commit(encoded: graph(ofAll: values))
  }

  /// Parks objects and everything they refer to, all in one write.
  ///
  /// - Throws: as ``park(_:)-(T)``.
  nonisolated(nonsending)
    public func parkAll<S: Sequence>(_ objects: S) async throws
  where S.Element: Codable & Hashable & Identifiable {
    try await commit(encoded: graph(ofAll: objects))
  }

  /// Parks an object whose type is only known at run time. If conformances of the type belong to an actor, they are found on
  /// that actor only.
  ///
  /// - Throws: as ``GarageWriting/park(any:)`` and ``park(_:)-(T)``.
  nonisolated(nonsending)
    public func park(any object: Any) async throws
  {
    try await commit(encoded: graph(ofAny: [codable(object)]))
  }

  /// Parks objects whose types are only known at run time, all in one write.
  ///
  /// - Throws: as ``park(any:)``.
  nonisolated(nonsending)
    public func parkAll<S: Sequence>(any objects: S) async throws
  {
    try await commit(encoded: graph(ofAny: objects.map { try codable($0) }))
  }

  /// Parks a mapped object and everything it refers to.
  ///
  /// - Throws: as ``GarageWriting/park(_:)-(T)`` of a mapped object, and as ``park(_:)-(T)``.
  @_disfavoredOverload
  nonisolated(nonsending)
    public func park<T: MappableObject>(_ object: T) async throws
  {
    try await park(any: object)
  }

  /// Parks mapped objects and everything they refer to, all in one write.
  ///
  /// - Throws: as ``park(_:)-(T)`` of a mapped object.
  @_disfavoredOverload
  nonisolated(nonsending)
    public func parkAll<S: Sequence>(_ objects: S) async throws where S.Element: MappableObject
  {
    try await parkAll(any: objects)
  }

  /// Parks mapped objects of several classes and everything they refer to, all in one write.
  ///
  /// - Throws: as ``park(_:)-(T)`` of a mapped object.
  nonisolated(nonsending)
    public func parkAll<S: Sequence>(_ objects: S) async throws where S.Element == any MappableObject
  {
    try await parkAll(any: objects)
  }

  /// Commits records.
  nonisolated(nonsending)
    func commit(encoded graph: EncodedGraph) async throws
  {
    if graph.records.isEmpty { return }
    try translatingErrors { try meetTypes(of: graph) }
    if graph.inlineTargets.isEmpty {
      try await submitBytes(byteCount: graph.bytes.count) { try $0.put(graph) }
    } else {
      // Objects that stood inline are told that they were parked.
      try await submit { try $0.put(graph) }
    }
  }

  /// Commits several graphs, one after another.
  nonisolated(nonsending)
    func commit(encoded graphs: [EncodedGraph]) async throws
  {
    if graphs.count == 1 { return try await commit(encoded: graphs[0]) }
    for graph in graphs { try translatingErrors { try meetTypes(of: graph) } }
    let byteCount = graphs.reduce(0) { $0 + $1.bytes.count }
    try await submitBytes(byteCount: byteCount) { try $0.put(graphs) }
  }
}
