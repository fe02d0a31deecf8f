import GarageDriver

/// What a driver holds, for tests that look below the garage.
enum Driver {
  static func contents(_ driver: any StorageDriver, _ range: StorageKeyRange = .all) throws -> [StorageKey:
    [UInt8]]
  {
    try driver.read { transaction in
      var contents: [StorageKey: [UInt8]] = [:]
      try transaction.scan(range, .forward) { key, value in
        contents[StorageKey(key)] = [UInt8](copying: value)
        return .continue
      }
      return contents
    }
  }

  static func put(_ value: [UInt8], for key: [UInt8], _ driver: any StorageDriver) throws {
    try driver.write { transaction in
      try transaction.put(value, for: StorageKey(key))
      return .commit(())
    }
  }
}
