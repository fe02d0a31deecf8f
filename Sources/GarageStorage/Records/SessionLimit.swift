internal import GarageCoding

/// Tells when a session that goes through many objects has to release those that it holds.
///
/// All that one object reaches has to be held while it is decoded. Twice as much as the largest such graph may be kept, so that
/// objects that reach the same large part of a graph do not each decode it again.
struct SessionLimit {
  private var objects = Limit(least: 10_000)
  private var bytes = Limit(least: 8 << 20)

  private struct Limit {
    let least: Int
    var largestStep = 0
    var before = 0

    mutating func note(_ now: Int) {
      largestStep = max(largestStep, now - before)
      before = now
    }

    func isReached(by now: Int) -> Bool { now > max(least, 2 * largestStep) }
  }

  /// Called before an object is decoded.
  mutating func resetIfReached(_ session: GraphDecodingSession, _ source: TransactionSource) {
    objects.note(session.objectCount)
    bytes.note(source.recordByteCount)
    guard objects.isReached(by: session.objectCount) || bytes.isReached(by: source.recordByteCount) else {
      return
    }
    session.reset()
    source.noteForgotten()
    source.recordByteCount = 0
    objects.before = 0
    bytes.before = 0
  }
}
