internal import GarageCoding
internal import GarageDriver

/// The objects of a type, one after another, for `for try await`.
///
/// ```swift
/// for try await person in garage.objects(Person.self) { … }
/// ```
/// They are the objects that were there at the beginning, in the order of their identifiers, each at most once. They are read
/// in pages, each of which shows one state of the store. A page is read when its first object is asked for. Memory holds one
/// page, and the keys of all objects.
public struct GarageObjects<Element: Codable>: AsyncSequence {
  /// Reading can throw any error.
  public typealias Failure = any Error

  let garage: Garage
  let decodesElsewhere: Bool

  /// Goes through the objects.
  public struct AsyncIterator: AsyncIteratorProtocol {
    /// Reading can throw any error.
    public typealias Failure = any Error

    let garage: Garage
    let decodesElsewhere: Bool
    private var pages: ObjectPages<Element>?
    private var page: ArraySlice<Element> = []

    init(_ garage: Garage, decodesElsewhere: Bool) {
      self.garage = garage
      self.decodesElsewhere = decodesElsewhere
    }

    /// The next object, decoded where the caller is or on a thread of the library's; nil at the end.
    ///
    /// - Throws: as ``GarageReading/forEach(_:_:)``, and `CancellationError` if the task was cancelled. After an error it may
    ///   be called again: no object is skipped.
    public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> Element? {
      try Task.checkCancellation()
      if pages == nil {
        pages = try await ObjectPages<Element>(of: garage, decodesElsewhere: decodesElsewhere)
      }
      while page.isEmpty, let next = try await pages?.next() { page = next[...] }
      return page.popFirst()
    }
  }

  /// Begins at the first object.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(garage, decodesElsewhere: decodesElsewhere)
  }
}

extension Garage {
  /// The objects of a type, one after another, in pages that are decoded where the caller is.
  public func objects<T: Codable>(_ type: T.Type) -> GarageObjects<T> {
    GarageObjects(garage: self, decodesElsewhere: false)
  }

  /// The objects of a type, one after another, in pages that are decoded on a thread of the library's.
  public func objects<T: Codable & SendableMetatype>(_ type: T.Type) -> sending GarageObjects<T> {
    GarageObjects(garage: self, decodesElsewhere: true)
  }
}

/// The objects that a type had at the beginning, a page at a time.
final class ObjectPages<T: Codable> {
  private static var pageSize: Int { 200 }

  private let garage: Garage
  private let decodesElsewhere: Bool
  private let keys: KeyList
  /// How many objects have been read.
  private var readCount = 0

  /// - Parameter keys: the keys of the objects, in the order in which they are to be read.
  init(of garage: Garage, _ keys: KeyList, decodesElsewhere: Bool) {
    self.garage = garage
    self.decodesElsewhere = decodesElsewhere
    self.keys = keys
  }

  /// Finds the keys of the objects.
  nonisolated(nonsending)
    init(of garage: Garage, decodesElsewhere: Bool) async throws
  {
    self.garage = garage
    self.decodesElsewhere = decodesElsewhere
    try translatingErrors { _ = try RecordTypeFacts.of(T.self) }
    keys = try await garage.reading { access, _ in
      var keys = KeyList()
      try access.visitRecordKeys(T.self) { key in keys.append(key.bytes.span.bytes) }
      return keys
    }
  }

  /// The next page, which may be empty; nil after the last one.
  nonisolated(nonsending)
    func next() async throws -> [T]?
  {
    try await next { try $0.objects(T.self, $1, $2) }
  }

  /// The next page, including the objects that cannot be read.
  nonisolated(nonsending)
    func nextOutcomes() async throws -> [ReadAccess.Outcome<T>]?
  {
    try await next { try $0.outcomes(T.self, $1, $2) }
  }

  nonisolated(nonsending)
    private func next<R>(
      _ read: @escaping (ReadAccess, [StorageKey], Cancellation) throws -> [R]
    ) async throws -> [R]?
  {
    if readCount == keys.count { return nil }
    let end = min(readCount + ObjectPages.pageSize, keys.count)
    let page = keys.keys(readCount..<end)
    let found: [R]
    if decodesElsewhere {
      found = try await garage.reading { try read($0, page, $1) }
    } else {
      found = try await garage.readingFetched(beginningWith: page) { try read($0, page, Cancellation()) }
    }
    // Set only now: after an error the next call gets the same page.
    readCount = end
    return found
  }
}

extension ReadAccess {
  /// Decodes the records with these keys, as far as they exist.
  fileprivate func objects<T: Codable>(
    _ type: T.Type, _ keys: [StorageKey], _ cancellation: Cancellation
  ) throws -> [T] {
    let facts = try RecordTypeFacts.of(type)
    let (session, source) = makeSessionAndSource()
    var (rest, objects) = (try presentKeys(of: keys, facts)[...], [T]())
    try visitRecords(withKeys: { rest.popFirst() }, source, isPrefetching: fetchesAhead) { key, record in
      try cancellation.check()
      source.countRecord(record.byteCount)
      return try decode(type, key, record, typeName: facts.name, session)
    } visit: {
      objects.append($0)
    }
    return objects
  }
}
