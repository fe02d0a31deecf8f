public import Observation

/// What a query finds, for views: it follows the garage, and views that show it follow.
///
/// ```swift
/// @State private var people = LiveQuery(garage.query(Person.self).sorted(by: \.name), in: garage)
/// var body: some View { List(people.results) { Text($0.name) } }
/// ```
/// It ends when nobody has it any more.
@MainActor @Observable
public final class LiveQuery<Root: Codable> {
  /// What was found last; empty before the first time.
  public private(set) var results: [Root] = []
  /// What went wrong the last time; nil where nothing did. The results before it stay.
  public private(set) var error: (any Error)?
  /// Whether nothing was found out yet.
  public private(set) var isLoading = true
  @ObservationIgnored private var following: Task<Void, Never>?

  /// Follows what the query finds in the garage that it is asked through.
  public init(_ query: Query<Root>, in garage: Garage) {
    let values = garage.values(of: query)
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

/// One object, for views: it follows the garage, and views that show it follow.
@MainActor @Observable
public final class LiveObject<Object: Codable & Identifiable> {
  /// The object; nil while there is none, and before it was found out.
  public private(set) var object: Object?
  /// What went wrong the last time; nil where nothing did.
  public private(set) var error: (any Error)?
  /// Whether nothing was found out yet.
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

/// Hands on what there is, until `show` says no.
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
