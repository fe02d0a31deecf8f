internal import GarageCoding
internal import GarageDriver

// Saving unsaved changes. The store may have newer records than those that the changes were made upon, and other indexes. So
// entries are made anew, from the records that are there now.

extension Indexing {
  /// Makes unsaved changes in a transaction of the storage.
  ///
  /// - Throws: ``GarageError/notUnique(index:value:existing:)``.
  func apply(_ changes: UnsavedChanges, to transaction: any WriteTransaction) throws {
    let records = KeyLayout.allRecords
    if changes.hasChange(in: records), var catalog = try catalogForWriting(in: transaction) {
      // The texts first, because the shapes of records may have to be read from them.
      try changes.apply(in: StorageKeyRange(to: records.lowerBound), to: transaction)
      var replaced: [StorageKey: [UInt8]] = [:]
      if !catalog.unfinishedUnique.isEmpty {
        replaced = try completeUnique(&catalog, changes, transaction)
      }
      let batch = IndexBatch(catalog, keys, texts)
      try changes.forEach(in: records) { key, record in
        guard batch.concerns(tag: KeyLayout.tag(inRecordKey: key)) else { return }
        try transaction.withReplaceableValue(for: key, isSealed: keys.isSealed) { old in
          try batch.note(key, old: old, new: record, in: transaction)
        }
      }
      try batch.checkUnique(in: transaction)
      if let updated = try batch.make(in: transaction) { try put(updated, in: transaction) }
      try changes.apply(in: records, to: transaction)
      if !replaced.isEmpty { try checkUnique(changes, of: replaced, catalog, transaction) }
    } else {
      try changes.apply(in: StorageKeyRange(to: KeyLayout.allEntries.lowerBound), to: transaction)
    }
    guard let behindEntries = KeyLayout.allEntries.upperBound else { return }
    try changes.apply(in: StorageKeyRange(from: behindEntries), to: transaction)
  }

  /// Completes the unique indexes that changed records have entries in. If records that are there have the same values, and a
  /// change ends that, this change is made first, as if it had been saved before. So the other changes are compared with all
  /// records.
  ///
  /// - Returns: the records that such changes replaced. They have to be compared at the end.
  private func completeUnique(
    _ catalog: inout IndexCatalog, _ changes: UnsavedChanges, _ transaction: any WriteTransaction
  ) throws -> [StorageKey: [UInt8]] {
    var tags: Set<UInt64> = []
    try changes.forEach(in: KeyLayout.allRecords) { key, record in
      if record != nil { tags.insert(KeyLayout.tag(inRecordKey: key)) }
    }
    let filling = IndexFilling(indexing: self)
    var replaced: [StorageKey: [UInt8]] = [:]
    // Grouped by the index that they were made for.
    var made: [UInt64: Set<StorageKey>] = [:]
    while true {
      if let completed = try filling.completeUnique(catalog, tags, in: transaction) { catalog = completed }
      var failure: GarageError?
      var hasMade = false
      let places = catalog.unfinishedUnique.filter { place in
        !tags.isDisjoint(with: catalog.items[place].definition.tags)
      }
      for place in places {
        let id = catalog.items[place].id
        guard let collision = knownCollision(of: id) else { continue }
        for key in collision.keys {
          if made[id]?.contains(key) == true {
            // The values that it was changed to belong to another record.
            failure = failure ?? collision.error
          } else if let old = try make(changes, of: key, endingCollisionAt: place, &catalog, transaction) {
            replaced[key] = old
            made[id, default: []].insert(key)
            hasMade = true
          }
        }
      }
      if hasMade { continue }
      if let failure { throw failure }
      return replaced
    }
  }

  /// Makes the change of one record, where it gives it other values in a unique index. They are not compared with those
  /// of other records yet.
  ///
  /// - Returns: the record before; nil where nothing was done.
  private func make(
    _ changes: UnsavedChanges, of key: StorageKey, endingCollisionAt place: Int,
    _ catalog: inout IndexCatalog, _ transaction: any WriteTransaction
  ) throws -> [UInt8]? {
    guard let change = changes.change(of: key.bytes.span.bytes) else { return nil }
    let found = try transaction.withReplaceableValue(for: key.bytes.span.bytes, isSealed: keys.isSealed) {
      record -> [UInt8]? in
      guard let record else { return nil }
      return [UInt8](copying: record)
    }
    guard let old = found else { return nil }
    let batch = IndexBatch(catalog, keys, texts)
    try change.withValue { new in
      try batch.note(key.bytes.span.bytes, old: old.span.bytes, new: new, in: transaction)
    }
    if batch.parts[place].removed.isEmpty { return nil }
    if let updated = try batch.make(in: transaction) {
      try put(updated, in: transaction)
      catalog = updated
    }
    try change.withValue { new in
      if let new {
        try transaction.put(new, for: key.bytes.span.bytes)
      } else {
        try transaction.remove(key)
      }
    }
    return old
  }

  /// Compares what was made first with all others, when these are made as well.
  ///
  /// - Parameter replaced: the records before, by their keys.
  private func checkUnique(
    _ changes: UnsavedChanges, of replaced: [StorageKey: [UInt8]], _ catalog: IndexCatalog,
    _ transaction: any ReadTransaction
  ) throws {
    let batch = IndexBatch(catalog, keys, texts)
    for (key, old) in replaced {
      guard let change = changes.change(of: key.bytes.span.bytes) else { continue }
      try change.withValue { new in
        try batch.note(key.bytes.span.bytes, old: old.span.bytes, new: new, in: transaction)
      }
    }
    try batch.checkUnique(in: transaction)
  }
}

extension UnsavedChange {
  /// Lends the value that is put; nil where the key is removed.
  fileprivate func withValue(_ body: (RawSpan?) throws -> Void) rethrows {
    switch self {
    case .removed: try body(nil)
    case .put(let value): try body(value.storage.span.bytes.extracting(value.range))
    }
  }
}
