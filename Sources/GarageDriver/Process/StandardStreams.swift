#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The places that standard input, output and errors have among the open files of a process.
package enum StandardStreams {
  /// Takes those that are closed, and keeps them: a store that is opened would get them, and whatever somebody prints would be
  /// written into it. SQLite looks after that by itself.
  package static func takeClosedPlaces() {
    for file in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(file, F_GETFD) == -1 {
      // For reading only, so that who writes there is told.
      _ = open("/dev/null", O_RDONLY)
    }
  }
}
