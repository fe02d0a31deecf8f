import Foundation
public import GarageDriver
import GaragePostgres

/// Amounts that are moved between accounts, by many at a time: whoever looks, the sum is the same.
public enum Transfers {
  /// How many accounts there are.
  public static let accountCount = 100
  /// What each has in the beginning.
  public static let firstAmount = 1000

  private static func key(_ account: Int) -> StorageKey { StorageKey([UInt8]("account-\(account)".utf8)) }

  /// Makes the accounts.
  public static func begin(in storage: any StorageDriver) throws {
    try storage.write { transaction in
      for account in 0..<accountCount {
        try transaction.put([UInt8]("\(firstAmount)".utf8), for: key(account))
      }
      return .commit(())
    }
  }

  /// Moves amounts that many times, each again until it is through, and returns how often the storage refused.
  public static func run(in storage: any StorageDriver, count: Int, seed: UInt64) throws -> Int {
    var random = Numbers(state: seed)
    var refusedCount = 0
    for _ in 0..<count {
      let from = Int.random(in: 0..<accountCount, using: &random)
      let to = (from + Int.random(in: 1..<accountCount, using: &random)) % accountCount
      let amount = Int.random(in: 1...50, using: &random)
      try again(counting: &refusedCount) {
        try storage.write { transaction in
          try transaction.put(
            [UInt8]("\(try self.amount(from, transaction) - amount)".utf8), for: key(from))
          try transaction.put([UInt8]("\(try self.amount(to, transaction) + amount)".utf8), for: key(to))
          return .commit(())
        }
      }
    }
    return refusedCount
  }

  /// Runs `body` again as long as the storage asks for that, up to two minutes: a server that is gone must not be waited
  /// for by who waits for this process.
  private static func again<R>(counting refusedCount: inout Int, _ body: () throws -> R) throws -> R {
    let end = ContinuousClock.now + .seconds(120)
    while true {
      do { return try body() } catch let error as StorageError
        where error.isRetryable && ContinuousClock.now < end
      { refusedCount += 1 }
    }
  }

  /// What all accounts have together, as one reader sees it.
  public static func sum(in storage: any StorageDriver) throws -> Int {
    var refusedCount = 0
    return try again(counting: &refusedCount) {
      try storage.read { transaction in
        var sum = 0
        try transaction.scan(.prefix([UInt8]("account-".utf8)), .forward) { _, value in
          sum += Int(String(decoding: [UInt8](copying: value), as: UTF8.self)) ?? 0
          return .continue
        }
        return sum
      }
    }
  }

  private static func amount(_ account: Int, _ transaction: any ReadTransaction) throws -> Int {
    Int(String(decoding: try transaction.value(for: key(account)) ?? [], as: UTF8.self)) ?? 0
  }

  private struct Numbers: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var z = state
      z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
      return z ^ (z >> 31)
    }
  }
}
