internal import GarageCoding
internal import GarageDriver

// Records that are asked for in blocks.

extension QueryRun {
  /// Whether records that the entries of an index do not decide are asked for in blocks. Some of a block may be asked for in
  /// vain, but each question is a round trip.
  var asksForMany: Bool { access.garage.store.roundTripsAreExpensive }

  /// How many are asked for at a time where all are wanted.
  private static var blockCount: Int { 1024 }

  /// Lends the keys of those records of a block that match, in its order until `visit` says stop, and makes room for the next
  /// one.
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
        // It is told in its turn: who wants a few may not come to it.
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

  /// Lends the records with these keys, which are asked for in blocks, until `visit` says stop.
  ///
  /// - Parameter areDecoded: whether what they refer to is asked for.
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

  /// Lends those of some records that are there, with the place of each among these, until `visit` says stop. Where each question
  /// is a trip, what they refer to is fetched along with them, if they are to be decoded.
  ///
  /// - Parameter isWanted: whether a record may be decoded at all.
  /// - Returns: what `visit` said last.
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
    var failure: (any Error)?
    do {
      try keys.forEachRecord(indices, in: access.transaction) { index, key, record in
        guard let record, isWanted(index, key, record) else { return .continue }
        places.append(index)
        records.append((StorageKey(key), [UInt8](copying: record)))
        return .continue
      }
    } catch {
      // As what cannot be decoded: it is told behind what stands before it.
      failure = error
    }
    try source.prefetch(behind: records)
    for (place, (key, record)) in zip(places, records) {
      let bytes = key.bytes
      if try visit(place, bytes.span.bytes, record.span.bytes) == .stop { return .stop }
    }
    if let failure { throw failure }
    return .continue
  }

  /// The identifiers of those of some records that are there. Keys tell them, but for those that are hidden or cut: the records
  /// of these are asked for many at a time.
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

  /// The identifier that a key tells; nil where it is hidden or cut there.
  private func identifier(ofKey key: RawSpan) -> Identifier? {
    if objectKeys.hidesIdentifiers { return nil }
    let identifier = Identifier(bytes: [UInt8](copying: key.extracting(KeyLayout.identifierOffset...)))
    return identifier.flatMap { $0.isCut ? nil : $0 }
  }
}
