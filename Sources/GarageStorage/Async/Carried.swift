/// Carries a value from a task to a thread of the library's and back.
///
/// Unchecked: the task waits until the thread no longer uses the value.
@usableFromInline
struct Carried<Value>: @unchecked Sendable {
  @usableFromInline var value: Value
  @inlinable
  init(_ value: Value) { self.value = value }
}

/// The place where a thread of the library's puts a result for the task that waits for it.
///
/// Unchecked: the task looks only after the thread is done.
final class CarriedResult<Value>: @unchecked Sendable {
  var value: Value?
}

/// Runs a closure that is not async. In it, a verb that exists in both kinds is the one that is not async.
@inline(__always)
func inPlace<R>(_ body: () throws -> R) rethrows -> R { try body() }
