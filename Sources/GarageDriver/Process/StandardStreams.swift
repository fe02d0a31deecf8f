#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The places of standard input, output and errors among the open files of a process.
package enum StandardStreams {
  /// Opens `/dev/null` in those of these places that are closed, for good. Otherwise a store that is opened could get such a
  /// place, and printed text would be written into the store. SQLite prevents that by itself.
  package static func takeClosedPlaces() {
    for file in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(file, F_GETFD) == -1 {
      // For reading only, so that an attempt to write there is an error.
      _ = open("/dev/null", O_RDONLY)
    }
  }
}
