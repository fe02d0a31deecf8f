#if PostgreSQL
  internal import GarageDriver

  /// The values that a write takes from the storage's memory, and has the server check.
  struct PostgreSQLRecall {
    private let memory: PostgreSQLMemory
    /// The keys that may be remembered.
    private var keys: [StorageKey] = []
    /// The values that were given for these keys.
    private(set) var answered: [StorageKey: [UInt8]?] = [:]
    /// The keys that were answered from memory and whose check was not sent yet.
    private var expected: [(key: StorageKey, value: [UInt8]?)] = []
    /// Whether anything was answered that the server has not checked yet, as far as is known here.
    private(set) var isUnchecked = false
    /// The keys that the transaction itself changes.
    private var changed: [StorageKey] = []

    init(_ memory: PostgreSQLMemory) { self.memory = memory }

    var isEmpty: Bool { keys.isEmpty }

    mutating func add(_ key: StorageKey) {
      if !keys.contains(key) && !changed.contains(key) { keys.append(key) }
    }

    /// The value to be assumed for a key; nil where there is none that is known.
    mutating func value(of key: StorageKey) -> [UInt8]?? {
      guard keys.contains(key) else { return nil }
      if let value = answered[key] { return value }
      guard let value = memory.value(of: key) else { return nil }
      answered.updateValue(value, forKey: key)
      expected.append((key, value))
      isUnchecked = true
      return value
    }

    /// The keys that may be remembered, and are not known.
    var unknownKeys: [StorageKey] {
      keys.filter { answered[$0] == nil && memory.value(of: $0) == nil }
    }

    func contains(_ key: StorageKey) -> Bool { keys.contains(key) }

    /// Notes what the transaction has read, and not changed before.
    mutating func note(_ value: [UInt8]?, of key: StorageKey) {
      answered.updateValue(value, forKey: key)
      memory.note(value, of: key)
    }

    /// Queues the checks.
    mutating func sendExpected(_ connection: PostgreSQLConnection) {
      if expected.isEmpty { return }
      for (key, value) in expected {
        key.bytes.withUnsafeBytes { key in
          if let value {
            value.withUnsafeBytes { connection.send(.expectValue, [key, $0]) }
          } else {
            connection.send(.expectNone, [key])
          }
        }
      }
      expected.removeAll()
    }

    /// Notes that all that was sent was answered, and nothing failed.
    mutating func noteChecked() { if expected.isEmpty { isUnchecked = false } }

    // MARK: Changes of the transaction's own

    mutating func noteChange(of key: StorageKey) {
      guard let index = keys.firstIndex(of: key) else { return }
      keys.remove(at: index)
      answered.removeValue(forKey: key)
      changed.append(key)
    }

    mutating func noteChanges(in range: StorageKeyRange) {
      for key in keys where range.contains(key) { noteChange(of: key) }
    }

    // MARK: The end

    mutating func endCommitted() { if !changed.isEmpty { memory.forget(changed) } }

    /// The assumed values may be the reason, so the next transaction asks the server.
    mutating func endUndone() { if isUnchecked { memory.forget(keys + changed) } }
  }
#endif
