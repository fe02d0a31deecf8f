internal import GarageDriver
internal import Synchronization

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// What a check works with: new places, opened stores, and the words for what went wrong.
final class Fixture: Sendable {
  let options: ConformanceOptions
  private let check: ConformanceCheck
  private let openStore: @Sendable (ConformancePlace) throws -> any StorageDriver
  private let folder: URL
  private let state = Mutex(State())

  private struct State {
    var placeCount = 0
    var opened: [any StorageDriver] = []
    var atEnd: [@Sendable () -> Void] = []
    var firstFailure: ConformanceFailure?
    var outcome = ConformanceOutcome.passed
    var seed: UInt64?
    var step: Int?
    /// How many expectations were met.
    var metCount = 0
    /// Whether a driver has stated that its writers conflict.
    var writersConflict = false
  }

  init(
    check: ConformanceCheck, options: ConformanceOptions,
    openStore: @escaping @Sendable (ConformancePlace) throws -> any StorageDriver
  ) throws {
    self.check = check
    self.options = options
    self.openStore = openStore
    folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("garage-conformance-\(UUID().uuidString)", isDirectory: true)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  // MARK: Stores

  /// A place where nothing stands.
  func newPlace() -> ConformancePlace {
    let number = state.withLock { state in
      state.placeCount += 1
      return state.placeCount
    }
    let path = folder.appendingPathComponent("store-\(number)").path
    return ConformancePlace(name: "\(folder.lastPathComponent)-\(number)", path: path)
  }

  /// Opens the store at `place`; the fixture closes it after the check.
  func open(_ place: ConformancePlace, file: StaticString = #fileID, line: UInt = #line) throws
    -> any StorageDriver
  {
    let storage = try openUntracked(place, file: file, line: line)
    state.withLock { $0.opened.append(storage) }
    return storage
  }

  /// Opens the store at `place`, and does not retain it.
  func openUntracked(
    _ place: ConformancePlace, file: StaticString = #fileID, line: UInt = #line
  ) throws -> any StorageDriver {
    let storage = try located(file, line) { try openStore(place) }
    if storage.info.writersConflict { state.withLock { $0.writersConflict = true } }
    if check.readsDeferred, let deferred = storage as? any DeferredReading {
      return DeferredReadStorage(base: deferred)
    }
    return storage
  }

  /// Opens the store at `place` for reading only; nil if the options do not say how. The fixture closes it after the check.
  func openReadOnly(_ place: ConformancePlace, file: StaticString = #fileID, line: UInt = #line) throws
    -> (any StorageDriver)?
  {
    guard let open = options.openReadOnly else { return nil }
    let storage = try located(file, line) { try open(place) }
    state.withLock { $0.opened.append(storage) }
    return storage
  }

  /// The names of the file or folder at `place` and of the files beside it, sorted.
  func fileNames(at place: ConformancePlace) throws -> [String] {
    let name = place.url.lastPathComponent
    return try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { other in
      other == name || [".", "-"].contains { other.hasPrefix(name + $0) }
    }.sorted()
  }

  /// A new, empty store.
  func newStore(file: StaticString = #fileID, line: UInt = #line) throws -> any StorageDriver {
    try open(newPlace(), file: file, line: line)
  }

  /// A new store that holds `entries`.
  func newStore(
    holding entries: KeyValuePairs<String, String>, file: StaticString = #fileID, line: UInt = #line
  ) throws -> any StorageDriver {
    let storage = try newStore(file: file, line: line)
    try storage.put(entries, file: file, line: line)
    return storage
  }

  func closeAll() {
    let opened = state.withLock { state in
      defer { state.opened = [] }
      return state.opened
    }
    for storage in opened { try? storage.close() }
  }

  /// Runs `action` after the check, also if the check never ended.
  func atEnd(_ action: @escaping @Sendable () -> Void) { state.withLock { $0.atEnd.append(action) } }

  func runAtEnd() {
    let actions = state.withLock(\.atEnd)
    for action in actions { action() }
  }

  // MARK: Refusals

  /// Whether an error says that the engine wants the call to be made again, which it may where writers conflict.
  func isRefusal(_ error: any Error) -> Bool {
    guard let error = error as? StorageError, error.kind == .conflict, error.isRetryable else { return false }
    return state.withLock(\.writersConflict)
  }

  // MARK: Skipping

  /// The reason why the check has nothing to check on this driver; nil if it has. The driver is opened to find out.
  func reasonToSkip(_ requirement: Requirement) throws -> String? {
    guard requirement.isConditional else { return nil }
    let storage = try openStore(newPlace())
    defer { try? storage.close() }
    return requirement.reasonToSkip(storage.info, options)
  }

  func skip(_ reason: String) { state.withLock { $0.outcome = .skipped(reason: reason) } }

  var outcome: ConformanceOutcome { state.withLock(\.outcome) }

  func removeFolder() { try? FileManager.default.removeItem(at: folder) }

  // MARK: Randomness

  /// A generator seeded by the options and by `salt`. Later failures name the seed.
  func random(_ salt: UInt64 = 0) -> SeededRandom {
    let seed = options.seed &+ salt
    state.withLock { $0.seed = seed }
    return SeededRandom(seed: seed)
  }

  /// Sets the step that later failures name.
  func atStep(_ step: Int) { state.withLock { $0.step = step } }

  // MARK: Failures

  /// The first failure of this check, kept here in case a driver swallows it.
  var firstFailure: ConformanceFailure? { state.withLock(\.firstFailure) }

  /// Notes that an expectation at this line was met, so that the next failure comes after it.
  func met(file: StaticString, line: UInt) {
    state.withLock { $0.metCount += 1 }
    Worker.current?.reach(file, line)
  }

  func failure(
    _ expected: String, _ seen: String, file: StaticString = #fileID, line: UInt = #line
  ) -> ConformanceFailure {
    unplacedFailure(expected, seen, at: "\(file):\(line)")
  }

  /// A failure at this line, or somewhere in the check.
  func unplacedFailure(_ expected: String, _ seen: String, at location: String?) -> ConformanceFailure {
    state.withLock { state in
      let failure = ConformanceFailure(
        check: check.name, rule: check.rule, expected: expected, seen: seen, seed: state.seed,
        step: state.step ?? state.metCount, location: location ?? check.location)
      if state.firstFailure == nil { state.firstFailure = failure }
      return failure
    }
  }
}
