internal import GarageCoding
internal import GarageDriver

// Unsaved changes on their way into the store. What stands there may be newer than what they were made upon, and there may
// be other indexes than there were: entries are made anew, from the records that are there now.

extension Indexing {
  /// Makes unsaved changes in a transaction of the storage.
  ///
  /// - Throws: ``GarageError/notUnique(index:value:existing:)``.
  func apply(_ changes: UnsavedChanges, to transaction: any WriteTransaction) throws {
    let records = KeyLayout.allRecords
    if changes.hasChange(in: records), var catalog = try catalogForWriting(in: transaction) {
      if !catalog.unfinishedUnique.isEmpty {
        var tags: Set<UInt64> = []
        try changes.forEach(in: records) { key, record in
          if record != nil { tags.insert(KeyLayout.tag(inRecordKey: key)) }
        }
        let filling = IndexFilling(indexing: self)
        if let completed = try filling.completeUnique(catalog, tags, in: transaction) { catalog = completed }
      }
      // The texts first: the shapes of records may be read from them.
      try changes.apply(in: StorageKeyRange(to: records.lowerBound), to: transaction)
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
    } else {
      try changes.apply(in: StorageKeyRange(to: KeyLayout.allEntries.lowerBound), to: transaction)
    }
    guard let behindEntries = KeyLayout.allEntries.upperBound else { return }
    try changes.apply(in: StorageKeyRange(from: behindEntries), to: transaction)
  }
}
