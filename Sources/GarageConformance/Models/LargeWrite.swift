internal import GarageDriver

/// A write with any number of changes, compared with its model.
///
/// Most changes add numbers behind all others. The rest put, overwrite and remove numbers anywhere: numbers of this write,
/// committed ones, and missing ones.
struct LargeWrite {
  private(set) var numbers: NumberModel
  private var random: SeededRandom
  /// The smallest number such that neither it nor any larger one was ever put.
  private var frontier: Int
  private var changeCount = 0
  /// The number that was put first.
  private var first: Int?
  /// The numbers of the last changes.
  private var recent: [Int] = []

  /// Makes changes to a store that holds `numbers`, all of which are below `frontier`.
  init(_ numbers: NumberModel, frontier: Int, random: SeededRandom) {
    self.numbers = numbers
    self.frontier = frontier
    self.random = random
  }

  /// Makes the next change.
  mutating func change(_ transaction: any WriteTransaction) throws {
    changeCount += 1
    let number: Int
    switch random.below(20) {
    case 0..<11:
      number = frontier
      frontier += 1
      try put(number, transaction)
    case 11..<16:
      number = random.below(frontier)
      try put(number, transaction)
    case 16..<18:
      number = random.below(frontier)
      try remove(number, transaction)
    default:
      number = max(0, frontier - 1 - random.below(40))
      try remove(number, transaction)
    }
    if recent.count == 4 { recent.removeFirst() }
    recent.append(number)
  }

  private mutating func put(_ number: Int, _ transaction: any WriteTransaction) throws {
    let version = UInt32(changeCount + 1)
    try transaction.put(number: number, version: version)
    numbers[number] = version
    if first == nil { first = number }
  }

  private mutating func remove(_ number: Int, _ transaction: any WriteTransaction) throws {
    try transaction.remove(number: number)
    numbers[number] = 0
  }

  /// Compares a few gets and short scans: at the first and the last changes, at both ends, and elsewhere.
  mutating func look(_ transaction: any ReadTransaction, _ fixture: Fixture) throws {
    let what = "after \(changeCount) changes in one write"
    let anywhere = (0..<6).map { _ in random.below(frontier) }
    for number in recent + anywhere.prefix(2) + (first.map { [$0] } ?? []) {
      try fixture.expectGet(number, of: numbers, in: transaction, what)
    }
    try fixture.expectMultiGet(recent + anywhere, of: numbers, in: transaction, what)
    let limit = numbers.versions.count
    for range in [0..<limit, anywhere[0]..<limit, 0..<(anywhere[1] + 1), recent[0]..<limit] {
      for direction in ScanDirection.allCases {
        try fixture.expectScan(direction, range, limit: 5, of: numbers, in: transaction, what)
        try fixture.expectScan(
          direction, range, limit: 5, of: numbers, keysOnly: true, in: transaction, what)
      }
    }
  }

  /// Compares everything: scans entries in one direction, and only keys in the other.
  mutating func lookAtAll(_ transaction: any ReadTransaction, _ fixture: Fixture) throws {
    let what = "after \(changeCount) changes in one write"
    let isForward = random.below(2) == 0
    try fixture.expectScan(isForward ? .forward : .backward, of: numbers, in: transaction, what)
    try fixture.expectScan(
      isForward ? .backward : .forward, of: numbers, keysOnly: true, in: transaction, what)
    let wanted = (0..<min(3000, changeCount)).map { _ in random.below(frontier) }
    try fixture.expectMultiGet(wanted, of: numbers, in: transaction, what)
  }
}

/// Whole numbers from 1 to `end`, each about `percent` per cent larger than the one before.
func geometric(to end: Int, percent: Int) -> [Int] {
  var numbers = [1]
  while let last = numbers.last, last < end { numbers.append(min(end, last + max(1, last * percent / 100))) }
  return numbers
}
