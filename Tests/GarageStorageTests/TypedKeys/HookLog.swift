import GarageStorage
import Synchronization

/// What hooks did, in the task that a test runs in.
final class HookLog: Sendable {
  @TaskLocal static var current: HookLog?
  private let entries = Mutex<[String]>([])
  /// What the next hooks do beyond being noted.
  let action = Mutex<[String: @Sendable () throws -> Void]>([:])

  static func note(_ entry: String) {
    guard let log = current else { return }
    log.entries.withLock { $0.append(entry) }
  }

  static func run(_ entry: String) throws {
    note(entry)
    if let action = current?.action.withLock({ $0[entry] }) { try action() }
  }

  func take() -> [String] {
    entries.withLock { entries in
      defer { entries = [] }
      return entries
    }
  }
}

enum HookedSpace: Namespace {
  static let id = "hooked"
  static func preCommitHook() throws { try HookLog.run("pre hooked") }
  static func postCommitHook() { try? HookLog.run("post hooked") }
}
enum InnerSpace: Namespace {
  typealias Parent = HookedSpace
  static let id = "inner"
  static func preCommitHook() throws { try HookLog.run("pre inner") }
  static func postCommitHook() { try? HookLog.run("post inner") }
}
enum SecondSpace: Namespace {
  typealias Parent = HookedSpace
  static let id = "second"
  static func preCommitHook() { HookLog.note("pre second") }
  static func postCommitHook() { HookLog.note("post second") }
}

/// A key of one's own.
struct TracingKey<N: Namespace>: KeyType {
  typealias NamespaceType = N
  typealias ValueType = Int
  var stringValue = "traced"
  var defaultValue = 0

  func willChange(_ oldValue: Int, newValue: Int) { try? HookLog.run("will \(oldValue) → \(newValue)") }
  func processChange(_ oldValue: Int, newValue: Int) -> Int {
    HookLog.note("process \(oldValue) → \(newValue)")
    return newValue * 10
  }
  func didChange(_ oldValue: Int, newValue: Int) { HookLog.note("did \(oldValue) → \(newValue)") }
}
