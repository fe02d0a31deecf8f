internal import CGarage

/// Threads that the library starts and does not wait for.
package enum DetachedThread {
  /// Runs `body` on a thread of its own. Returns false if the system gives no thread.
  package static func start(_ body: @convention(c) () -> Void) -> Bool { garage_start_thread(body) }

  /// Runs `body` on a thread of its own, with a stack of that size. Returns false, and runs nothing, if the system gives no
  /// thread.
  ///
  /// `Foundation.Thread` does not tell of that: its `start()` returns, and nothing ever runs.
  package static func start(stackByteCount: Int, _ body: @escaping @Sendable () -> Void) -> Bool {
    let start = Unmanaged.passRetained(Body(body))
    let isStarted = garage_start_thread_with(
      { context in
        garage_name_thread("Garage")
        Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
        return nil
      }, start.toOpaque(), stackByteCount)
    if !isStarted { start.release() }
    return isStarted
  }

  private final class Body: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }
}
