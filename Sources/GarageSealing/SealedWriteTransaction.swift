internal import GarageDriver

/// Seals the values that are put.
final class SealedWriteTransaction: SealedReadTransaction, WriteTransaction, ManyRemoval, AnnouncedReading {
  private let base: any WriteTransaction

  init(_ base: any WriteTransaction, _ keys: KeyRing, _ info: StorageInfo) {
    self.base = base
    super.init(base, keys, info)
  }

  func put(_ value: RawSpan, for key: RawSpan) throws {
    try state.beginChange(.put)
    try state.checkKey(key, .put, limit: info.maximumKeyByteCount)
    try state.checkValue(value, limit: info.maximumValueByteCount)
    let sealed = takeMemory()
    defer { giveBack(sealed) }
    try noting {
      try keys.seal(value, for: key, into: sealed, context: context)
      try sealed.withUnsafeBytes { try base.put($0.bytes, for: key) }
    }
  }

  func remove(_ key: RawSpan) throws {
    try state.beginChange(.remove)
    try noting { try base.remove(key) }
  }

  func removeEach(_ entries: [PlacedEntry], in bytes: RawSpan) throws {
    try state.beginChange(.remove)
    try noting { try base.removeMany(entries, in: bytes) }
  }

  func removeAll(in range: StorageKeyRange) throws {
    try state.beginChange(.remove)
    try noting { try base.removeAll(in: range) }
  }

  // Keys are not sealed.
  func willGet(_ keys: [StorageKey]) -> Bool { (base as? any AnnouncedReading)?.willGet(keys) ?? false }

  func mayRemember(_ key: StorageKey) { (base as? any AnnouncedReading)?.mayRemember(key) }

  private func noting(_ change: () throws -> Void) throws {
    do { try change() } catch let error as StorageError { throw state.failed(error) }
  }
}
