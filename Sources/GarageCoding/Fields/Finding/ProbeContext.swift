/// On what terms objects are made up.
package struct ProbeContext: Sendable {
  /// What `init(from:)` finds in its decoder's `userInfo`.
  package var userInfo: [CodingUserInfoKey: any Sendable] = [:]
  /// Whether they are made up at all. What would be found out with them stays open where not.
  package var isAllowed = true
  /// Whether values that types are known to make something else of are those of a store.
  var usesSurveys = true

  package init() {}

  @TaskLocal private static var bound: ProbeContext?
  private static let usual = ProbeContext()

  package static var current: ProbeContext { bound ?? usual }

  /// Runs `body` on these terms.
  package func run<R>(_ body: () throws -> R) rethrows -> R {
    // Mostly there is nothing to say.
    if userInfo.isEmpty && isAllowed && usesSurveys { return try body() }
    return try ProbeContext.$bound.withValue(self, operation: body)
  }
}
