internal import GarageCoding
internal import Synchronization

/// A setting of one garage, for a closure that has not returned.
///
/// A task-local value would be inherited by tasks that the closure starts, and outlive the closure there. So the scope knows
/// the task that it is for, and whether it has ended.
final class TaskScope: Sendable {
  enum Setting: Sendable {
    case autosaveDisabled
    case dateEncoding(DateEncodingStrategy)
    case dateDecoding(DateDecodingStrategy)
  }

  @TaskLocal private static var current: TaskScope?

  private let setting: Setting
  private let outer: TaskScope?
  private let garage: ObjectIdentifier
  private let task: Int?
  private let isOver = Atomic<Bool>(false)

  private init(_ setting: Setting, of garage: Garage) {
    self.setting = setting
    self.garage = ObjectIdentifier(garage)
    outer = TaskScope.current
    task = TaskScope.currentTask
  }

  /// Runs `body` with a setting that applies to the calling task alone, and ends with it.
  static func with<R>(_ setting: Setting, of garage: Garage, _ body: () throws -> R) rethrows -> R {
    let scope = TaskScope(setting, of: garage)
    defer { scope.isOver.store(true, ordering: .releasing) }
    return try $current.withValue(scope, operation: body)
  }

  /// The same for a body that may wait.
  nonisolated(nonsending)
    static func withInTask<R>(
      _ setting: Setting, of garage: Garage, _ body: nonisolated(nonsending) () async throws -> R
    ) async rethrows -> R
  {
    let scope = TaskScope(setting, of: garage)
    defer { scope.isOver.store(true, ordering: .releasing) }
    return try await $current.withValue(scope) { try await body() }
  }

  /// Runs `body` without the settings of the calling task, as a thread that runs no task does.
  static func withoutSettings(_ body: () -> Void) { $current.withValue(nil, operation: body) }

  /// The result of `find` for the innermost setting that it knows, of those that apply to the calling task.
  static func innermost<R>(of garage: Garage, _ find: (Setting) -> R?) -> R? {
    var next = current
    while let scope = next {
      if let found = find(scope.setting), scope.applies(to: garage) { return found }
      next = scope.outer
    }
    return nil
  }

  private func applies(to garage: Garage) -> Bool {
    self.garage == ObjectIdentifier(garage) && !isOver.load(ordering: .acquiring)
      && task == TaskScope.currentTask
  }

  /// Tells one running task from another; nil where the thread runs none.
  private static var currentTask: Int? { withUnsafeCurrentTask { $0?.hashValue } }
}
