internal import GarageDriver

/// The results of a query, one object after another, for `for try await`.
///
/// They are read in pages (``Query/page(after:size:)``) as they are asked for. Each page shows one state of the store; objects
/// that come or go in between do not shift the pages. A query throws if it is sorted by a property that only its Swift type can
/// order. If no index has the query's order, the objects are sorted again for each page of 200: for a long list
/// ``Query/retrieveAll()`` takes far less time.
public struct QueryObjects<Element: Codable>: AsyncSequence {
  /// Reading can throw any error.
  public typealias Failure = any Error

  let query: Query<Element>

  /// Goes through the objects.
  public struct AsyncIterator: AsyncIteratorProtocol {
    /// Reading can throw any error.
    public typealias Failure = any Error

    let query: Query<Element>
    private var page: ArraySlice<Element> = []
    private var next: QueryCursor?
    private var isAtEnd = false

    init(_ query: Query<Element>) { self.query = query }

    /// The next object, decoded where the caller is or on a thread of the library's; nil at the end.
    ///
    /// - Throws: as ``Query/page(after:size:)``, and `CancellationError` if the task was cancelled.
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

  /// Begins at the first object.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(query) }
}

extension Query {
  /// The objects found, one after another, in pages that are decoded where the caller is.
  public func objects() -> QueryObjects<Root> { QueryObjects(query: self) }
}
