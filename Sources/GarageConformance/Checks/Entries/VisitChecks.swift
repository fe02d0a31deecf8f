internal import GarageDriver

/// The visits at which a visitor throws, or returns `.stop`: each one near the beginning, where a driver that reads in pages
/// ends its pages, whatever their size; and then those at which larger pages of usual sizes end.
private func positions(eachTo end: Int) -> [Int] {
  let usual = [
    600, 640, 700, 750, 768, 800, 900, 1000, 1023, 1024, 1025, 1200, 1250, 1280, 1500, 1536, 1600, 1800, 1920,
    2000,
    2048, 2400, 2500, 3000, 3072, 3200, 3600, 4000, 4096, 5000, 5120, 6000, 7200, 8000, 8192, 10_000, 10_240,
    16_384,
  ]
  return Array(1...end) + usual.filter { $0 > end }
}

/// Checks that a multi-get and scans end where their visitor ends them, at any visit.
enum VisitChecks {
  /// Adds checks that a multi-get and scans end where their visitor ends them, at any visit.
  static func addMultiGetEnds(to topic: inout CheckTopic) {
    let rule = "An error that a visitor throws leaves withValues unchanged, and ends it, at whichever visit."
    topic.add("an-error-ends-it-anywhere", rule) { fixture in
      let storage = try fixture.newStore(ofNumbersBelow: 500).storage
      let few = (0..<1300).map { NumberModel.key($0 * 7 % 510) }
      let many = (0..<17_000).map { NumberModel.key($0 % 510) }
      func check(_ transaction: any ReadTransaction, _ positions: [Int]) throws {
        let error = TestError()
        for position in positions {
          fixture.atStep(position)
          var count = 0
          try fixture.expectUnchanged(error, from: "withValues at visit \(position)") {
            try transaction.withValues(for: position < 1200 ? few : many) { _, _ in
              count += 1
              if count == position { throw error }
            }
          }
          try fixture.expectEqual(count, position, "the number of visits")
        }
      }
      try storage.read { try check($0, positions(eachTo: 1050)) }
      try storage.commit { transaction in
        for number in 0..<300 { try transaction.put(number: number, version: 2) }
        try check(transaction, geometric(to: 1100, percent: 9) + [100, 128, 200, 256, 500, 512, 1000, 1024])
      }
    }
  }

  /// Adds checks that scans end where their visitor ends them, at any visit.
  static func addScanEnds(to topic: inout CheckTopic) {
    for direction in ScanDirection.allCases {
      topic.add(
        "\(direction)-ends-when-told-anywhere",
        "A scan ends where its visitor says stop or throws, at whichever visit."
      ) { fixture in
        try checkEnds(at: positions(eachTo: 520), direction, keysOnly: false, fixture)
      }
    }
  }

  /// Adds the same checks for scans of keys.
  static func addKeyScanEnds(to topic: inout CheckTopic) {
    for direction in ScanDirection.allCases {
      topic.add(
        "keys-\(direction)-ends-when-told-anywhere",
        "scanKeys ends where its visitor says stop or throws, at whichever visit."
      ) { fixture in
        // Not every visit up to there: the checks of scans that lend values try them all.
        let near = [150, 160, 192, 200, 250, 255, 256, 257, 300, 320, 333, 384, 400, 500, 511, 512, 513]
        try checkEnds(at: positions(eachTo: 130) + near, direction, keysOnly: true, fixture)
      }
    }
  }
}

/// Ends scans at each of these visits in a reader, and at fewer of them in a writer with changes of its own.
private func checkEnds(
  at positions: [Int], _ direction: ScanDirection, keysOnly: Bool, _ fixture: Fixture
) throws {
  let (few, many) = (
    try fixture.newStore(ofNumbersBelow: 700), try fixture.newStore(ofNumbersBelow: 17_000)
  )
  func check(_ position: Int, _ transaction: any ReadTransaction) throws {
    fixture.atStep(position)
    for isThrowing in [false, true] {
      try expectEnd(
        at: position, throwing: isThrowing, transaction, direction, keysOnly: keysOnly, fixture)
    }
  }
  try few.storage.read { few in
    try many.storage.read { many in
      for position in positions { try check(position, position < 680 ? few : many) }
    }
  }
  try few.storage.commit { transaction in
    for number in 0..<400 { try transaction.put(number: number, version: 2) }
    for position in geometric(to: 650, percent: 9) + [100, 128, 200, 256, 500, 512] {
      try check(position, transaction)
    }
  }
}

private func expectEnd(
  at position: Int, throwing: Bool, _ transaction: any ReadTransaction, _ direction: ScanDirection,
  keysOnly: Bool, _ fixture: Fixture
) throws {
  var count = 0
  let error = TestError()
  func visit() throws -> ScanStep {
    count += 1
    if throwing && count == position { throw error }
    return count == position ? .stop : .continue
  }
  func scan() throws {
    if keysOnly {
      try transaction.scanKeys(.all, direction) { _ in try visit() }
    } else {
      try transaction.scan(.all, direction) { _, _ in try visit() }
    }
  }
  if throwing {
    try fixture.expectUnchanged(error, from: "a scan at visit \(position)", scan)
  } else {
    try scan()
  }
  try fixture.expectEqual(count, position, "the number of visits")
}
