internal import CGarage

/// Threads that the library starts and does not wait for.
package enum DetachedThread {
  /// Runs `body` on a thread of its own. Returns false if the system gives no thread.
  package static func start(_ body: @convention(c) () -> Void) -> Bool { garage_start_thread(body) }
}
