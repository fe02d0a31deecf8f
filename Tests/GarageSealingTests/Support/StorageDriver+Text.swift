import GarageDriver

extension StorageDriver {
  func put(_ entries: [String: String]) throws {
    try write { transaction in
      for (key, value) in entries.sorted(by: <) {
        try transaction.put(Array(value.utf8), for: StorageKey(Array(key.utf8)))
      }
      return .commit(())
    }
  }

  func put(raw value: [UInt8], for key: String) throws {
    try write { transaction in
      try transaction.put(value, for: StorageKey(Array(key.utf8)))
      return .commit(())
    }
  }

  func raw(_ key: String) throws -> [UInt8]? { try read { try $0.value(for: StorageKey(Array(key.utf8))) } }

  func text(_ key: String) throws -> String? { try raw(key).map { String(decoding: $0, as: UTF8.self) } }

  func entries() throws -> [String: String] {
    try read { transaction in
      var entries: [String: String] = [:]
      try transaction.scan(.all, .forward) { key, value in
        entries[String(decoding: [UInt8](copying: key), as: UTF8.self)] =
          String(decoding: [UInt8](copying: value), as: UTF8.self)
        return .continue
      }
      return entries
    }
  }
}

/// What a body throws as `StorageError`.
func storageError(_ body: () throws -> Void) -> StorageError? {
  do { try body() } catch { return error as? StorageError }
  return nil
}
