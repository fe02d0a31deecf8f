import Dispatch
import GarageDriver
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// One key and its value.
struct ReferenceEntry: Sendable {
  var key: [UInt8]
  var value: [UInt8]
}

/// What all values on one store share in this process: the last commit that was seen, and the writer's gate.
///
/// The file is the number of its commit (8 bytes), the number of entries (8), and for each entry the lengths of key
/// and value (8 bytes each) before their bytes; integers in the machine's order. A commit writes another file and
/// renames it, so that there is always a whole one.
final class ReferenceStore: Sendable {
  let gate = WriterGate()
  private let path: String
  private let mode: ReferenceStorage.Mode
  private let mutation: Mutation?
  private let state = Mutex(State())
  private let plainLock = DispatchSemaphore(value: 1)

  private struct State: Sendable {
    var number: UInt64 = 0
    var entries: [ReferenceEntry] = []
    /// How many storages are open on this store.
    var useCount = 0
    /// The file whose lock keeps other processes out, while `useCount` is above zero.
    var guardFile: Int32 = -1
    /// Whether a mutant's write has become so large that readers wait for it.
    var keepsReadersOut = false
  }

  var keepsReadersOut: Bool {
    get { state.withLock(\.keepsReadersOut) }
    set { state.withLock { $0.keepsReadersOut = newValue } }
  }

  private struct WeakStore: Sendable { weak let store: ReferenceStore? }
  private static let stores = Mutex<[String: WeakStore]>([:])

  /// The store at `path`, the same object for all who ask while one of them keeps it.
  static func at(_ path: String, _ mode: ReferenceStorage.Mode, breaking mutation: Mutation?) throws
    -> ReferenceStore
  {
    let path = mode == .inMemory || mutation == .registryOfPaths ? path : canonical(path)
    return stores.withLock { stores in
      if let store = stores[path]?.store { return store }
      stores = stores.filter { $0.value.store != nil }
      let store = ReferenceStore(path, mode, mutation)
      stores[path] = WeakStore(store: store)
      return store
    }
  }

  /// The same path for every way to write it: that of the file, or of the one that is to be.
  private static func canonical(_ path: String) -> String {
    func resolved(_ path: String) -> String? {
      guard let text = realpath(path, nil) else { return nil }
      defer { free(text) }
      return String(cString: text)
    }
    if let file = resolved(path) { return file }
    let parts = path.split(separator: "/", omittingEmptySubsequences: true)
    let folder = (path.hasPrefix("/") ? "/" : "") + parts.dropLast().joined(separator: "/")
    return (resolved(folder.isEmpty ? "." : folder) ?? folder) + "/" + (parts.last ?? "")
  }

  private init(_ path: String, _ mode: ReferenceStorage.Mode, _ mutation: Mutation?) {
    self.path = path
    self.mode = mode
    self.mutation = mutation
  }

  // MARK: Use

  /// Counts one more storage; the first one of an exclusive store keeps other processes out.
  func retain() throws {
    try state.withLock { state in
      if mode == .exclusive && state.useCount == 0 {
        let file = open(path + ".guard", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure(.open, "The guard file could not be opened.") }
        // Again for a while: a process that was just started or forked here may hold a copy until it goes on.
        var attemptCount = 0
        while flock(file, LOCK_EX | LOCK_NB) != 0 {
          attemptCount += 1
          usleep(10_000)
          guard attemptCount == 100 else { continue }
          close(file)
          throw StorageError(
            .busy, during: .open, driver: "Reference", isRetryable: true,
            message: "\(path): Another process has opened this store. Close it there first.")
        }
        state.guardFile = file
      }
      state.useCount += 1
    }
  }

  /// Counts one storage less; with the last one, other processes may come.
  func release() {
    state.withLock { state in
      state.useCount -= 1
      guard state.useCount == 0, state.guardFile >= 0 else { return }
      close(state.guardFile)
      state.guardFile = -1
    }
  }

  // MARK: Commits

  /// The entries of the last commit, in order.
  func current() throws -> [ReferenceEntry] {
    try state.withLock { state in
      if mode == .inMemory || mutation == .unflushedCommit { return state.entries }
      if mutation == .staleRead && state.number > 0 { return state.entries }
      let number = try commitNumber()
      if number != state.number { try load(into: &state) }
      return state.entries
    }
  }

  /// Makes these entries the last commit.
  func publish(_ entries: [ReferenceEntry]) throws {
    if mutation == .halfACommit { try publishAll(state.withLock { half(of: entries, over: $0.entries) }) }
    try publishAll(entries)
  }

  /// Shows these entries to readers before they are committed.
  func show(_ entries: [ReferenceEntry]) { state.withLock { $0.entries = entries } }

  private func publishAll(_ entries: [ReferenceEntry]) throws {
    try state.withLock { state in
      let number = state.number + 1
      if mode != .inMemory && mutation != .unflushedCommit { try save(entries, number) }
      state.number = number
      state.entries = entries
    }
  }

  /// The first half of the new entries beside the second half of the old ones.
  func half(of new: [ReferenceEntry], over old: [ReferenceEntry]) -> [ReferenceEntry] {
    guard new.count > 1 else { return new }
    let middle = new[new.count / 2].key
    return new.filter { $0.key.lexicographicallyPrecedes(middle) }
      + old.filter { !$0.key.lexicographicallyPrecedes(middle) }
  }

  // MARK: Writers

  /// Waits for the writers of other processes, then runs `body`.
  func withWriter<R>(_ body: () throws -> R) throws -> R {
    if mode == .inMemory || mutation == .unlockedFile || mutation == .twoWriters { return try body() }
    let file = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw failure(.open, "The lock file could not be opened.") }
    // Closing the file gives the lock back, as does the end of the process.
    defer { close(file) }
    while flock(file, LOCK_EX) != 0 {
      if errno != EINTR { throw failure(.write, "The lock could not be taken.") }
    }
    return try body()
  }

  /// Runs `body` as the only one, without knowing which thread it is.
  func withPlainLock<R>(_ body: () throws -> R) throws -> R {
    plainLock.wait()
    defer { plainLock.signal() }
    return try body()
  }

  func waitForWriter() {
    if gate.isHeldByThisThread { return }
    _ = try? gate.withWriter(driver: "Reference") {}
  }

  // MARK: The file

  private func commitNumber() throws -> UInt64 {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    if file < 0 && errno == ENOENT { return 0 }
    guard file >= 0 else { throw failure(.open, "The file could not be opened.") }
    defer { close(file) }
    var number: UInt64 = 0
    guard pread(file, &number, 8, 0) == 8 else { throw failure(.read, "The file is cut off.") }
    return number
  }

  private func load(into state: inout State) throws {
    let data = try Data(contentsOf: URL(fileURLWithPath: path))
    try data.withUnsafeBytes { bytes in
      var offset = 0
      func take(_ count: Int) throws -> UnsafeRawBufferPointer {
        guard count <= bytes.count - offset else { throw failure(.read, "The file is cut off.") }
        defer { offset += count }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + count)])
      }
      func number() throws -> Int { try take(8).loadUnaligned(as: Int.self) }
      let commit = try number()
      let count = try number()
      var entries: [ReferenceEntry] = []
      entries.reserveCapacity(count)
      for _ in 0..<count {
        let (keyCount, valueCount) = (try number(), try number())
        entries.append(ReferenceEntry(key: [UInt8](try take(keyCount)), value: [UInt8](try take(valueCount))))
      }
      state.number = UInt64(commit)
      state.entries = entries
    }
  }

  /// Fails where a file of that many bytes has no room.
  func checkRoom(for byteCount: Int) throws {
    if mode == .inMemory { return }
    let room = path + ".room"
    let file = open(room, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw failure(.put, "The file could not be opened.") }
    defer {
      close(file)
      unlink(room)
    }
    guard ftruncate(file, off_t(byteCount)) == 0 else {
      throw StorageError(
        .storageFull, during: .put, driver: "Reference", engineCode: Int(errno),
        message: "\(path): There is no room for \(byteCount) bytes. Make room, then try again.")
    }
  }

  /// Writes these entries, as those of a first commit, to another file.
  func save(_ entries: [ReferenceEntry], at copy: String) throws {
    do { try encoded(entries, 1).write(to: URL(fileURLWithPath: copy)) } catch {
      throw failure(.read, "The copy could not be written (\(error)). Make room, then try again.")
    }
  }

  private func encoded(_ entries: [ReferenceEntry], _ number: UInt64) -> Data {
    var data = Data()
    func append(_ number: Int) { withUnsafeBytes(of: number) { data.append(contentsOf: $0) } }
    append(Int(number))
    append(entries.count)
    for entry in entries {
      append(entry.key.count)
      append(entry.value.count)
      data.append(contentsOf: entry.key)
      data.append(contentsOf: entry.value)
    }
    return data
  }

  private func save(_ entries: [ReferenceEntry], _ number: UInt64) throws {
    let data = encoded(entries, number)
    if mutation == .tornCommit {
      // In place: half, and a moment later all of it.
      try data.prefix(data.count / 2).write(to: URL(fileURLWithPath: path))
      usleep(1000)
      return try data.write(to: URL(fileURLWithPath: path))
    }
    do {
      // Made with a name of its own and renamed.
      try data.write(to: URL(fileURLWithPath: path), options: .atomic)
    } catch {
      if mutation == .endsTheProcess { abort() }
      throw failure(.commit, "The file could not be written (\(error)). Make room, then try again.")
    }
  }

  private func failure(_ operation: StorageError.Operation, _ message: String) -> StorageError {
    StorageError(
      .io, during: operation, driver: "Reference", engineCode: Int(errno), message: "\(path): \(message)")
  }
}
