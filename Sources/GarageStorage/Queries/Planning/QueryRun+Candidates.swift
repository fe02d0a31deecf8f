internal import GarageCoding
internal import GarageDriver

// The records to which indexes lead, before any is read.

extension QueryRun {
  /// The records to which a plan leads, some maybe twice; nil where these are so many of all that a scan reads all sooner.
  ///
  /// - Parameter start: an identifier that they come behind, as far as entries tell it by their place.
  func candidates(of plan: IndexPlan, behind start: [UInt8]?) throws -> CandidateKeys? {
    var candidates = CandidateKeys()
    var isTooMany = false
    var nextCheck = 4096
    for scan in plan.scans {
      for tag in way.tags {
        for stretch in scan.stretches {
          var range = range(scan.item, tag, stretch)
          if let start, stretch.isPoint { range.lowerBound += start + [0] }
          try access.transaction.scan(range, .forward) { key, value in
            guard let (place, isMatch) = try reading(key, value, stretch.isExact) else { return .continue }
            candidates.append(recordOf: key, identifierAt: place, isMatch: isMatch)
            if candidates.count < nextCheck { return .continue }
            nextCheck *= 8
            isTooMany = try areMostOfAll(candidates.count)
            return isTooMany ? .stop : .continue
          }
          if isTooMany { return nil }
        }
      }
    }
    return candidates
  }

  /// Whether that many records are so many of all that it is better to read all in their order.
  private func areMostOfAll(_ count: Int) throws -> Bool {
    var rest = 3 * count
    for tag in way.tags {
      try access.transaction.scanKeys(KeyLayout.records(tag: tag), .forward) { _ in
        rest -= 1
        return rest > 0 ? .continue : .stop
      }
    }
    return rest > 0
  }
}

// MARK: - Several indexes at once

extension QueryRun {
  /// The entries to which one index leads, read in blocks.
  private struct EntryReader {
    private(set) var candidates = CandidateKeys()
    /// How many entries were read, those of other classes' records too.
    private(set) var count = 0
    /// What is still to be read, the last first.
    private var rest: [(range: StorageKeyRange, isExact: Bool)]

    init(_ scan: IndexPlan.Scan, _ run: QueryRun) {
      rest = run.way.tags.flatMap { tag in
        scan.stretches.map { (run.range(scan.item, tag, $0), $0.isExact) }
      }
      rest.reverse()
    }

    var isAtEnd: Bool { rest.isEmpty }

    /// Reads on until so many entries were read, or all.
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

  /// The records to which several indexes lead at once, as far as that is found out sooner than by reading records: an entry is
  /// read in a fraction of a record's time. Nil where they lead to so many that a scan reads all sooner.
  ///
  /// How long the stretches of an index are nobody knows before. So all are read side by side until the shortest one ends,
  /// and then the others to twice its length: what one of them does not lead to, where it has ended by then, is left out.
  func sharedCandidates(of plan: IndexPlan) throws -> CandidateKeys? {
    var readers = (plan.scans + plan.others).map { EntryReader($0, self) }
    // So few records are read in the time that another index takes to begin.
    var blockCount = 32
    var shortest: Int?
    while shortest == nil {
      for place in readers.indices where shortest == nil {
        try readers[place].read(upTo: blockCount, self)
        if readers[place].isAtEnd { shortest = place }
      }
      if shortest == nil, blockCount >= 4096, try areMostOfAll(blockCount) { return nil }
      blockCount *= 4
    }
    let leader = readers.remove(at: shortest ?? 0)
    guard leader.count > 32 else { return leader.candidates }
    var shared = leader.candidates.keys
    for place in readers.indices where shared.count > 32 {
      try readers[place].read(upTo: 2 * leader.count, self)
      if readers[place].isAtEnd { shared.formIntersection(readers[place].candidates.keys) }
    }
    var candidates = leader.candidates
    candidates.keep { shared.contains($0) }
    return candidates
  }
}
