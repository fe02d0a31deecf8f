#if PostgreSQL
  internal import Synchronization

  /// Counts the round trips of one storage.
  final class PostgreSQLTrips: Sendable {
    private let number = Atomic<Int>(0)
    var current: Int { number.load(ordering: .relaxed) }
    func count() { number.wrappingAdd(1, ordering: .relaxed) }
  }
#endif
