/// One thing that can be timed: so many objects at each call of `run`.
struct Operation {
  /// What is measured, `park 100k` for instance.
  var name: String
  /// Who does it: `sqlite`, or `GRDB columns`.
  var who: String
  var count: Int
  /// Not timed. Called before each `run`.
  var prepare: () throws -> Void = {}
  var run: () throws -> Void
  /// Does some of the objects, where these are done one by one: so all can take turns with short runs.
  var runPart: ((Range<Int>) throws -> Void)?
  /// Not timed. Throws where the result of `run` is not what it should be.
  var verify: () throws -> Void
}

/// A result that differs from what was to be expected: the figures would mean nothing.
struct WrongResult: Error, CustomStringConvertible {
  var description: String

  init(_ description: String) { self.description = description }

  static func unless(_ isRight: Bool, _ description: @autoclosure () -> String) throws {
    if !isRight { throw WrongResult(description()) }
  }
}
