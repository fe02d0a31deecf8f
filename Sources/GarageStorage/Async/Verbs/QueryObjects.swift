internal import GarageDriver

/// What a query finds, one object after another, for `for try await`.
///
/// It is read in pages (``Query/page(after:size:)``), each of one state of the store, as they are asked for: objects that
/// come or go in between move nothing. A query sorted by what only a type can order throws. One whose order no index has is sorted
/// anew for each page of 200: of a long list ``Query/retrieveAll()`` takes far less.
public struct QueryObjects<Element: Codable>: AsyncSequence {
  /// What reading can throw.
  public typealias Failure = any Error

  let query: Query<Element>

  /// Goes through the objects.
  public struct AsyncIterator: AsyncIteratorProtocol {
    /// What reading can throw.
    public typealias Failure = any Error

    let query: Query<Element>
    private var page: ArraySlice<Element> = []
    private var next: QueryCursor?
    private var isAtEnd = false

    init(_ query: Query<Element>) { self.query = query }

    /// The next object, decoded where the caller is or elsewhere; nil at the end.
    ///
    /// - Throws: as ``Query/page(after:size:)``, and `CancellationError` where the task was cancelled.
    public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> Element? {
      try Task.checkCancellation()
      while page.isEmpty && !isAtEnd {
        let found: QueryPage<Element> = try await query.page(after: next, size: 200)
        page = found.objects[...]
        next = found.next
        isAtEnd = next == nil
      }
      return page.popFirst()
    }
  }

  /// Begins anew.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(query) }
}

extension Query {
  /// The objects found, one after another, in pages.
  public func objects() -> QueryObjects<Root> { QueryObjects(query: self) }
}

extension Garage {
  /// A query for objects of a type that belongs to no actor: tasks have it answered elsewhere.
  public func query<T: Codable & SendableMetatype>(_ type: T.Type) -> sending Query<T> {
    var query = Query<T>(self)
    query.mayLeave = true
    return query
  }
}
