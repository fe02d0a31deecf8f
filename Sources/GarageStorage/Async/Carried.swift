/// Takes something from a task to a thread of the library's and back.
///
/// Unchecked: the task waits until the thread has let go of it.
@usableFromInline
struct Carried<Value>: @unchecked Sendable {
  @usableFromInline var value: Value
  @inlinable
  init(_ value: Value) { self.value = value }
}

/// Where a thread of the library's puts a result, and the task that waits for it finds it.
///
/// Unchecked: the task looks when the thread is done.
final class CarriedResult<Value>: @unchecked Sendable {
  var value: Value?
}

/// Runs a closure that is not async, in which a verb of two kinds is the one that is not async either.
@inline(__always)
func inPlace<R>(_ body: () throws -> R) rethrows -> R { try body() }
