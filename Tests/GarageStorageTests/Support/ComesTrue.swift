/// Whether something comes true within a minute: how soon says more of what else runs than of the library.
func comesTrue(
  every pause: Duration = .milliseconds(10), isolation: isolated (any Actor)? = #isolation,
  _ condition: () throws -> Bool
) async throws -> Bool {
  let end = ContinuousClock.now + .seconds(60)
  repeat {
    if try condition() { return true }
    try await Task.sleep(for: pause)
  } while ContinuousClock.now < end
  return try condition()
}
