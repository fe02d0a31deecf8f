internal import CGarage

/// Words in memory that other processes may change at any time. Each word changes as a whole.
package enum SharedWords {
  /// Copies words from a place, as many as there is room for.
  package static func copy(to words: UnsafeMutableRawBufferPointer, from place: UnsafeRawPointer) {
    let count = words.count / MemoryLayout<UInt64>.size
    guard let start = words.baseAddress, count > 0 else { return }
    garage_copy_shared(
      start.assumingMemoryBound(to: UInt64.self), place.assumingMemoryBound(to: UInt64.self), count)
  }

  /// Whether a place still has the words that were copied from it. What is read after this call is no older than these words.
  package static func areSame(_ words: UnsafeRawBufferPointer, at place: UnsafeRawPointer) -> Bool {
    let count = words.count / MemoryLayout<UInt64>.size
    guard let start = words.baseAddress, count > 0 else { return true }
    return garage_is_same_shared(
      start.assumingMemoryBound(to: UInt64.self), place.assumingMemoryBound(to: UInt64.self), count)
  }
}
