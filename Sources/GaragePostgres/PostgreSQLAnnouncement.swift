#if PostgreSQL
  internal import GarageDriver

  /// The keys that were announced to a write, and the block of them that was fetched last.
  struct PostgreSQLAnnouncement {
    enum Known {
      case value([UInt8]?)
      /// The value is there, but too large to be fetched along with others.
      case large
    }

    private var keys: [StorageKey] = []
    private var positions: [StorageKey: Int] = [:]
    private var fetched: [StorageKey: Known] = [:]
    /// How many answers the last block gave, and how many blocks in a row gave hardly any.
    private var (useCount, poorCount) = (0, 0)

    static let blockCount = 2000

    var isEmpty: Bool { keys.isEmpty }

    init() {}

    /// Begins with these keys. A key that is announced twice has the first of its places.
    init(_ keys: [StorageKey]) {
      self.keys = keys
      positions.reserveCapacity(keys.count)
      for (position, key) in keys.enumerated() where positions[key] == nil { positions[key] = position }
    }

    /// What is known of a key.
    mutating func known(_ key: StorageKey) -> Known? {
      guard let known = fetched[key] else { return nil }
      useCount += 1
      return known
    }

    /// What to fetch where this key is asked for; nil where it was not announced.
    mutating func block(from key: StorageKey) -> [StorageKey]? {
      guard let position = positions[key] else { return nil }
      // The keys are asked for in another order than announced. Blocks then cost more than they save.
      poorCount = !fetched.isEmpty && useCount < 4 ? poorCount + 1 : 0
      useCount = 0
      if poorCount > 2 {
        self = PostgreSQLAnnouncement()
        return nil
      }
      let block = keys[position..<min(keys.count, position + Self.blockCount)]
      return block.filter { 1...StorageInfo.guaranteedKeyByteCount ~= $0.bytes.count }
    }

    /// Notes a block in place of the one before.
    mutating func note(_ block: [StorageKey: Known]) { fetched = block }

    /// Forgets a key that is about to be changed.
    mutating func forget(_ key: StorageKey) {
      fetched[key] = nil
      positions[key] = nil
    }

    /// Forgets what was fetched.
    mutating func forgetFetched() { fetched.removeAll() }
  }
#endif
