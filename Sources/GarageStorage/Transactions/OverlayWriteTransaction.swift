internal import GarageDriver

/// Adds to the changes that are not saved yet, and reads through them.
final class OverlayWriteTransaction: OverlayReadTransaction, WriteTransaction {
  /// The changes, with this transaction's own. Throws the first failure of an operation, which forbids them.
  func commit() throws -> UnsavedChanges {
    if let error = state.firstError { throw error }
    return changes
  }

  func put(_ value: RawSpan, for key: RawSpan) throws {
    try state.beginChange(.put)
    try state.checkKey(key, .put, limit: info.maximumKeyByteCount)
    try state.checkValue(value, limit: info.maximumValueByteCount)
    changes.put(value, for: key)
  }

  func putAll(_ entries: [PlacedEntry], in bytes: RawSpan) throws {
    try state.beginChange(.put)
    for entry in entries {
      try state.checkKey(bytes.extracting(entry.key), .put, limit: info.maximumKeyByteCount)
      try state.checkValue(bytes.extracting(entry.value), limit: info.maximumValueByteCount)
    }
    changes.putAll(entries, in: bytes)
  }

  func remove(_ key: RawSpan) throws {
    try state.beginChange(.remove)
    try state.checkKey(key, .remove, limit: info.maximumKeyByteCount)
    changes.remove(key)
  }

  func removeAll(in range: StorageKeyRange) throws {
    try state.beginChange(.remove)
    changes.forget(range)
    try readBase { _ in
      try base.scanKeys(range, .forward) { key in
        changes.remove(key)
        return .continue
      }
    }
  }
}
