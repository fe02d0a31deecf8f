public import Observation

/// The results of a query, for views. They follow the garage, and so do the views that show them.
///
/// ```swift
/// @State private var people = LiveQuery(garage.query(Person.self).sorted(by: \.name), in: garage)
/// var body: some View { List(people.results) { Text($0.name) } }
/// ```
/// It stops following when it is released.
@MainActor @Observable
public final class LiveQuery<Root: Codable> {
  /// The last results; empty before the first ones.
  public private(set) var results: [Root] = []
  /// The error of the last attempt; nil if it succeeded. The results before it stay.
  public private(set) var error: (any Error)?
  /// Whether there has been neither a result nor an error yet.
  public private(set) var isLoading = true
  @ObservationIgnored private var following: Task<Void, Never>?

  /// Follows the results of a query in the garage that the query belongs to.
  public convenience init(_ query: Query<Root>, in garage: Garage) {
    self.init(following: garage.values(of: query))
  }

  /// Follows the results of a query in the garage that the query belongs to. They are decoded on a thread of the library's.
  public convenience init(_ query: Query<Root>, in garage: Garage) where Root: SendableMetatype {
    self.init(following: garage.values(of: query))
  }

  private init(following values: GarageValues<[Root]>) {
    following = Task { [weak self] in
      await follow(values) { self?.show($0) ?? false }
    }
  }

  deinit { following?.cancel() }

  private func show(_ outcome: Result<[Root], any Error>) -> Bool {
    isLoading = false
    switch outcome {
    case .success(let found): (results, error) = (found, nil)
    case .failure(let failure): error = failure
    }
    return true
  }
}

/// One object, for views. It follows the garage, and so do the views that show it.
@MainActor @Observable
public final class LiveObject<Object: Codable & Identifiable> {
  /// The object; nil while there is none, and before the first result.
  public private(set) var object: Object?
  /// The error of the last attempt; nil if it succeeded.
  public private(set) var error: (any Error)?
  /// Whether there has been neither a result nor an error yet.
  public private(set) var isLoading = true
  @ObservationIgnored private var following: Task<Void, Never>?

  /// Follows the object with this identifier.
  public init(_ type: Object.Type, identifier: Object.ID, in garage: Garage) {
    let values = garage.values(of: type, identifier: identifier)
    following = Task { [weak self] in
      await follow(values) { self?.show($0) ?? false }
    }
  }

  deinit { following?.cancel() }

  private func show(_ outcome: Result<Object?, any Error>) -> Bool {
    isLoading = false
    switch outcome {
    case .success(let found): (object, error) = (found, nil)
    case .failure(let failure): error = failure
    }
    return true
  }
}

/// Passes the elements to `show`, until that returns false.
@MainActor
private func follow<Element>(
  _ values: GarageValues<Element>, _ show: (Result<Element, any Error>) -> Bool
) async {
  var iterator = values.makeAsyncIterator()
  while !Task.isCancelled {
    do {
      guard let value = try await iterator.next() else { return }
      if !show(.success(value)) { return }
    } catch {
      if !show(.failure(error)) || error as? GarageError == .closed { return }
    }
  }
}
