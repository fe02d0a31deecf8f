#if Command
  import Foundation

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #else
    import Darwin
  #endif

  /// Reports what to do when an engine ends the process because of a damaged store, and ends the command with the status for a
  /// store that cannot be opened. LMDB trusts its pages: if one is damaged, it may read invalid memory, or abort.
  enum EngineCrash {
    // Read by the handler of the signals, which must not allocate. Set before there are several threads.
    nonisolated(unsafe) private static var message: UnsafeMutablePointer<UInt8>?
    nonisolated(unsafe) private static var byteCount = 0
    nonisolated(unsafe) private static var paths: [String] = []

    /// From here on, crashes are explained for the store at this path, too.
    static func explain(for path: String) {
      if !paths.contains(path) { paths.append(path) }
      let store = paths.map(Output.quotedIfOdd).joined(separator: " or ")
      let text = """
        garage: \(store): the engine gave up in the middle, as it does over damaged pages. Nothing was left half done. \
        'garage verify' looks at the pages without it, 'garage salvage' rescues what is whole.

        """
      let bytes = Array(text.utf8)
      let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: bytes.count)
      memory.initialize(from: bytes, count: bytes.count)
      // The former message is not freed, because the handler might be reading it.
      (message, byteCount) = (memory, bytes.count)
      for number in [SIGSEGV, SIGBUS, SIGABRT, SIGFPE] {
        signal(number) { _ in
          if let message = EngineCrash.message { _ = write(STDERR_FILENO, message, EngineCrash.byteCount) }
          _exit(CommandFailure.openingStatus)
        }
      }
    }
  }
#endif
