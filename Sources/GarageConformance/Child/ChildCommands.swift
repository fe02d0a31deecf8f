internal import GarageDriver

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The commands to a child that take more than one call of its storage.
enum ChildCommands {
  /// Opens, uses and closes `count` values, half of them beside a value that stays open, and half of them alone. Returns how
  /// many more descriptors are open than before.
  static func leakedDescriptorCount(
    _ count: Int, _ place: ConformancePlace, _ open: (ConformancePlace) throws -> any StorageDriver
  ) throws -> Int {
    func use(_ place: ConformancePlace, _ times: Int) throws {
      for round in 0..<times {
        let storage = try open(place)
        try pastConflicts { try storage.put(["a": "\(round)"]) }
        _ = try pastConflicts { try storage.text("a") }
        try storage.close()
      }
    }
    let kept = try open(place)
    defer { try? kept.close() }
    let alone = ConformancePlace(name: place.name + "-alone", path: place.path + "-alone")
    // Descriptors that are opened once and kept for the process are no leak.
    try use(place, 3)
    try use(alone, 3)
    let before = openDescriptorCount()
    try use(place, count / 2)
    try use(alone, count - count / 2)
    return openDescriptorCount() - before
  }

  private static func openDescriptorCount() -> Int {
    let limit = max(256, min(sysconf(Int32(_SC_OPEN_MAX)), 1 << 16))
    return (0..<Int32(limit)).reduce(0) { $0 + (fcntl($1, F_GETFD) == -1 ? 0 : 1) }
  }

  #if os(Linux) || os(macOS) || os(FreeBSD)
    /// Limits the size of this process's files to `byteCount`, or to the system's limit again if that is nil.
    ///
    /// The limit stands for a full disk. A full disk sends no signal, so the signal of this limit is ignored.
    static func limitFiles(to byteCount: Int?) throws {
      signal(SIGXFSZ, SIG_IGN)
      var limit = rlimit()
      #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
      #else
        let resource = RLIMIT_FSIZE
      #endif
      guard getrlimit(resource, &limit) == 0 else { throw SystemError(call: "getrlimit") }
      limit.rlim_cur = byteCount.map { rlim_t($0) } ?? limit.rlim_max
      guard setrlimit(resource, &limit) == 0 else { throw SystemError(call: "setrlimit") }
    }

    /// Commits values of `byteCount` bytes until there is no room. Returns how many there are and the error.
    static func fill(_ storage: any StorageDriver, _ byteCount: Int, writes: Int, putsInEach: Int) throws
      -> String
    {
      let value = pattern(byteCount)
      for write in 0..<writes {
        do {
          try pastConflicts {
            try storage.commit { transaction in
              for number in 0..<putsInEach {
                try transaction.put(
                  value, for: StorageKey(bytes("full-\(digits(write, 6))-\(digits(number, 6))")))
              }
            }
          }
        } catch let error as StorageError {
          return "\(write) \(error.kind.rawValue)"
        }
      }
      return "never"
    }

    /// Puts values without room until an operation fails, swallows that error, and makes further changes. Returns what the
    /// commit does: `kept`, its error, or that no operation failed before it.
    static func swallow(_ storage: any StorageDriver, _ byteCount: Int, puts: Int) throws -> String {
      let value = pattern(byteCount)
      var first: StorageError?
      do {
        try storage.commit { transaction in
          try transaction.set("before", "lost")
          for number in 0..<puts {
            do {
              try transaction.put(value, for: StorageKey(bytes("swallowed-\(digits(number, 6))")))
            } catch let error as StorageError {
              first = first ?? error
              // This may succeed or fail; neither changes the error of the commit.
              try? transaction.set("behind", "lost")
              break
            }
          }
        }
        return first == nil ? "never" : "kept"
      } catch let error as StorageError {
        guard let first else { return "at-commit \(error.kind.rawValue)" }
        return first == error ? "first \(error.kind.rawValue)" : "another: \(error) in place of \(first)"
      }
    }
  #endif
}
