internal import GarageDriver

// The ends of queries once more, for tasks and for objects that belong to no actor: they run on a thread of the library's,
// with the functions of the query's condition. `query(_:)` could tell these types as well, but a second one of that name would
// let the compiler take seconds for conditions of a few terms.
//
// The types of properties must belong to no actor either, because their `<`, `==` and `hash(into:)` are called there.

extension Query where Root: SendableMetatype {
  /// The objects found, in the order of the query, decoded on a thread of the library's.
  ///
  /// - Throws: as the verb without `async`, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func retrieveAll() async throws -> sending [Root]
  {
    Carried(try await elsewhere.ask { try $0.retrieveAll() }).value
  }

  /// The first object found, decoded on a thread of the library's; nil if there is none.
  ///
  /// - Throws: as the verb without `async`, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func first() async throws -> sending Root?
  {
    Carried(try await elsewhere.ask { try $0.first() }).value
  }

  /// The number of objects found.
  ///
  /// - Throws: as the verb without `async`, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func count() async throws -> Int
  {
    try await elsewhere.ask { try $0.count() }
  }

  /// Whether nothing is found.
  ///
  /// - Throws: as the verb without `async`, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func isEmpty() async throws -> Bool
  {
    try await elsewhere.ask { try $0.isEmpty() }
  }

  /// The identifiers of the objects found, in the order of the query.
  ///
  /// - Throws: as the verb without `async`, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func identifiers() async throws -> [Identifier]
  {
    try await elsewhere.ask { try $0.identifiers() }
  }

  /// One property of each object found, in the order of the query.
  ///
  /// - Throws: as the verb without `async`, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func values<Value: Codable & SendableMetatype>(_ property: KeyPath<Root, Value>) async throws
    -> [Value]
  {
    try await elsewhere.ask { try $0.values(property) }
  }

  /// Two properties of each object found, in the order of the query.
  ///
  /// - Throws: as the verb without `async`, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func values<First: Codable & SendableMetatype, Second: Codable & SendableMetatype>(
      _ first: KeyPath<Root, First>, _ second: KeyPath<Root, Second>
    ) async throws -> [(First, Second)]
  {
    try await elsewhere.ask { try $0.values(first, second) }
  }

  /// The different values that a property has among the objects found.
  ///
  /// - Throws: as the verb without `async`, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func distinct<Value: Hashable & Codable & SendableMetatype>(_ property: KeyPath<Root, Value>)
    async throws -> [Value]
  {
    try await elsewhere.ask { try $0.distinct(property) }
  }

  /// For each value of a property, how many of the objects found have it.
  ///
  /// - Throws: as the verb without `async`, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func countByValue<Value: Hashable & Codable & SendableMetatype>(
      _ property: KeyPath<Root, Value>
    ) async throws -> [Value: Int]
  {
    try await elsewhere.ask { try $0.countByValue(property) }
  }

  /// The least value of a property among the objects found; nil if no object is found.
  ///
  /// - Throws: as the verb without `async`, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func min<Value: Comparable & Codable & SendableMetatype>(_ property: KeyPath<Root, Value>)
    async throws -> Value?
  {
    try await elsewhere.ask { try $0.min(property) }
  }

  /// Does the same for an optional property. Objects whose value is nil do not count.
  ///
  /// - Throws: as the verb without `async`, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func min<Value: Comparable & Codable & SendableMetatype>(_ property: KeyPath<Root, Value?>)
    async throws -> Value?
  {
    try await elsewhere.ask { try $0.min(property) }
  }

  /// The greatest value of a property among the objects found; nil if no object is found.
  ///
  /// - Throws: as the verb without `async`, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func max<Value: Comparable & Codable & SendableMetatype>(_ property: KeyPath<Root, Value>)
    async throws -> Value?
  {
    try await elsewhere.ask { try $0.max(property) }
  }

  /// Does the same for an optional property. Objects whose value is nil do not count.
  ///
  /// - Throws: as the verb without `async`, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func max<Value: Comparable & Codable & SendableMetatype>(_ property: KeyPath<Root, Value?>)
    async throws -> Value?
  {
    try await elsewhere.ask { try $0.max(property) }
  }

  /// The sum of a property over the objects found; 0 if no object is found.
  ///
  /// - Throws: as the verb without `async`, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func sum<Value: Numeric & Codable & SendableMetatype>(_ property: KeyPath<Root, Value>)
    async throws -> Value
  {
    try await elsewhere.ask { try $0.sum(property) }
  }

  /// Does the same for an optional property. Objects whose value is nil do not count.
  ///
  /// - Throws: as the verb without `async`, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func sum<Value: Numeric & Codable & SendableMetatype>(_ property: KeyPath<Root, Value?>)
    async throws -> Value
  {
    try await elsewhere.ask { try $0.sum(property) }
  }

  /// The mean of a property over the objects found; nil if no object is found.
  ///
  /// - Throws: as the verb without `async`, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func average<Value: Numeric & Codable & SendableMetatype>(_ property: KeyPath<Root, Value>)
    async throws -> Double?
  {
    try await elsewhere.ask { try $0.average(property) }
  }

  /// Does the same for an optional property. Objects whose value is nil do not count.
  ///
  /// - Throws: as the verb without `async`, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func average<Value: Numeric & Codable & SendableMetatype>(_ property: KeyPath<Root, Value?>)
    async throws -> Double?
  {
    try await elsewhere.ask { try $0.average(property) }
  }

  /// The next page of the objects that the query finds.
  ///
  /// - Throws: as the verb without `async`, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func page(after cursor: QueryCursor? = nil, size: Int) async throws -> QueryPage<Root>
  {
    try await elsewhere.ask { try $0.page(after: cursor, size: size) }
  }

  /// How the query is executed.
  ///
  /// - Throws: as the verb without `async`, and `CancellationError` if the task was cancelled.
  nonisolated(nonsending)
    public func explain() async throws -> QueryPlan
  {
    try await elsewhere.ask { try $0.explain() }
  }

  /// Calls `body` with one object found after another, where the caller is. The objects are decoded on a thread of the
  /// library's.
  ///
  /// Which objects are found is settled at the beginning. They are read in pages: each object is as it is when its page is
  /// read, and objects that were deleted meanwhile are not visited. The keys of all objects are in memory, and one page of
  /// objects.
  ///
  /// - Throws: the errors of `body`, which end the call, as ``retrieveAll()``, and `CancellationError`.
  nonisolated(nonsending)
    public func forEach(_ body: (Root) throws -> Void) async throws
  {
    try await elsewhere.visitPages(body)
  }

  /// The objects found, one after another, in pages that are decoded on a thread of the library's.
  public func objects() -> QueryObjects<Root> { QueryObjects(query: elsewhere) }

  /// Deletes the objects found, all in one write. Returns how many there were.
  ///
  /// - Throws: as the verb without `async`, and `CancellationError` if the task was cancelled before that began.
  @discardableResult
  nonisolated(nonsending)
    public func deleteAll() async throws -> Int
  {
    if let garage = reader as? Garage, try garage.followsDeleteRules(Root.self) {
      try await garage.prepareReferrerIndexElsewhere()
    }
    return try await change { try $0.deleteAll() }
  }

  /// Changes the objects found and parks them again, all in one write, on a thread of the library's. Returns how many there
  /// were.
  ///
  /// - Throws: as the verb without `async`, and `CancellationError` if the task was cancelled before that began.
  @discardableResult
  nonisolated(nonsending)
    public func updateAll(_ change: @escaping @Sendable (inout Root) throws -> Void) async throws -> Int
  {
    try await self.change { try $0.updateAll(change) }
  }

  /// The same query for objects that may be decoded away from the caller.
  private var elsewhere: Query {
    var query = self
    query.mayLeave = true
    return query
  }
}
