/// Times the steps of a run, and reports them to the progress bar.
final class Stopwatch {
  /// How long each step took, in the order of the steps.
  private(set) var durations: [(step: Step, seconds: Double)] = []
  let progress: ProgressBar

  init(_ progress: ProgressBar) {
    self.progress = progress
  }

  func measure<R>(_ step: Step, _ body: () throws -> R) rethrows -> R {
    progress.begin(step.title)
    let start = ContinuousClock.now
    let result = try body()
    durations.append((step, (ContinuousClock.now - start).seconds))
    return result
  }
}
