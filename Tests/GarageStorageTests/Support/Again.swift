import GarageStorage

/// Runs `body` again where an engine asks for that, up to a minute: for what a garage does not repeat by itself, because it
/// runs code of its user's.
func again<R>(_ body: () throws -> R) throws -> R {
  let end = ContinuousClock.now + .seconds(60)
  while true {
    do { return try body() } catch let error as GarageError where error.isRetryable {
      if ContinuousClock.now > end { throw error }
    }
  }
}
