#if Command
  import Foundation
  import Synchronization

  /// Runs work that does not end by itself, until a signal ends the command: Ctrl-C, or a request to end (SIGTERM).
  enum UntilSignal {
    /// - Throws: the errors of `body` before that.
    static func run(_ body: @escaping @Sendable () async throws -> Void) throws {
      let outcome = Mutex<Result<Void, any Error>?>(nil)
      let isDone = DispatchSemaphore(value: 0)
      let end: @Sendable (Result<Void, any Error>) -> Void = { result in
        outcome.withLock { $0 = $0 ?? result }
        isDone.signal()
      }
      let signals = [SIGINT, SIGTERM].map { number in
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler { end(.success(())) }
        source.resume()
        return source
      }
      let task = Task.detached {
        do {
          try await body()
          end(.success(()))
        } catch { end(.failure(error)) }
      }
      isDone.wait()
      signals.forEach { $0.cancel() }
      task.cancel()
      if case .failure(let error) = outcome.withLock({ $0 }) { throw error }
    }
  }
#endif
