internal import GarageDriver

/// The merged changes of several commits: for each key the last change.
struct KeyChanges: Sendable {
  /// The last change of a record. Commits may be reported in another order than their own.
  struct Last: Sendable {
    let isRemoved: Bool
    /// The place of the commit among the others.
    let number: UInt64
  }

  /// The changed records of one tag.
  struct OfTag: Sendable {
    /// The last change of each record, by key.
    fileprivate(set) var records: [StorageKey: Last] = [:]
    /// Whether more records were changed than are listed.
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

  /// Adds the changes of a commit.
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
      // A type with too many changed keys needs no further look at its keys.
      let isListed = note(key, Last(isRemoved: isRemoved, number: log.number))
      return isListed || !cover(log)
    }
  }

  /// Whether a commit adds nothing: for each type that it changed, so many keys are changed already that they are not listed
  /// any more.
  func cover(_ log: ChangeLog) -> Bool {
    if isEverything { return true }
    if log.isEverything || log.hasValues && !hasManyValues { return false }
    return log.tags.allSatisfy { tags[$0.tag]?.isMany == true }
  }

  /// Notes the last change of a key. Returns false if there are too many to list.
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
  /// Whether the changes touch the interest.
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
