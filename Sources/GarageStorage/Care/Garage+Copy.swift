internal import GarageCoding
public import GarageDriver

extension Garage {
  /// Copies everything in the store to another storage, byte for byte: to another driver, or to another place.
  ///
  /// ```swift
  /// let backup = try SQLiteStorage(at: url)
  /// try garage.copy(to: backup)
  /// ```
  /// It copies one state of the store, while others go on writing; unsaved changes are not part of it. A seal on either side
  /// is opened, or put on, on the way. Until the copy is complete the destination is no garage, and cannot be opened as one:
  /// where the call ended early, the same call goes on, and takes over what is there already.
  ///
  /// - Parameters:
  ///   - destination: an empty storage, or one to which this garage was copied in part. It stays open. If two calls copy to it
  ///     at a time, the later one goes on, and the other throws.
  ///   - progress: is told how many entries are copied of how many, and again from the beginning where an engine asks for
  ///     another try. An error that it throws ends the call, and so does cancelling the task; what was copied by then stays,
  ///     for the next call.
  /// - Throws: ``GarageError/destinationNotEmpty(driver:)``, ``GarageError/invalidIndex(type:index:reason:)`` where a sealed
  ///   destination would show what an index holds, ``GarageError/identifiersNotHidden(driver:reason:)`` where the garage hides
  ///   identifiers and the destination is not sealed, `CancellationError`, the errors of `progress`, ``GarageError/closed``,
  ///   ``GarageError/storage(_:)``.
  public func copy(to destination: any StorageDriver, progress: (CareProgress) throws -> Void = { _ in })
    throws
  {
    try withoutActuallyEscaping(progress) { progress in
      try translatingErrors {
        try beginCall()
        defer { endCall() }
        if hidesIdentifiers && !destination.info.isSealed {
          throw GarageError.identifiersNotHidden(
            driver: destination.info.name,
            reason: """
              the storage to copy to is not sealed, so that what they are hidden with could be read there, too. Nothing \
              was copied. Wrap it in SealedStorage.
              """)
        }
        // Another try takes over what is there by then, as another call does.
        try retrying(nil, store.gate, isRead: true) {
          try store.driver.read { source in
            try checkIndexes(in: source, for: destination)
            try StoreCopying(source, to: destination, progress).run()
          }
        }
      }
    }
  }

  /// In a sealed storage an index that is not hashed has to be asked for.
  private func checkIndexes(in source: any ReadTransaction, for destination: any StorageDriver) throws {
    guard destination.info.isSealed, !store.driver.info.isSealed,
      let index = try indexing.catalog(in: source)?.items.first(where: { !$0.definition.isHashed })
    else { return }
    throw GarageError.invalidIndex(
      type: "the garage", index: index.name,
      reason: """
        the storage to copy to is sealed, and the values could be read in the index's keys there. Nothing was copied. \
        Drop it first (dropIndex(_:of:)), or declare it .hashed.
        """)
  }
}

/// Makes a storage equal to one state of a store, block by block.
private struct StoreCopying {
  private let source: any ReadTransaction
  private let destination: any StorageDriver
  private var progress: ProgressReporter
  private let callID = (0..<8).map { _ in UInt8.random(in: 0...255) }
  /// Marks a storage to which a copy is being made: of which garage, by the eight bytes of its creation time, and by which call,
  /// by eight bytes at random. Earlier versions put the garage's metadata there.
  private static let markKey = KeyLayout.metadata("copying")

  /// How much is written in one transaction at most.
  private static let blockEntryCount = 2048
  private static let blockByteCount = 8 << 20

  init(
    _ source: any ReadTransaction, to destination: any StorageDriver,
    _ progress: @escaping (CareProgress) throws -> Void
  ) throws {
    self.source = source
    self.destination = destination
    var total = 0
    try source.scanKeys(.all, .forward) { _ in
      total += 1
      return .continue
    }
    self.progress = ProgressReporter(total: total, progress)
  }

  func run() throws {
    var copying = self
    let metadataKey = StoreMetadata.key
    let metadata = try source.value(for: metadataKey) ?? []
    try copying.begin(metadata)
    var lower: [UInt8] = []
    var block: [(key: StorageKey, value: [UInt8])] = []
    var byteCount = 0
    try source.scan(.all, .forward) { key, value in
      try copying.progress.advance()
      // They make a garage of it.
      if compareKeys(key, metadataKey.bytes.span.bytes) == 0 { return .continue }
      block.append((StorageKey(key), [UInt8](copying: value)))
      byteCount += key.byteCount + value.byteCount
      if block.count < Self.blockEntryCount && byteCount < Self.blockByteCount { return .continue }
      let next = block[block.count - 1].key.bytes + [0]
      try copying.put(block, StorageKeyRange(from: lower, to: next))
      (lower, byteCount) = (next, 0)
      block.removeAll(keepingCapacity: true)
      return .continue
    }
    try copying.put(block, StorageKeyRange(from: lower))
    try destination.write { transaction in
      try checkMark(transaction)
      try transaction.put(metadata, for: StoreMetadata.key)
      try transaction.remove(Self.markKey)
      return .commit(())
    }
    try copying.progress.end()
  }

  /// Marks the destination, which has to be empty, or marked for the same garage. An earlier call that still runs then ends.
  private func begin(_ metadata: [UInt8]) throws {
    let garage = metadata.dropFirst(8).prefix(8)
    try destination.write { transaction in
      let mark = try transaction.value(for: Self.markKey)
      let marked = mark.map { $0.count == metadata.count ? $0.dropFirst(8).prefix(8) : $0.prefix(8) }
      if marked != garage {
        var isEmpty = true
        try transaction.scanKeys(.all, .forward) { _ in
          isEmpty = false
          return .stop
        }
        if !isEmpty { throw GarageError.destinationNotEmpty(driver: destination.info.name) }
      }
      try transaction.put(garage + callID, for: Self.markKey)
      return .commit(())
    }
  }

  /// Makes sure that no later call has begun to copy there, or has made the copy complete. Others may have changed it since.
  private func checkMark(_ transaction: any WriteTransaction) throws {
    if try transaction.value(for: Self.markKey)?.dropFirst(8).elementsEqual(callID) != true {
      throw GarageError.destinationNotEmpty(driver: destination.info.name)
    }
  }

  /// Makes a part of the destination equal to a block. What is there already from an earlier call is compared.
  private func put(_ block: [(key: StorageKey, value: [UInt8])], _ range: StorageKeyRange) throws {
    try destination.write { transaction in
      try checkMark(transaction)
      var present: [StorageKey] = []
      try transaction.scanKeys(range, .forward) { key in
        present.append(StorageKey(key))
        return .continue
      }
      let wanted = Set(block.map(\.key))
      for key in present where !wanted.contains(key) && key != Self.markKey { try transaction.remove(key) }
      let known = Set(present)
      for (key, value) in block {
        let isThere =
          try known.contains(key)
          && transaction.withReplaceableValue(for: key.bytes.span.bytes, isSealed: destination.info.isSealed)
          {
            present in
            guard let present else { return false }
            return compareKeys(present, value.span.bytes) == 0
          }
        if !isThere { try transaction.put(value, for: key) }
      }
      return .commit(())
    }
  }
}
