/// Whether something comes true within a minute: how soon says more of what else runs than of the library.
///
/// It is asked a few hundred times at least. Where other tests hold all threads of the pool for that minute, those that are to
/// make it true have had no turn yet.
func comesTrue(
  every pause: Duration = .milliseconds(10), isolation: isolated (any Actor)? = #isolation,
  _ condition: () throws -> Bool
) async throws -> Bool {
  let end = ContinuousClock.now + .seconds(60)
  var askedCount = 0
  repeat {
    if try condition() { return true }
    askedCount += 1
    try await Task.sleep(for: pause)
  } while ContinuousClock.now < end || askedCount < 300
  return try condition()
}
