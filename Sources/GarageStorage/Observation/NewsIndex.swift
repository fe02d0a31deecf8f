internal import GarageDriver

/// Finds listeners by what was changed, so that a commit costs nothing for those whom it does not concern.
struct NewsIndex: Sendable {
  private typealias Listeners = [ObjectIdentifier: NewsListener]

  /// What each listener wants to hear of.
  private var interests: [ObjectIdentifier: Interest] = [:]
  /// The listeners that want to hear of everything.
  private var ofEverything: Listeners = [:]
  private var ofAllValues: Listeners = [:]
  private var ofTag: [UInt64: Listeners] = [:]
  private var ofKey: [StorageKey: Listeners] = [:]
  /// How many listeners want to hear of single records of a type, and how many of typed keys.
  private var singleCounts: [UInt64: Int] = [:]
  private var valueCount = 0

  /// Notes what a listener wants to hear of, in place of what it wanted before. Nil: nothing.
  ///
  /// - Parameter filter: is told which of its bits are needed from now on.
  mutating func set(_ interest: Interest?, of listener: NewsListener, _ filter: borrowing NewsFilter) {
    let id = ObjectIdentifier(listener)
    let before = interests[id]
    // The new interest is added first, so that none of its bits is missing in between.
    if let interest {
      interests[id] = interest
      filter.add(interest)
    } else {
      interests[id] = nil
    }
    if let before {
      forget(before, of: id)
      filter.remove(before)
    }
    if let interest { note(interest, of: listener, id) }
  }

  private mutating func note(_ interest: Interest, of listener: NewsListener, _ id: ObjectIdentifier) {
    if interest.isEverything {
      ofEverything[id] = listener
      return
    }
    if interest.hasAllValues { ofAllValues[id] = listener }
    for tag in interest.tags { ofTag[tag, default: [:]][id] = listener }
    for key in interest.keys { ofKey[key, default: [:]][id] = listener }
    for tag in interest.keyTags { singleCounts[tag, default: 0] += 1 }
    if interest.hasKeysOfValues { valueCount += 1 }
  }

  private mutating func forget(_ interest: Interest, of id: ObjectIdentifier) {
    if interest.isEverything {
      ofEverything[id] = nil
      return
    }
    ofAllValues[id] = nil
    for tag in interest.tags { NewsIndex.remove(id, at: tag, from: &ofTag) }
    for key in interest.keys { NewsIndex.remove(id, at: key, from: &ofKey) }
    for tag in interest.keyTags {
      guard let count = singleCounts[tag] else { continue }
      singleCounts[tag] = count > 1 ? count - 1 : nil
    }
    if interest.hasKeysOfValues { valueCount -= 1 }
  }

  private static func remove<Key: Hashable>(
    _ id: ObjectIdentifier, at key: Key, from listeners: inout [Key: Listeners]
  ) {
    listeners[key]?[id] = nil
    if listeners[key]?.isEmpty == true { listeners[key] = nil }
  }

  /// The listeners that a commit may concern. A listener that waits for a type or a listed key, and knows already that there is
  /// news, is left out. Some may be named twice. If more keys were changed than are listed, all listeners of keys are named.
  func concerned(by log: ChangeLog) -> [NewsListener] {
    var found = Array(ofEverything.values)
    if log.isEverything {
      return found + ofAllValues.values + ofTag.values.flatMap(\.values) + ofKey.values.flatMap(\.values)
    }
    var hasSingle = log.hasValues && valueCount > 0
    var hasMany = log.hasManyValues && valueCount > 0
    if log.hasValues { found += ofAllValues.values }
    for changed in log.tags {
      for listener in (ofTag[changed.tag] ?? [:]).values where !listener.isToldAlready {
        found.append(listener)
      }
      guard singleCounts[changed.tag] != nil else { continue }
      hasSingle = true
      hasMany = hasMany || changed.isMany
    }
    if hasMany {
      // Each of these listeners checks by itself whether it is concerned.
      found += ofKey.values.flatMap(\.values)
    } else if hasSingle {
      log.forEach { key, _ in
        for listener in (ofKey[StorageKey(key)] ?? [:]).values where !listener.isToldAlready {
          found.append(listener)
        }
        return true
      }
    }
    return found
  }
}
