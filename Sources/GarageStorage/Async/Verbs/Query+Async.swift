internal import GarageCoding
internal import GarageDriver

// The ends of queries, for tasks, and for objects that may belong to the caller's actor: their bytes are fetched on a thread of
// the library's, and they are decoded where the caller is. Types that belong to no actor have ends of their own.

extension Query {
  /// Runs an end of the query.
  nonisolated(nonsending)
    func ask<R>(_ end: @escaping (Query) throws -> R) async throws -> R
  {
    guard let garage = reader as? Garage else { return try end(self) }
    if mayLeave {
      return try await garage.leaving { cancellation in
        var query = self
        query.cancellation = cancellation
        return try end(query)
      }
    }
    try await garage.prepareIndexesInTask(of: Root.self)
    return try await garage.readingFetched { access in
      let reader = GarageReader(access)
      defer { reader.end() }
      var query = self
      query.reader = reader
      return try end(query)
    }
  }

  /// Runs an end of the query that changes the objects found.
  nonisolated(nonsending)
    func change<R>(_ end: @escaping (Query) throws -> R) async throws -> R
  {
    guard let garage = reader as? Garage else { return try end(self) }
    return try await garage.changing { writer in
      var query = self
      query.reader = writer
      return try end(query)
    }
  }

  /// The objects found, in the order of the query.
  ///
  /// - Throws: as the verb without `async`, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func retrieveAll() async throws -> [Root]
  {
    try await ask { try $0.retrieveAll() }
  }

  /// The first object found; nil if there is none.
  ///
  /// - Throws: as the verb without `async`, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func first() async throws -> Root?
  {
    try await ask { try $0.first() }
  }

  /// The number of objects found.
  ///
  /// - Throws: as the verb without `async`, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func count() async throws -> Int
  {
    try await ask { try $0.count() }
  }

  /// Whether nothing is found.
  ///
  /// - Throws: as the verb without `async`, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func isEmpty() async throws -> Bool
  {
    try await ask { try $0.isEmpty() }
  }

  /// The identifiers of the objects found, in the order of the query.
  ///
  /// - Throws: as the verb without `async`, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func identifiers() async throws -> [Identifier]
  {
    try await ask { try $0.identifiers() }
  }

  /// One property of each object found, in the order of the query.
  ///
  /// - Throws: as the verb without `async`, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func values<Value: Codable>(_ property: KeyPath<Root, Value>) async throws -> [Value]
  {
    try await ask { try $0.values(property) }
  }

  /// Two properties of each object found, in the order of the query.
  ///
  /// - Throws: as the verb without `async`, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func values<First: Codable, Second: Codable>(
      _ first: KeyPath<Root, First>, _ second: KeyPath<Root, Second>
    ) async throws -> [(First, Second)]
  {
    try await ask { try $0.values(first, second) }
  }

  /// The different values that a property has among the objects found.
  ///
  /// - Throws: as the verb without `async`, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func distinct<Value: Hashable & Codable>(_ property: KeyPath<Root, Value>) async throws -> [Value]
  {
    try await ask { try $0.distinct(property) }
  }

  /// For each value of a property, how many of the objects found have it.
  ///
  /// - Throws: as the verb without `async`, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func countByValue<Value: Hashable & Codable>(
      _ property: KeyPath<Root, Value>
    ) async throws -> [Value: Int]
  {
    try await ask { try $0.countByValue(property) }
  }

  /// The least value of a property among the objects found; nil if no object is found.
  ///
  /// - Throws: as the verb without `async`, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func min<Value: Comparable & Codable>(_ property: KeyPath<Root, Value>) async throws -> Value?
  {
    try await ask { try $0.min(property) }
  }

  /// Does the same for an optional property. Objects whose value is nil do not count.
  ///
  /// - Throws: as the verb without `async`, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func min<Value: Comparable & Codable>(_ property: KeyPath<Root, Value?>) async throws -> Value?
  {
    try await ask { try $0.min(property) }
  }

  /// The greatest value of a property among the objects found; nil if no object is found.
  ///
  /// - Throws: as the verb without `async`, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func max<Value: Comparable & Codable>(_ property: KeyPath<Root, Value>) async throws -> Value?
  {
    try await ask { try $0.max(property) }
  }

  /// Does the same for an optional property. Objects whose value is nil do not count.
  ///
  /// - Throws: as the verb without `async`, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func max<Value: Comparable & Codable>(_ property: KeyPath<Root, Value?>) async throws -> Value?
  {
    try await ask { try $0.max(property) }
  }

  /// The sum of a property over the objects found; 0 if no object is found.
  ///
  /// - Throws: as the verb without `async`, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func sum<Value: Numeric & Codable>(_ property: KeyPath<Root, Value>) async throws -> Value
  {
    try await ask { try $0.sum(property) }
  }

  /// Does the same for an optional property. Objects whose value is nil do not count.
  ///
  /// - Throws: as the verb without `async`, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func sum<Value: Numeric & Codable>(_ property: KeyPath<Root, Value?>) async throws -> Value
  {
    try await ask { try $0.sum(property) }
  }

  /// The mean of a property over the objects found; nil if no object is found.
  ///
  /// - Throws: as the verb without `async`, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func average<Value: Numeric & Codable>(_ property: KeyPath<Root, Value>) async throws -> Double?
  {
    try await ask { try $0.average(property) }
  }

  /// Does the same for an optional property. Objects whose value is nil do not count.
  ///
  /// - Throws: as the verb without `async`, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func average<Value: Numeric & Codable>(_ property: KeyPath<Root, Value?>) async throws -> Double?
  {
    try await ask { try $0.average(property) }
  }

  /// The next page of the objects that the query finds.
  ///
  /// - Throws: as the verb without `async`, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func page(after cursor: QueryCursor? = nil, size: Int) async throws -> QueryPage<Root>
  {
    try await ask { try $0.page(after: cursor, size: size) }
  }

  /// How the query is executed.
  ///
  /// - Throws: as the verb without `async`, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func explain() async throws -> QueryPlan
  {
    try await ask { try $0.explain() }
  }

  /// Calls `body` with one object found after another, where the caller is.
  ///
  /// Which objects are found is settled at the beginning. They are read in pages: each object is as it is when its page is
  /// read, and objects that were deleted meanwhile are not visited. The keys of all objects are in memory, and one page of
  /// objects.
  ///
  /// - Throws: the errors of `body`, which end the call, as ``retrieveAll()``, and `CancellationError`.
  nonisolated(nonsending)
    public func forEach(_ body: (Root) throws -> Void) async throws
  {
    try await visitPages(body)
  }

  nonisolated(nonsending)
    func visitPages(_ body: (Root) throws -> Void) async throws
  {
    guard let garage = reader as? Garage else { return try inPlace { try self.forEach(body) } }
    let pages = try await pages(of: garage)
    while let page = try await pages.next() {
      for object in page {
        try Task.checkCancellation()
        try body(object)
      }
    }
  }

  nonisolated(nonsending)
    private func pages(of garage: Garage) async throws -> ObjectPages<Root>
  {
    if condition == nil && sortKeys.isEmpty && maximumCount == nil {
      // Keys tell which objects these are, so no records of types that belong to an actor are fetched to find out.
      return try await ObjectPages(of: garage, decodesElsewhere: mayLeave)
    }
    let keys = try await ask { query in try query.run { try $0.sortedKeys() } }
    return ObjectPages(of: garage, keys, decodesElsewhere: mayLeave)
  }
}
