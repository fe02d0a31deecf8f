/// The terms on which objects are made up.
package struct ProbeContext: Sendable {
  /// What `init(from:)` finds in its decoder's `userInfo`.
  package var userInfo: [CodingUserInfoKey: any Sendable] = [:]
  /// Whether objects may be made up at all. If not, what they would show stays open.
  package var isAllowed = true
  /// Whether values of which types are known to make something else are taken from stored objects.
  var usesSurveys = true

  package init() {}

  @TaskLocal private static var bound: ProbeContext?
  private static let usual = ProbeContext()

  package static var current: ProbeContext { bound ?? usual }

  /// Runs `body` on these terms.
  package func run<R>(_ body: () throws -> R) rethrows -> R {
    // Mostly there are no such terms.
    if userInfo.isEmpty && isAllowed && usesSurveys { return try body() }
    return try runInside(body)
  }

  /// The same where other terms may hold already.
  func runInside<R>(_ body: () throws -> R) rethrows -> R {
    try ProbeContext.$bound.withValue(self, operation: body)
  }
}
