internal import GarageCoding
internal import GarageDriver

// Entries with the same values are in the order of their records' identifiers: to find the first of them, or those behind a
// place, no others need be read.

extension QueryRun {
  /// The entries of one value, where no others need be read.
  ///
  /// - Parameter wantsFirst: whether only the first or last ones in the order of identifiers are wanted. One index leads to
  ///   them sooner than what several share.
  func onlyPoint(of plan: IndexPlan, wantsFirst: Bool) -> IndexPlan.Scan? {
    guard wantsFirst || plan.others.isEmpty, plan.scans.count == 1, way.tags.count == 1,
      plan.scans[0].stretches.count == 1, plan.scans[0].stretches[0].isPoint
    else { return nil }
    return plan.scans[0]
  }

  /// How many records the first entries of one index may lead to in vain before other indexes are read too, with which it may
  /// share far fewer.
  var patience: Int { 2000 + 20 * Swift.min(query.maximumCount ?? .max, 10_000) }

  /// Lends the keys of records to which a plan leads by the entries of one value, or of a few, in the order of identifiers, and
  /// whether each is known to match.
  ///
  /// - Returns: false, and lends none, where the plan leads to anything but the entries of one value, or of a few of which only
  ///   the first ones are wanted.
  func forEachFirstKey(
    of plan: IndexPlan, behind start: [UInt8]?,
    _ visit: (_ key: RawSpan, _ isMatch: Bool) throws -> ScanStep
  ) throws -> Bool {
    let wantsFirst = query.sortKeys.isEmpty && query.maximumCount != nil
    if let point = onlyPoint(of: plan, wantsFirst: wantsFirst) {
      try forEachKey(ofPoint: point, .forward, behind: start, visit)
    } else if wantsFirst, start != nil || plan.others.isEmpty, isOfFewPoints(plan) {
      try forEachKey(ofPoints: plan.scans, behind: start, visit)
    } else {
      return false
    }
    return true
  }

  /// Lends the keys of records to which the entries of one value lead, and whether each is known to match.
  ///
  /// - Parameter start: an identifier behind which they come, in the direction of the scan.
  func forEachKey(
    ofPoint scan: IndexPlan.Scan, _ direction: ScanDirection, behind start: [UInt8]?,
    _ visit: (_ key: RawSpan, _ isMatch: Bool) throws -> ScanStep
  ) throws {
    let stretch = scan.stretches[0]
    var range = range(scan.item, way.tags[0], stretch)
    if let start {
      let place = range.lowerBound + start
      if direction == .forward { range.lowerBound = place + [0] } else { range.upperBound = place }
    }
    try access.transaction.scan(range, direction) { key, value in
      guard let (place, isMatch) = try reading(key, value, stretch.isExact) else { return .continue }
      let record = KeyLayout.record(ofEntry: key, identifierAt: place).bytes
      return try visit(record.span.bytes, isMatch)
    }
  }

  /// Whether a plan leads to the entries of so few values, and so few are wanted, that each value may be begun with anew.
  func isOfFewPoints(_ plan: IndexPlan) -> Bool {
    way.tags.count == 1 && query.maximumCount ?? .max <= 10_000
      && plan.scans.reduce(0) { $0 + $1.stretches.count } <= 64
      && plan.scans.allSatisfy { $0.stretches.allSatisfy(\.isPoint) }
  }

  /// Lends the keys of records to which the entries of some values lead, in the order of identifiers, and whether each is
  /// known to match.
  ///
  /// One block of each value's entries is read. Up to the least identifier with which one of these blocks ends, the blocks
  /// together are complete; the next blocks begin there.
  func forEachKey(
    ofPoints scans: [IndexPlan.Scan], behind start: [UInt8]?,
    _ visit: (_ key: RawSpan, _ isMatch: Bool) throws -> ScanStep
  ) throws {
    var start = start
    var points = scans.flatMap { scan in scan.stretches.map { (item: scan.item, stretch: $0) } }
    var blockCount = Swift.max(16, Swift.min(query.maximumCount ?? .max, 1024))
    while true {
      let block = try candidates(ofPoints: &points, behind: start, blockCount)
      var isEnd = false
      try block.candidates.forEachOnce { key, isMatch in
        if let end = block.end, compareKeys(key.extracting(KeyLayout.identifierOffset...), end.span.bytes) > 0
        {
          return .stop
        }
        let step = try visit(key, isMatch)
        isEnd = step == .stop
        return step
      }
      guard let end = block.end, !isEnd else { return }
      start = end
      blockCount = Swift.min(4 * blockCount, 1024)
    }
  }

  /// The first records behind an identifier to which the entries of some values lead, in order, and the identifier up to which
  /// they are complete; nil for that where there are no others.
  ///
  /// - Parameter points: the values' stretches. The one whose block ended first comes to the front. If it has far more entries
  ///   than the others, its end tells how far to read those the next time, so that they are not read over and over.
  private func candidates(
    ofPoints points: inout [(item: IndexCatalog.Item, stretch: IndexPlan.Stretch)], behind start: [UInt8]?,
    _ blockCount: Int
  ) throws -> (candidates: CandidateKeys, end: [UInt8]?) {
    var candidates = CandidateKeys()
    var end: [UInt8]?
    var endPlace = 0
    for (pointPlace, point) in points.enumerated() {
      var range = range(point.item, way.tags[0], point.stretch)
      if let start { range.lowerBound += start + [0] }
      var rest = blockCount
      try access.transaction.scan(range, .forward) { key, value in
        guard let (place, isMatch) = try reading(key, value, point.stretch.isExact) else { return .continue }
        let identifier = key.extracting(place...)
        if let end, compareKeys(identifier, end.span.bytes) > 0 { return .stop }
        candidates.append(recordOf: key, identifierAt: place, isMatch: isMatch)
        rest -= 1
        if rest > 0 { return .continue }
        end = [UInt8](copying: identifier)
        endPlace = pointPlace
        return .stop
      }
    }
    if endPlace > 0 { points.swapAt(0, endPlace) }
    candidates.sort(areOfOneTag: true)
    return (candidates, end)
  }
}
