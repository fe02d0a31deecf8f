internal import GarageDriver

// Records that are asked for many at a time.

extension QueryRun {
  /// Whether records that an index does not tell of are asked many at a time, though some of them may be asked in vain: each
  /// question is a trip.
  var asksForMany: Bool { access.garage.store.roundTripsAreExpensive }

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
    if !unknown.isEmpty {
      try unknown.forEachRecord(0..<unknown.count, in: access.transaction) { index, key, record in
        if let record { areMatches[places[index]] = try isMatch(key, record) }
      }
    }
    place = 0
    var step = ScanStep.continue
    try keys.forEach { key in
      if areMatches[place] { step = try visit(key) }
      place += 1
      return step
    }
    return step
  }

  /// Lends the records with these keys, which are asked for many at a time, until `visit` says stop.
  ///
  /// - Parameter areDecoded: whether what they refer to is asked for.
  func forEachBlock(
    of keys: KeyList, areDecoded: Bool, _ visit: (RawSpan, RawSpan) throws -> ScanStep
  ) throws {
    let blockCount = 1024
    var isEnd = false
    for start in stride(from: 0, to: keys.count, by: blockCount) where !isEnd {
      let block = start..<Swift.min(start + blockCount, keys.count)
      try withRecords(of: keys, block, areDecoded: areDecoded) { _, key, record in
        if isEnd { return }
        isEnd = try visit(key, record) == .stop
      }
    }
  }

  /// Lends those of some records that are there, with the place of each among these. Where each question is a trip, what they
  /// refer to is fetched along with them, if they are to be decoded.
  ///
  /// - Parameter isWanted: whether a record may be decoded at all.
  func withRecords(
    of keys: KeyList, _ indices: Range<Int>, areDecoded: Bool,
    isWanted: (Int, RawSpan, RawSpan) throws -> Bool = { _, _, _ in true },
    _ visit: (_ index: Int, _ key: RawSpan, _ record: RawSpan) throws -> Void
  ) throws {
    if !areDecoded || !asksForMany {
      return try keys.forEachRecord(indices, in: access.transaction) { index, key, record in
        if let record { try visit(index, key, record) }
      }
    }
    var places: [Int] = []
    var records: [(key: StorageKey, record: [UInt8])] = []
    try keys.forEachRecord(indices, in: access.transaction) { index, key, record in
      guard let record, try isWanted(index, key, record) else { return }
      places.append(index)
      records.append((StorageKey(key), [UInt8](copying: record)))
    }
    try source.prefetch(behind: records)
    for (place, (key, record)) in zip(places, records) {
      let bytes = key.bytes
      try visit(place, bytes.span.bytes, record.span.bytes)
    }
  }
}
