internal import CGarage

/// Threads of the library's, for which nobody waits.
package enum DetachedThread {
  /// Runs `body` on a thread of its own; false where the system gives none.
  package static func start(_ body: @convention(c) () -> Void) -> Bool { garage_start_thread(body) }
}
