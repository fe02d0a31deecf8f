#if Command && Inspector
  import Synchronization

  /// Tells all pages that the store has changed.
  final class InspectorNews: Sendable {
    private struct State {
      /// The number of changes.
      var version = 0
      var listeners: [Int: AsyncStream<Int>.Continuation] = [:]
      var lastListener = 0
    }

    private let state = Mutex(State())

    /// The number of changes so far.
    var version: Int { state.withLock { $0.version } }

    /// Notes a change, and tells the pages.
    func tell() { send { $0.version += 1 } }

    /// Sends the number again, so that connections show up that nobody reads any more.
    func beat() { send { _ in } }

    private func send(_ change: (inout State) -> Void) {
      let (version, listeners) = state.withLock { state in
        change(&state)
        return (state.version, Array(state.listeners.values))
      }
      for listener in listeners { listener.yield(version) }
    }

    /// The number of changes, now and after each change. A slow reader gets only the newest.
    func listen() -> AsyncStream<Int> {
      let (stream, continuation) = AsyncStream<Int>.makeStream(bufferingPolicy: .bufferingNewest(1))
      let number = state.withLock { state in
        state.lastListener += 1
        state.listeners[state.lastListener] = continuation
        continuation.yield(state.version)
        return state.lastListener
      }
      continuation.onTermination = { [weak self] _ in
        self?.state.withLock { _ = $0.listeners.removeValue(forKey: number) }
      }
      return stream
    }
  }
#endif
