internal import GarageCoding
internal import GarageDriver

// How a query reads many records with one call of the storage.

extension QueryRun {
  /// Whether records are read in blocks if the query has to check them, because the entries of the index do not decide. A block
  /// may have records that the query does not need in the end, but reading each by itself would take a round trip.
  var asksForMany: Bool { access.garage.store.roundTripsAreExpensive }

  /// How many records are read at a time if all are wanted.
  private static var blockCount: Int { 1024 }

  /// How many bytes of records are copied at a time.
  private static var blockByteCount: Int { 4 << 20 }

  /// Lends the keys of those records in a block that match the query, in the order of the block, until `visit` returns `stop`.
  /// The block is empty afterwards.
  ///
  /// - Returns: what `visit` returned last.
  /// - Throws: if a record cannot be read or checked, its error, after the matching records before it were visited.
  func forEachFound(
    in block: inout RecordBlock, _ visit: (_ key: RawSpan) throws -> ScanStep
  ) throws -> ScanStep {
    let keys = block.keys
    var areMatches = block.areMatches
    block.removeAll()
    var (unknown, places): (KeyList, [Int]) = (KeyList(), [])
    var place = 0
    keys.forEach { key in
      if !areMatches[place] {
        unknown.append(key)
        places.append(place)
      }
      place += 1
      return .continue
    }
    var (askedCount, failure): (Int, (place: Int, error: any Error)?) = (0, nil)
    if !unknown.isEmpty {
      do {
        try unknown.forEachRecord(0..<unknown.count, in: access.transaction) { index, key, record in
          if let record { areMatches[places[index]] = try isMatch(key, record) }
          askedCount = index + 1
          return .continue
        }
      } catch {
        // The error is thrown when its record would be visited. A query with a limit may stop before that.
        if askedCount == places.count { throw error }
        failure = (places[askedCount], error)
      }
    }
    place = 0
    var step = ScanStep.continue
    try keys.forEach { key in
      if let failure, failure.place == place { throw failure.error }
      if areMatches[place] { step = try visit(key) }
      place += 1
      return step
    }
    return step
  }

  /// Reads the records with these keys in blocks, and lends each, until `visit` returns `stop`.
  ///
  /// - Parameter areDecoded: whether the records will be decoded, so that the objects that they refer to are read as well.
  func forEachBlock(
    of keys: KeyList, areDecoded: Bool, _ visit: (RawSpan, RawSpan) throws -> ScanStep
  ) throws {
    for start in stride(from: 0, to: keys.count, by: Self.blockCount) {
      let block = start..<Swift.min(start + Self.blockCount, keys.count)
      let step = try withRecords(of: keys, block, areDecoded: areDecoded) { _, key, record in
        try visit(key, record)
      }
      if step == .stop { return }
    }
  }

  /// Reads the records with some of these keys, and lends those that exist, until `visit` returns `stop`.
  ///
  /// If reading takes round trips and the records will be decoded, they are copied, as many at a time as a few mebibytes hold,
  /// and the objects that they refer to are read for all of these at once. The session must keep what it decodes, because what
  /// one record refers to is not read again for the next.
  ///
  /// - Parameters:
  ///   - indices: the positions of the keys of which the records are read.
  ///   - areDecoded: whether the records will be decoded.
  ///   - isWanted: tells of a record whether it may be decoded at all. Others are neither copied nor visited in the case above,
  ///     and visited all the same if nothing is copied.
  ///   - visit: gets the position of each key, the key and the record.
  /// - Returns: what `visit` returned last.
  func withRecords(
    of keys: KeyList, _ indices: Range<Int>, areDecoded: Bool,
    isWanted: (Int, RawSpan, RawSpan) -> Bool = { _, _, _ in true },
    _ visit: (_ index: Int, _ key: RawSpan, _ record: RawSpan) throws -> ScanStep
  ) throws -> ScanStep {
    if !areDecoded || !asksForMany {
      return try keys.forEachRecord(indices, in: access.transaction) { index, key, record in
        guard let record else { return .continue }
        return try visit(index, key, record)
      }
    }
    var places: [Int] = []
    var records: [(key: StorageKey, record: [UInt8])] = []
    var byteCount = 0
    func visitCopies() throws -> ScanStep {
      if records.isEmpty { return .continue }
      try source.prefetch(behind: records, exceptKnown: true)
      for (place, (key, record)) in zip(places, records) {
        let bytes = key.bytes
        if try visit(place, bytes.span.bytes, record.span.bytes) == .stop { return .stop }
      }
      places.removeAll(keepingCapacity: true)
      records.removeAll(keepingCapacity: true)
      byteCount = 0
      return .continue
    }
    var failure: (any Error)?
    var isVisiting = false
    do {
      let step = try keys.forEachRecord(indices, in: access.transaction) { index, key, record in
        guard let record, isWanted(index, key, record) else { return .continue }
        places.append(index)
        records.append((StorageKey(key), [UInt8](copying: record)))
        byteCount += record.byteCount
        if byteCount < Self.blockByteCount { return .continue }
        isVisiting = true
        let step = try visitCopies()
        isVisiting = false
        return step
      }
      if step == .stop { return .stop }
    } catch let error where !isVisiting {
      // As with a record that cannot be decoded, the error is thrown after the records before it were visited.
      failure = error
    }
    if try visitCopies() == .stop { return .stop }
    if let failure { throw failure }
    return .continue
  }

  /// The identifiers of the records with these keys. Most keys contain their identifier. If it is hidden or cut, it is taken from
  /// the record, and the key is left out if that does not exist. These records are read in blocks.
  func identifiers(ofRecords keys: KeyList) throws -> [Identifier] {
    var identifiers: [Identifier?] = []
    identifiers.reserveCapacity(keys.count)
    var (hidden, places): (KeyList, [Int]) = (KeyList(), [])
    keys.forEach { key in
      let told = identifier(ofKey: key)
      if told == nil {
        hidden.append(key)
        places.append(identifiers.count)
      }
      identifiers.append(told)
      return .continue
    }
    for start in stride(from: 0, to: hidden.count, by: Self.blockCount) {
      let block = start..<Swift.min(start + Self.blockCount, hidden.count)
      _ = try withRecords(of: hidden, block, areDecoded: false) { index, key, record in
        identifiers[places[start + index]] = try identifier(key, record)
        return .continue
      }
    }
    return identifiers.compactMap { $0 }
  }

  /// The identifier that a key contains; nil if it is hidden or cut there.
  private func identifier(ofKey key: RawSpan) -> Identifier? {
    if objectKeys.hidesIdentifiers { return nil }
    let identifier = Identifier(bytes: [UInt8](copying: key.extracting(KeyLayout.identifierOffset...)))
    return identifier.flatMap { $0.isCut ? nil : $0 }
  }
}
