internal import GarageDriver
internal import Synchronization

/// The commits since the last time somebody asked. They are merged when somebody asks, and earlier if they become many.
struct MissedChanges: Sendable {
  private var earlier = KeyChanges()
  private var logs: [ChangeLog] = []
  private var byteCount = 0

  /// How many commits, and about how many bytes of them, are kept unmerged.
  private static let maximumCount = 256
  private static let maximumByteCount = 512 << 10

  var isEmpty: Bool { logs.isEmpty && earlier.isEmpty }

  /// Whether there are so many bytes as the keys of hundreds of objects have.
  var isMuch: Bool { byteCount > 4 << 10 || !earlier.isEmpty }

  /// Whether anything may have changed.
  var isEverything: Bool { earlier.isEverything || logs.contains { $0.isEverything } }

  /// All changes, merged: for each key the last one.
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

  /// Whether the changes touch the interest.
  func concern(_ interest: Interest) -> Bool {
    earlier.concern(interest) || logs.contains { $0.concerns(interest) }
  }
}

/// The changes that a listener missed. They are merged when it asks for them: a listener that only reads everything again never
/// does.
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
