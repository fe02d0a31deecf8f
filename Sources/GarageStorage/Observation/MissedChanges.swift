internal import GarageDriver
internal import Synchronization

/// What was committed since somebody asked. It is merged when somebody does, and before where it would be much.
struct MissedChanges: Sendable {
  private var earlier = KeyChanges()
  private var logs: [ChangeLog] = []
  private var byteCount = 0

  /// How many commits are kept as they are, and about how many bytes of them.
  private static let maximumCount = 256
  private static let maximumByteCount = 512 << 10

  var isEmpty: Bool { logs.isEmpty && earlier.isEmpty }

  /// Whether these are the keys of hundreds of objects.
  var isMuch: Bool { byteCount > 4 << 10 || !earlier.isEmpty }

  /// Whether anything may have changed.
  var isEverything: Bool { earlier.isEverything || logs.contains { $0.isEverything } }

  /// All of it, of each key what became of it in the end.
  var merged: KeyChanges {
    var merged = earlier
    for log in logs { merged.add(log) }
    return merged
  }

  mutating func add(_ log: ChangeLog) {
    if earlier.cover(log) { return }
    logs.append(log)
    byteCount += log.byteCount
    if log.isEverything || logs.count > MissedChanges.maximumCount
      || byteCount > MissedChanges.maximumByteCount
    {
      earlier = merged
      (logs, byteCount) = ([], 0)
    }
  }

  /// Whether it touches what somebody is interested in.
  func concern(_ interest: Interest) -> Bool {
    earlier.concern(interest) || logs.contains { $0.concerns(interest) }
  }
}

/// What somebody missed, merged when he asks what it is: who only shows everything anew never does.
final class MergedChanges: Sendable {
  private let missed: MissedChanges
  private let merged = Mutex<KeyChanges?>(nil)

  init(_ missed: MissedChanges) { self.missed = missed }

  var isEverything: Bool { missed.isEverything }

  var value: KeyChanges {
    merged.withLock { merged in
      if let merged { return merged }
      let value = missed.merged
      merged = value
      return value
    }
  }
}
