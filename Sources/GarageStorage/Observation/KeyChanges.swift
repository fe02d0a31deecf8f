internal import GarageDriver

/// What several commits changed, merged: of each key what became of it in the end.
struct KeyChanges: Sendable {
  /// What became last of a record. Commits need not be told of in their order.
  struct Last: Sendable {
    let isRemoved: Bool
    /// Where the commit stands among the others.
    let number: UInt64
  }

  /// What became of the records of one tag.
  struct OfTag: Sendable {
    /// What became last of each, by key.
    fileprivate(set) var records: [StorageKey: Last] = [:]
    /// Whether there were more than are listed.
    fileprivate(set) var isMany = false

    fileprivate mutating func note(_ key: StorageKey, _ last: Last) {
      if let known = records[key], known.number > last.number { return }
      records[key] = last
      if records.count > ChangeLog.limit { noteMany() }
    }

    fileprivate mutating func noteMany() {
      records = [:]
      isMany = true
    }
  }

  private(set) var tags: [UInt64: OfTag] = [:]
  private(set) var values: Set<StorageKey> = []
  /// Whether more typed keys were changed than are listed.
  private(set) var hasManyValues = false
  /// Whether anything may have changed.
  private(set) var isEverything = false

  var isEmpty: Bool { !isEverything && tags.isEmpty && values.isEmpty && !hasManyValues }

  /// Adds what a commit changed.
  mutating func add(_ log: ChangeLog) {
    if isEverything || log.isEmpty { return }
    if log.isEverything {
      self = KeyChanges()
      isEverything = true
      return
    }
    if log.hasManyValues { noteManyValues() }
    for changed in log.tags where changed.isMany { tags[changed.tag, default: OfTag()].noteMany() }
    if cover(log) { return }
    log.forEach { key, isRemoved in
      // What became too many to be listed needs no more looks at its keys.
      let isListed = note(key, Last(isRemoved: isRemoved, number: log.number))
      return isListed || !cover(log)
    }
  }

  /// Whether a commit adds nothing: of each type that it changed so much is changed already that its keys are not listed any
  /// more.
  func cover(_ log: ChangeLog) -> Bool {
    if isEverything { return true }
    if log.isEverything || log.hasValues && !hasManyValues { return false }
    return log.tags.allSatisfy { tags[$0.tag]?.isMany == true }
  }

  /// Notes what became of a key; false where it is one of too many.
  private mutating func note(_ key: RawSpan, _ last: Last) -> Bool {
    if KeyLayout.space(of: key) == .record {
      let tag = KeyLayout.tag(inRecordKey: key)
      if tags[tag]?.isMany == true { return false }
      tags[tag, default: OfTag()].note(StorageKey(key), last)
      return tags[tag]?.isMany != true
    }
    if hasManyValues { return false }
    values.insert(StorageKey(key))
    if values.count > ChangeLog.limit { noteManyValues() }
    return !hasManyValues
  }

  private mutating func noteManyValues() {
    values = []
    hasManyValues = true
  }
}

extension KeyChanges {
  /// Whether they touch what somebody is interested in.
  func concern(_ interest: Interest) -> Bool {
    if isEverything || interest.isEverything { return !isEmpty }
    for (tag, changes) in tags {
      if interest.tags.contains(tag) { return true }
      if !interest.keyTags.contains(tag) { continue }
      if changes.isMany || changes.records.keys.contains(where: { interest.keys.contains($0) }) {
        return true
      }
    }
    if interest.hasAllValues && (hasManyValues || !values.isEmpty) { return true }
    return hasManyValues && interest.hasKeysOfValues || values.contains { interest.keys.contains($0) }
  }
}
