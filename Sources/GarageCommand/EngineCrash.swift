#if Command
  import Foundation

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #else
    import Darwin
  #endif

  /// Says what to do where an engine ends the process over a damaged store, and ends the command as where a store cannot be
  /// opened. LMDB trusts its pages: where one is damaged, it may read what is no memory, or give up.
  enum EngineCrash {
    // What the signals' handler reads: it must not allocate. Set before there are several threads.
    nonisolated(unsafe) private static var message: UnsafeMutablePointer<UInt8>?
    nonisolated(unsafe) private static var byteCount = 0
    nonisolated(unsafe) private static var paths: [String] = []

    /// From here on, for the store at this path too.
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
      // The former one stays: somebody might be reading it.
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
