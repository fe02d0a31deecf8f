#if os(Linux) || os(macOS) || os(FreeBSD)
  internal import GarageDriver

  /// The transactions that the child of a crash check commits again and again.
  struct CrashProfile: Sendable {
    var name: String
    /// The number of keys that every transaction overwrites or removes.
    var width: Int
    /// The longest of their values, in bytes.
    var valueByteCount: Int

    static let all = [
      CrashProfile(name: "narrow", width: 3, valueByteCount: 40),
      CrashProfile(name: "wide", width: 120, valueByteCount: 300),
      CrashProfile(name: "large", width: 5, valueByteCount: 120_000),
    ]

    /// How many of the last transactions have a key of their own.
    private static let logCount = 50

    /// Makes the change of transaction `number`, whose predecessor was `number - 1`.
    func change(_ transaction: any WriteTransaction, _ number: Int) throws {
      try transaction.set("number", "\(number)")
      try transaction.set("log-\(digits(number, 8))", "\(number)")
      if number > Self.logCount { try transaction.delete("log-\(digits(number - Self.logCount, 8))") }
      for index in 0..<width {
        let key = StorageKey(bytes("wide-\(digits(index))"))
        if let value = value(index, number) {
          try transaction.put(value, for: key)
        } else {
          try transaction.remove(key)
        }
      }
    }

    /// All entries of the store after transaction `number`, in order.
    func entries(after number: Int) -> [Entry] {
      if number == 0 { return [] }
      var entries = (max(1, number - Self.logCount + 1)...number).map {
        Entry("log-\(digits($0, 8))", "\($0)")
      }
      entries.append(Entry("number", "\(number)"))
      for index in 0..<width {
        if let value = value(index, number) {
          entries.append(Entry(key: bytes("wide-\(digits(index))"), value: value))
        }
      }
      return entries
    }

    /// The value of key `index` after transaction `number`. Each value names its transaction, and every fifth is missing.
    private func value(_ index: Int, _ number: Int) -> [UInt8]? {
      if (index + number) % 5 == 0 { return nil }
      let count = (index * 7919 + number * 104_729) % valueByteCount
      return bytes("\(number):")
        + [UInt8](repeating: UInt8(truncatingIfNeeded: number &* 31 &+ index), count: count)
    }
  }
#endif
