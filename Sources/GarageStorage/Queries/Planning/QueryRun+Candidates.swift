internal import GarageCoding
internal import GarageDriver

// The records that indexes lead to, before any is read.

extension QueryRun {
  /// The records that a plan leads to, some of them perhaps twice. Nil if they are such a large part of all records that a scan
  /// reads all of these sooner.
  ///
  /// - Parameter start: an identifier that they have to come after, as far as entries tell their place.
  func candidates(of plan: IndexPlan, behind start: [UInt8]?) throws -> CandidateKeys? {
    var candidates = CandidateKeys()
    var isTooMany = false
    var nextCheck = 4096
    var records = RecordsSoFar()
    for scan in plan.scans {
      for tag in way.tags {
        for stretch in scan.stretches {
          var range = range(scan.item, tag, stretch)
          if let start, stretch.isPoint { range.lowerBound += start + [0] }
          try access.transaction.scan(range, .forward) { key, value in
            guard let (place, isMatch) = try reading(key, value, stretch.isExact) else { return .continue }
            candidates.append(recordOf: key, identifierAt: place, isMatch: isMatch)
            if candidates.count < nextCheck { return .continue }
            nextCheck *= 2
            isTooMany = try areMostOfAll(candidates.count, &records)
            return isTooMany ? .stop : .continue
          }
          if isTooMany { return nil }
        }
      }
    }
    return candidates
  }

  /// The keys of the results, in the order of identifiers, if the entries of an index lead to all of them. Records are read
  /// only if entries do not decide. Nil if the query has an order of its own or a limit, or if another way is better.
  func keysByEntries() throws -> KeyList? {
    guard let plan = way.plan, plan.others.isEmpty, way.tags.count == 1, !way.isUnsaved,
      query.sortKeys.isEmpty, query.maximumCount == nil,
      var candidates = try candidates(of: plan, behind: nil)
    else { return nil }
    candidates.sort(areOfOneTag: true)
    var keys = KeyList()
    var block = RecordBlock(atMost: nil)
    try candidates.forEachOnce { key, isMatch in
      block.append(key, isMatch)
      if !block.isFull { return .continue }
      return try forEachFound(in: &block) { key in
        keys.append(key)
        return .continue
      }
    }
    _ = try forEachFound(in: &block) { key in
      keys.append(key)
      return .continue
    }
    return keys
  }

  /// Records that were counted. None is counted twice, however often more are asked for.
  private struct RecordsSoFar {
    var count = 0
    /// The tag of the next record, and the key that it comes after.
    var tag = 0
    var last: [UInt8]?
  }

  /// Whether so many records are such a large part of all that it is better to read all in their order.
  private func areMostOfAll(_ count: Int, _ records: inout RecordsSoFar) throws -> Bool {
    let enough = 3 * count
    while records.tag < way.tags.count {
      var range = KeyLayout.records(tag: way.tags[records.tag])
      if let last = records.last { range.lowerBound = last + [0] }
      var last: [UInt8]?
      try access.transaction.scanKeys(range, .forward) { key in
        records.count += 1
        if records.count < enough { return .continue }
        last = [UInt8](copying: key)
        return .stop
      }
      records.last = last
      if last != nil { return false }
      records.tag += 1
    }
    return true
  }
}

// MARK: - Several indexes at once

extension QueryRun {
  /// The entries that one index leads to, read in blocks.
  private struct EntryReader {
    private(set) var candidates = CandidateKeys()
    /// How many entries were read, including those of other classes' records.
    private(set) var count = 0
    /// The ranges that are still to be read, the last one first.
    private var rest: [(range: StorageKeyRange, isExact: Bool)]

    init(_ scan: IndexPlan.Scan, _ run: QueryRun) {
      rest = run.way.tags.flatMap { tag in
        scan.stretches.map { (run.range(scan.item, tag, $0), $0.isExact) }
      }
      rest.reverse()
    }

    var isAtEnd: Bool { rest.isEmpty }

    /// Reads until `end` entries were read, or all.
    mutating func read(upTo end: Int, _ run: QueryRun) throws {
      while let (range, isExact) = rest.last, count < end {
        var last: [UInt8]?
        try run.access.transaction.scan(range, .forward) { key, value in
          count += 1
          if let (place, isMatch) = try run.reading(key, value, isExact) {
            candidates.append(recordOf: key, identifierAt: place, isMatch: isMatch)
          }
          if count < end { return .continue }
          last = [UInt8](copying: key)
          return .stop
        }
        if let last { rest[rest.count - 1].range.lowerBound = last + [0] } else { rest.removeLast() }
      }
    }
  }

  /// The records that several indexes lead to at the same time, as far as entries tell that sooner than records would: reading
  /// an entry takes a fraction of a record's time. Nil if there are so many that a scan reads all records sooner.
  ///
  /// How long the stretches of the indexes are is not known beforehand. So all are read side by side until the shortest one
  /// ends, and then each of the others up to twice its length. If one of these ends by then, records that it does not lead to
  /// are left out.
  func sharedCandidates(of plan: IndexPlan) throws -> CandidateKeys? {
    var readers = (plan.scans + plan.others).map { EntryReader($0, self) }
    // Fewer records than these are read in the time that another index takes to begin.
    var blockCount = 32
    var shortest: Int?
    var records = RecordsSoFar()
    while shortest == nil {
      for place in readers.indices where shortest == nil {
        try readers[place].read(upTo: blockCount, self)
        if readers[place].isAtEnd { shortest = place }
      }
      if shortest == nil, blockCount >= 4096, try areMostOfAll(blockCount, &records) { return nil }
      blockCount *= 4
    }
    let leader = readers.remove(at: shortest ?? 0)
    guard leader.count > 32 else { return leader.candidates }
    let areOfOneTag = way.tags.count == 1
    var candidates = leader.candidates
    candidates.sort(areOfOneTag: areOfOneTag)
    for place in readers.indices where candidates.count > 32 {
      try readers[place].read(upTo: 2 * leader.count, self)
      if !readers[place].isAtEnd { continue }
      var others = readers[place].candidates
      others.sort(areOfOneTag: areOfOneTag)
      candidates.formIntersection(others)
    }
    return candidates
  }
}
