internal import GarageDriver

/// Something that a garage holds, first as it is now and then after each change that can concern it, for `for try await`.
///
/// ```swift
/// for try await adults in garage.values(of: garage.query(Person.self).where(\.age >= 18)) { show(adults) }
/// ```
/// It is read when the next element is asked for. So a slow reader misses states in between, and always gets the last one. If
/// an element is `Equatable` and equals the one before, it is not given again: a change that its `==` does not look at is not
/// heard of, as of a type that compares the `id` alone, or of objects that it holds by ``Linked``. The sequence ends when the
/// task is cancelled.
///
/// A commit concerns it if it changes one of the objects and keys that were read, including those reached by references. If
/// more than a thousand objects were read, a change of any object of their types concerns it. Commits of other processes are
/// looked for ten times a second as long as somebody listens; each of them concerns everything.
public struct GarageValues<Element>: AsyncSequence {
  /// Reading can throw any error.
  public typealias Failure = any Error

  /// Where the element is read.
  enum Place {
    /// On a thread of the library's.
    case elsewhere
    /// Fetched on a thread of the library's, and decoded where the caller is.
    case fetched
    /// Where the caller is, unless each call of the storage makes it wait.
    case here
  }

  let garage: Garage
  let place: Place
  let read: (ReadAccess) throws -> Element
  let isEqual: ((Element, Element) -> Bool)?
  /// The type whose indexes are made ready before the first read.
  var indexedType: (any Codable.Type)?

  /// Reads, waits for a change, and reads again.
  public struct AsyncIterator: AsyncIteratorProtocol {
    /// Reading can throw any error.
    public typealias Failure = any Error

    private let values: GarageValues
    private var hearing: Hearing?
    private var last: Element?

    init(_ values: GarageValues) { self.values = values }

    /// The present state at first, and later the state after a change. Nil when the task was cancelled.
    ///
    /// - Throws: as the verb that reads it, for instance ``GarageReading/retrieve(_:identifier:)-(T.Type,T.ID)``. After an
    ///   error it may be called again.
    public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> Element? {
      do {
        while true {
          if let hearing {
            guard await hearing.listener.next() != nil else {
              // If the garage was closed, that is thrown.
              if hearing.listener.isEnded && !Task.isCancelled { throw GarageError.closed }
              return nil
            }
          }
          let hearing = hearing ?? Hearing(values.garage)
          if self.hearing == nil { try await values.prepareIndexes() }
          self.hearing = hearing
          let value = try await values.readWatched(hearing)
          if let last, let isEqual = values.isEqual, isEqual(last, value) { continue }
          last = values.isEqual == nil ? nil : value
          return value
        }
      } catch is CancellationError where Task.isCancelled {
        return nil
      } catch {
        // What comes after an error is given, also if it equals what came before: it tells that the error is over.
        last = nil
        throw error
      }
    }
  }

  /// Begins with the present state.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

  /// Makes indexes ready. If one cannot be made, the query does without it, or throws the reason why it cannot.
  nonisolated(nonsending)
    private func prepareIndexes() async throws
  {
    guard let type = indexedType, !garage.indexing.isSettled(type) else { return }
    if case .elsewhere = place {
      try await garage.leaving { [garage] _ in _ = try? garage.prepareIndexes(of: type) }
    } else {
      try? await garage.prepareIndexesInTask(of: type)
    }
  }

  /// Reads, and notes the keys that were read.
  nonisolated(nonsending)
    private func readWatched(_ hearing: Hearing) async throws -> Element
  {
    // From here on, every commit that concerns what is read counts as news.
    hearing.beginReading()
    var interest = Interest.everything
    defer { hearing.endReading(interest) }
    let read = self.read
    let result: Carried<(Element, Interest)>
    switch place {
    case .elsewhere: result = try await garage.reading { access, _ in Carried(try access.watching(read)) }
    case .fetched: result = Carried(try await garage.readingFetched { try $0.watching(read) })
    case .here: result = Carried(try await garage.readingHere { try $0.watching(read) })
    }
    interest = result.value.1
    return result.value.0
  }
}

extension ReadAccess {
  /// Runs `body`, and notes the keys that it reads.
  fileprivate func watching<R>(_ body: (ReadAccess) throws -> R) throws -> (R, Interest) {
    let watched = WatchedTransaction(transaction, isSealed: garage.objectKeys.isSealed)
    return try withExtendedLifetime(watched) {
      let result = try body(ReadAccess(garage: garage, transaction: watched))
      return (result, watched.interest)
    }
  }
}

/// How to compare two elements, if their type is `Equatable`.
private func equality<T>(_ type: T.Type) -> ((T, T) -> Bool)? {
  guard let type = type as? any Equatable.Type else { return nil }
  func compare<E: Equatable>(_ type: E.Type) -> (T, T) -> Bool {
    { left, right in
      guard let left = left as? E, let right = right as? E else { return false }
      return left == right
    }
  }
  return compare(type)
}

// MARK: - Listening

extension Garage {
  /// The changes from the moment when listening begins. They come after each commit, and at once after changes of this garage
  /// that stay unsaved. Changes that come while nobody asks are merged, so that nothing is missed and memory stays bounded.
  public func changes() -> GarageChangesSequence { GarageChangesSequence(garage: self) }

  /// The results of a query, now and after each change that can concern them. See ``GarageValues``.
  public func values<T: Codable>(of query: Query<T>) -> GarageValues<[T]> { values(of: query, at: .fetched) }

  /// The results of a query, now and after each change that can concern them, decoded on a thread of the library's. See
  /// ``GarageValues``.
  public func values<T: Codable & SendableMetatype>(of query: Query<T>) -> GarageValues<[T]> {
    values(of: query, at: .elsewhere)
  }

  private func values<T: Codable>(of query: Query<T>, at place: GarageValues<[T]>.Place) -> GarageValues<[T]>
  {
    GarageValues(
      garage: self, place: place,
      read: { access in
        let reader = GarageReader(access)
        defer { reader.end() }
        var query = query
        query.reader = reader
        return try query.retrieveAll()
      }, isEqual: equality([T].self), indexedType: T.self)
  }

  /// The object with this identifier, now and after each change that can concern it; nil while there is none.
  public func values<T: Codable & Identifiable>(of type: T.Type, identifier: T.ID) -> GarageValues<T?> {
    GarageValues(
      garage: self, place: .fetched,
      read: { try $0.object(type, $0.identifier(of: type, identifier)) }, isEqual: equality(T?.self))
  }

  /// The object with this identifier, now and after each change that can concern it; nil while there is none. It is decoded on
  /// a thread of the library's.
  public func values<T: Codable & Identifiable & SendableMetatype>(
    of type: T.Type, identifier: T.ID
  ) -> sending GarageValues<T?> where T.ID: Sendable {
    GarageValues(
      garage: self, place: .elsewhere,
      read: { try $0.object(type, $0.identifier(of: type, identifier)) }, isEqual: equality(T?.self))
  }

  /// The value of a key, now and after each change.
  public func values<K: KeyType>(of key: K) -> GarageValues<K.ValueType> where K.ValueType: Codable {
    GarageValues(
      garage: self, place: .here, read: { try $0.value(of: key) ?? key.defaultValue },
      isEqual: equality(K.ValueType.self))
  }
}
