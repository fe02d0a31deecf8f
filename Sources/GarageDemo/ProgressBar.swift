import Foundation
import Synchronization

/// A line on standard error that shows which step is running, for how long, and, if that is known, how far it is. A thread of
/// its own redraws the line, so that it moves during long calls.
///
/// Shown only when standard error is a terminal that can go back to the beginning of a line.
final class ProgressBar: Sendable {
  private struct State {
    var title = ""
    var step = 0
    var start = ContinuousClock.now
    var fraction: Double?
    var isFinished = false
  }

  private let state = Mutex(State())
  private let stepCount: Int
  private let isShown: Bool

  /// Whether a progress bar makes sense on standard error.
  static var isPossible: Bool {
    isatty(STDERR_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] ?? "dumb" != "dumb"
  }

  init(stepCount: Int, isShown: Bool) {
    self.stepCount = stepCount
    self.isShown = isShown
    guard isShown else { return }
    Thread.detachNewThread { [weak self] in
      while self?.redraw() == true { usleep(100_000) }
    }
  }

  func begin(_ title: String) {
    guard isShown else { return }
    state.withLock { state in
      state.title = title
      state.step += 1
      state.start = .now
      state.fraction = nil
    }
    _ = redraw()
  }

  /// Sets how much of the running step is done, from 0 to 1.
  func advance(to fraction: Double) {
    guard isShown else { return }
    state.withLock { $0.fraction = fraction }
  }

  /// Removes the line to make room for other output. The next redraw shows it again below.
  func clear() {
    guard isShown else { return }
    state.withLock { _ in ProgressBar.write("\r\u{1B}[K") }
  }

  /// Removes the line for good.
  func finish() {
    guard isShown else { return }
    state.withLock { state in
      if !state.isFinished { ProgressBar.write("\r\u{1B}[K") }
      state.isFinished = true
    }
  }

  /// Draws the line. Returns false if it is finished.
  private func redraw() -> Bool {
    state.withLock { state in
      guard !state.isFinished else { return false }
      guard state.step > 0 else { return true }
      let width = 30
      let done = Double(state.step - 1) + min(state.fraction ?? 0, 1)
      let filled = min(width, Int(done / Double(stepCount) * Double(width)))
      let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
      let elapsed = Text.seconds((ContinuousClock.now - state.start).seconds)
      ProgressBar.write("\r\(bar) \(state.step)/\(stepCount) \(state.title) \(elapsed)\u{1B}[K")
      return true
    }
  }

  private static func write(_ text: String) {
    FileHandle.standardError.write(Data(text.utf8))
  }
}
