internal import GarageCoding
internal import GarageDriver

// Typed keys for tasks. Hooks and change functions run where the caller is: those that precede the commit before it is
// submitted, those that follow it after it is acknowledged.

extension Garage {
  /// The value of a key; its default if nothing is stored.
  ///
  /// - Throws: as ``GarageReading/get(_:)``, and `CancellationError` if the task was cancelled.
  @inlinable
  nonisolated(nonsending)
    public func get<K: KeyType>(_ key: K) async throws -> K.ValueType where K.ValueType: Codable
  {
    if mayReadHere { return try inPlaceGet(key) }
    return try await getFetched(key)
  }

  @inlinable
  @inline(__always)
  func inPlaceGet<K: KeyType>(_ key: K) throws -> K.ValueType where K.ValueType: Codable { try get(key) }

  /// Whether a read of one value never waits.
  @usableFromInline
  var mayReadHere: Bool { !store.roundTripsAreExpensive && !Task.isCancelled }

  @usableFromInline
  nonisolated(nonsending)
    func getFetched<K: KeyType>(_ key: K) async throws -> K.ValueType where K.ValueType: Codable
  {
    try await readingHere { try $0.value(of: key) ?? key.defaultValue }
  }

  /// Whether a value is stored under a key, even if it equals the default.
  ///
  /// - Throws: as ``GarageReading/contains(_:)``, and `CancellationError`.
  nonisolated(nonsending)
    public func contains<K: KeyType>(_ key: K) async throws -> Bool
  {
    try await readingHere { access in
      try KeyName.with(key) { bytes, _ in try access.transaction.contains(bytes) }
    }
  }

  /// The keys in a namespace, and in the namespaces inside it, under which values are stored.
  ///
  /// - Throws: as ``GarageReading/storedKeys(in:)``, and `CancellationError`.
  nonisolated(nonsending)
    public func storedKeys<N: Namespace>(in namespace: N.Type) async throws -> [StoredKey]
  {
    try await readingFetched { access in
      try inPlace { try GarageReader(access).storedKeys(in: namespace) }
    }
  }

  /// All keys under which values are stored.
  ///
  /// - Throws: as ``storedKeys(in:)``.
  nonisolated(nonsending)
    public func storedKeys() async throws -> [StoredKey]
  {
    try await storedKeys(in: GlobalNamespace.self)
  }

  // MARK: Changing

  /// Sets the value of a key, and parks the objects that it refers to. For a key whose value is optional, nil removes the
  /// stored value.
  ///
  /// - Throws: as ``GarageWriting/set(_:value:)``, and `CancellationError` as ``park(_:)-(T)``.
  nonisolated(nonsending)
    public func set<K: KeyType>(_ key: K, value: K.ValueType) async throws where K.ValueType: Codable
  {
    if key.observesChanges {
      return try await change(key) { _ in value }
    }
    try await commit(try KeyChange(key, to: value, of: self), K.NamespaceType.self)
  }

  /// Reads the value of a key, or its default, lets `body` change it, and sets it, as if in one transaction.
  ///
  /// `body` runs where the caller is. If another change came in between, `body` runs again, so let it do nothing else.
  ///
  /// - Throws: the errors of `body`, as ``GarageWriting/update(_:_:)``, and `CancellationError` as ``park(_:)-(T)``. Nothing is
  ///   changed then.
  @discardableResult
  nonisolated(nonsending)
    public func update<K: KeyType, R>(_ key: K, _ body: (inout K.ValueType) throws -> R) async throws -> R
  where K.ValueType: Codable {
    var result: R?
    try await change(key) { old in
      var new = old
      result = try body(&new)
      return new
    }
    return result.unsafelyUnwrapped
  }

  /// Removes the value of a key, so that the key has its default again. A value that cannot be read is removed, too.
  ///
  /// - Throws: as ``GarageWriting/remove(_:)``, and `CancellationError` as ``park(_:)-(T)``.
  nonisolated(nonsending)
    public func remove<K: KeyType>(_ key: K) async throws where K.ValueType: Codable
  {
    let name = try KeyName.with(key) { bytes, _ in StorageKey(bytes) }
    try await inTurnsOf(name) { try await self.removeOnce(key, name) }
  }

  /// Removes the values of all keys in a namespace and in the namespaces inside it.
  ///
  /// - Throws: as ``GarageWriting/clear(_:)``, and `CancellationError` as ``park(_:)-(T)``.
  nonisolated(nonsending)
    public func clear<N: Namespace>(_ namespace: N.Type) async throws
  {
    let prefix = KeyName.prefix(of: namespace)
    try await committing(namespace) {
      try $0.clear(prefix: prefix)
      return true
    }
  }

  /// Removes the values of all keys. Objects stay.
  ///
  /// - Throws: as ``clear(_:)``.
  nonisolated(nonsending)
    public func clear() async throws
  {
    try await clear(GlobalNamespace.self)
  }

  /// Moves entries of `UserDefaults` into the garage, all in one transaction.
  ///
  /// The migrations' processors run on a thread of the library's.
  ///
  /// - Throws: as ``GarageWriting/migrate(_:)``, and `CancellationError` as ``park(_:)-(T)``.
  nonisolated(nonsending)
    public func migrate(_ migrations: [KeyMigration]) async throws
  {
    try await submit { try $0.migrate(migrations) }
  }

  // MARK: - In steps

  /// Sets a key to the value that `new` makes of its present one. Does so again until no other call has changed the key in
  /// between.
  nonisolated(nonsending)
    private func change<K: KeyType>(
      _ key: K, _ new: (K.ValueType) throws -> K.ValueType
    ) async throws where K.ValueType: Codable
  {
    let name = try KeyName.with(key) { bytes, _ in StorageKey(bytes) }
    try await inTurnsOf(name) { try await self.changeOnce(key, name, new) }
  }

  /// Runs `attempt` until it returns that no other call changed the key in between.
  nonisolated(nonsending)
    private func inTurnsOf(
      _ name: StorageKey, _ attempt: nonisolated(nonsending) () async throws -> Bool
    ) async throws
  {
    if try await attempt() { return }
    // From here on, tasks that change the same key take turns, so that each commit changes it once.
    try await keyTurns.wait(for: name)
    defer { keyTurns.end(name) }
    while try await !attempt() {}
  }

  /// Sets the key, and returns whether nobody else changed it in between.
  nonisolated(nonsending)
    private func changeOnce<K: KeyType>(
      _ key: K, _ name: StorageKey, _ new: (K.ValueType) throws -> K.ValueType
    ) async throws -> Bool where K.ValueType: Codable
  {
    let (stored, seen) = try await readingHere { try $0.seenValue(of: key, name) }
    let old = stored ?? key.defaultValue
    var value = try new(old)
    var didChange: (() -> Void)?
    if key.observesChanges {
      value = key.processChange(old, newValue: value)
      key.willChange(old, newValue: value)
      let value = value
      didChange = { key.didChange(old, newValue: value) }
    }
    var change = try KeyChange(key, to: value, of: self)
    change.expected = seen
    return try await commit(change, K.NamespaceType.self, after: didChange)
  }

  /// Does the same for removing. Observers get the value that was there when it was removed.
  nonisolated(nonsending)
    private func removeOnce<K: KeyType>(_ key: K, _ name: StorageKey) async throws -> Bool
  where K.ValueType: Codable {
    let stored: (isThere: Bool, read: (value: K.ValueType?, seen: SeenValues)?) = try await readingHere {
      guard try $0.transaction.contains(name) else { return (false, nil) }
      // A value that cannot be read is removed as well, but observers are not told.
      return (true, key.observesChanges ? try? $0.seenValue(of: key, name) : nil)
    }
    guard stored.isThere else {
      // What is unsaved is saved by this verb, too, as by the one that is not async.
      if isAutosaveEnabled && hasUnsavedChanges { try await submit { _ in } }
      return true
    }
    var change = KeyChange(removing: name)
    guard let (old, seen) = stored.read, let old else {
      return try await commit(change, K.NamespaceType.self)
    }
    let new = key.defaultValue
    key.willChange(old, newValue: new)
    change.expected = seen
    return try await commit(change, K.NamespaceType.self) { key.didChange(old, newValue: new) }
  }

  /// Commits a change. Returns false if it expected another value.
  @discardableResult
  nonisolated(nonsending)
    private func commit<N: Namespace>(
      _ change: KeyChange, _ namespace: N.Type, after: (() -> Void)? = nil
    ) async throws -> Bool
  {
    try await committing(
      namespace, byteCount: change.byteCount, tellsObjects: change.tellsObjects, { try change.make(in: $0) },
      after: after)
  }

  /// Commits with the hooks of a namespace.
  ///
  /// - Parameters:
  ///   - tellsObjects: whether objects have to be told that they were parked, which a body that only writes bytes does not do.
  ///   - body: returns whether it changed anything.
  ///   - after: runs after these hooks, after the commit that saves the change.
  /// - Returns: whether anything was changed.
  @discardableResult
  nonisolated(nonsending)
    private func committing<N: Namespace>(
      _ namespace: N.Type, byteCount: Int = 0, tellsObjects: Bool = false,
      _ body: @escaping (WriteAccess) throws -> Bool, after: (() -> Void)? = nil
    ) async throws -> Bool
  {
    // It may run more than once, if the commit is tried again.
    let hasChanged = CarriedResult<Bool>()
    guard isAutosaveEnabled, !hasUnsavedChanges else {
      // The hooks wait with the change until it is saved, or run with those of the changes that are saved along with it: for
      // one commit the hooks of a namespace run once.
      try await submit { access in
        let isChanged = try body(access)
        hasChanged.value = isChanged
        guard isChanged else { return }
        access.pending.hooks.note(namespace)
        if let after { access.pending.hooks.afterCommit(after) }
      }
      return hasChanged.value == true
    }
    var hooks = CommitHooks()
    hooks.note(namespace)
    do { try hooks.runBeforeCommit() } catch { throw translated(error) }
    if let after { hooks.afterCommit(after) }
    // Changes that became unsaved in between are saved by the same commit, after which the hooks of a namespace run once. Before
    // it they run again then, because these changes were not there yet.
    func own() -> CommitHooks { hasChanged.value == true ? hooks : CommitHooks() }
    // Also if a hook, or somebody else, has switched autosave off by now: these hooks are those of a commit.
    if tellsObjects {
      try await submit(autosaves: true, with: own) { hasChanged.value = try body($0) }
    } else {
      try await submitBytes(byteCount: byteCount, autosaves: true, with: own) {
        hasChanged.value = try body($0)
      }
    }
    return hasChanged.value == true
  }
}

/// A change of a key's stored bytes.
struct KeyChange {
  private let name: StorageKey
  /// The new bytes; nil if the value is removed.
  private var value: [UInt8]?
  /// The records that the value refers to.
  private var graph: EncodedGraph?
  /// What has to be stored before the change; nil if anything may be.
  var expected: SeenValues?

  /// Encodes a value.
  init<K: KeyType>(_ key: K, to value: K.ValueType, of garage: Garage) throws where K.ValueType: Codable {
    name = try KeyName.with(key) { bytes, _ in StorageKey(bytes) }
    var plain: [UInt8]?
    let isPlain = try KeyName.withPlainRecord(of: value, key) { record, _ in plain = [UInt8](record) }
    if isPlain {
      self.value = plain.flatMap { $0.isEmpty ? nil : $0 }
    } else if !isNil(value) {
      let encoded = try garage.encoding { try $0.encode(value, of: key, dates: garage.dateEncodingStrategy) }
      try translatingErrors { try garage.meetTypes(of: encoded.graph) }
      (self.value, graph) = (encoded.bytes, encoded.graph)
    }
  }

  init(removing name: StorageKey) { self.name = name }

  var byteCount: Int { (value?.count ?? 0) + (graph?.bytes.count ?? 0) }

  /// Whether objects that stood inline before are parked along with the value.
  var tellsObjects: Bool { graph?.inlineTargets.isEmpty == false }

  /// Makes the change. Returns false, and changes nothing, if something other than expected is stored.
  func make(in access: WriteAccess) throws -> Bool {
    if let expected, try !expected.areThere(in: access.transaction) { return false }
    if let graph { try access.put(graph) }
    if let value {
      try access.transaction.put(value, for: name)
    } else {
      try access.transaction.remove(name)
    }
    return true
  }
}
