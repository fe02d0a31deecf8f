/// Runs what is not async in an async function.
func here<R>(_ body: () throws -> R) rethrows -> R { try body() }
