internal import CGarage

/// Words in memory that other processes may change at any time, each in one piece.
package enum SharedWords {
  /// Copies as many as there is room for from a place.
  package static func copy(to words: UnsafeMutableRawBufferPointer, from place: UnsafeRawPointer) {
    let count = words.count / MemoryLayout<UInt64>.size
    guard let start = words.baseAddress, count > 0 else { return }
    garage_copy_shared(
      start.assumingMemoryBound(to: UInt64.self), place.assumingMemoryBound(to: UInt64.self), count)
  }

  /// Whether a place still has words that were copied from it. What is read afterwards is no older than they are.
  package static func areSame(_ words: UnsafeRawBufferPointer, at place: UnsafeRawPointer) -> Bool {
    let count = words.count / MemoryLayout<UInt64>.size
    guard let start = words.baseAddress, count > 0 else { return true }
    return garage_is_same_shared(
      start.assumingMemoryBound(to: UInt64.self), place.assumingMemoryBound(to: UInt64.self), count)
  }
}

/// Runs `body` on a thread of its own, for which nobody waits; false where the system gives none.
package func startThread(_ body: @convention(c) () -> Void) -> Bool { garage_start_thread(body) }
