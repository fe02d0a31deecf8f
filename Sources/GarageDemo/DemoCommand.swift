import DebianPackages
import Dispatch
import Foundation

/// The command line around ``Demo``: arguments in, text and an exit code out.
struct DemoCommand {
  /// Gets the text for standard output, in whole lines.
  let output: (String) -> Void
  /// Gets the text for standard error, in whole lines.
  let complain: (String) -> Void
  /// Whether this is the whole process. It may then draw a progress bar, and end the process on a signal.
  var ownsProcess = false

  /// Runs the command as the program does. Returns the exit code.
  static func run(arguments: [String]) -> Int32 {
    let command = DemoCommand(
      output: { FileHandle.standardOutput.write(Data("\($0)\n".utf8)) },
      complain: { FileHandle.standardError.write(Data("\($0)\n".utf8)) },
      ownsProcess: true)
    return command.run(arguments)
  }

  /// Returns the exit code.
  func run(_ arguments: [String]) -> Int32 {
    do {
      let options = try Options(parsing: arguments)
      if options.printsHelp {
        output(Options.help)
        return 0
      }
      if options.driver == .memory, options.store != nil {
        complain("garage-demo: the memory driver keeps nothing at --store.")
      }
      try run(options)
      return 0
    } catch let error as DemoError {
      complain("garage-demo: \(error.message)")
      return error.exitCode
    } catch {
      complain("garage-demo: \(error)")
      return 1
    }
  }

  private func run(_ options: Options) throws {
    let store = try DemoStore(options)
    let interruption = ownsProcess ? Interruption { store.removeIfTemporary() } : nil
    defer {
      interruption?.cancel()
      store.removeIfTemporary()
    }
    let progress = ProgressBar(
      stepCount: (options.reusesStore ? 4 : 8) + (options.condition == nil ? 0 : 1)
        + (options.asksForReferrers ? 1 : 0),
      isShown: ownsProcess && !options.printsJSON && ProgressBar.isPossible)
    defer { progress.finish() }

    let demo = Demo(options, store: store, progress: progress) { line in
      progress.clear()
      if !options.printsJSON { output(line) }
    }
    let report = try demo.run()
    // The retrieved objects hold one another in cycles.
    defer { Package.takeApart(report.reach.packages) }
    let text = options.printsJSON ? try report.json() : "\n" + report.text()
    progress.finish()
    output(text)
  }
}

/// Cleans up when the program is interrupted or asked to end, and then ends it.
private struct Interruption {
  private static let signals = [SIGINT, SIGTERM]
  private let sources: [any DispatchSourceSignal]

  init(_ cleanUp: @escaping @Sendable () -> Void) {
    sources = Interruption.signals.map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        cleanUp()
        // Ended at once, because other threads are in the middle of their work.
        _exit(128 + number)
      }
      source.resume()
      return source
    }
  }

  func cancel() {
    for source in sources { source.cancel() }
    for number in Interruption.signals { signal(number, SIG_DFL) }
  }
}
