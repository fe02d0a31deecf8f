internal import GarageDriver

/// Something that a garage holds, as it is and then after each change that can concern it, for `for try await`.
///
/// ```swift
/// for try await adults in garage.values(of: garage.query(Person.self).where(\.age >= 18)) { show(adults) }
/// ```
/// It is read when somebody asks for the next: a slow reader misses what was in between, and always gets the last state.
/// What is `Equatable` and equal to what was there before is not given again. It ends when the task is cancelled.
///
/// A commit concerns what it changes of the objects and keys that were read, those reached by references included. Of
/// more than a thousand objects it is enough that one of their types changed. What other processes commit is looked for
/// ten times a second, as long as somebody listens; each of their commits concerns everything.
public struct GarageValues<Element>: AsyncSequence {
  /// What reading can throw.
  public typealias Failure = any Error

  /// Where it is read.
  enum Place {
    /// On a thread of the library's.
    case elsewhere
    /// Fetched there, and decoded where the caller is.
    case fetched
    /// Where the caller is, unless the storage waits for each call.
    case here
  }

  let garage: Garage
  let place: Place
  let read: (ReadAccess) throws -> Element
  let isEqual: ((Element, Element) -> Bool)?
  /// What is done on a thread of the library's before it is read first.
  var prepare: (() -> Void)?

  /// Reads, waits, and reads again.
  public struct AsyncIterator: AsyncIteratorProtocol {
    /// What reading can throw.
    public typealias Failure = any Error

    private let values: GarageValues
    private var hearing: Hearing?
    private var last: Element?

    init(_ values: GarageValues) { self.values = values }

    /// What is there, and later what is there when something has changed; nil when the task was cancelled.
    ///
    /// - Throws: as the verb that reads it: ``GarageReading/retrieve(_:identifier:)-(T.Type,T.ID)`` and its like. One may ask
    ///   again after that.
    public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> Element? {
      do {
        while true {
          if let hearing {
            guard await hearing.listener.next() != nil else {
              // A closed garage says so.
              if hearing.listener.isEnded && !Task.isCancelled { throw GarageError.closed }
              return nil
            }
          }
          let hearing = hearing ?? Hearing(values.garage)
          if self.hearing == nil, let prepare = values.prepare {
            try await values.garage.leaving { _ in prepare() }
          }
          self.hearing = hearing
          let value = try await values.readWatched(hearing)
          if let last, let isEqual = values.isEqual, isEqual(last, value) { continue }
          last = values.isEqual == nil ? nil : value
          return value
        }
      } catch is CancellationError where Task.isCancelled {
        return nil
      }
    }
  }

  /// Begins with what is there.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

  /// Reads, and notes what was read.
  nonisolated(nonsending)
    private func readWatched(_ hearing: Hearing) async throws -> Element
  {
    // Whatever is committed from here on and concerns what is read is news.
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
  /// Runs `body`, and notes what it reads.
  fileprivate func watching<R>(_ body: (ReadAccess) throws -> R) throws -> (R, Interest) {
    let watched = WatchedTransaction(transaction, isSealed: garage.objectKeys.isSealed)
    return try withExtendedLifetime(watched) {
      let result = try body(ReadAccess(garage: garage, transaction: watched))
      return (result, watched.interest)
    }
  }
}

/// How to compare what may be `Equatable`.
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

// MARK: - What can be listened to

extension Garage {
  /// What changes, from when somebody begins to listen: after each commit, and at once after changes of this garage that
  /// stay unsaved. What comes while nobody asks is merged, so that nothing is missed and memory stays bounded.
  public func changes() -> GarageChangesSequence { GarageChangesSequence(garage: self) }

  /// What a query finds, now and after each change that can concern it. See ``GarageValues``.
  public func values<T: Codable>(of query: Query<T>) -> GarageValues<[T]> {
    GarageValues(
      garage: self, place: query.mayLeave ? .elsewhere : .fetched,
      read: { access in
        let reader = GarageReader(access)
        defer { reader.end() }
        var query = query
        query.reader = reader
        return try query.retrieveAll()
      }, isEqual: equality([T].self),
      // Where an index cannot be made, the query does without, or says why it cannot be asked.
      prepare: query.mayLeave && !indexing.isSettled(T.self) ? { try? self.prepareIndexes(of: T.self) } : nil)
  }

  /// The object with this identifier, nil while there is none, now and after each change that can concern it.
  public func values<T: Codable & Identifiable>(of type: T.Type, identifier: T.ID) -> GarageValues<T?> {
    GarageValues(
      garage: self, place: .fetched,
      read: { try $0.object(type, $0.identifier(of: type, identifier)) }, isEqual: equality(T?.self))
  }

  /// The object with this identifier, nil while there is none, now and after each change that can concern it; decoded
  /// elsewhere.
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
