#if os(Linux) || os(macOS) || os(FreeBSD)
  public import GarageDriver

  #if canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #else
    internal import Darwin
  #endif

  extension Conformance {
    /// Carries out what the suite, in another process, tells this one to do with a store. Never returns.
    ///
    /// The whole `main.swift` of a driver author's child executable:
    /// ```swift
    /// import GarageConformance
    /// Conformance.runChild { place in try MyStorage(path: place.path) }
    /// ```
    /// Your own arguments come first on the command line, see ``ConformanceOptions/childArguments``.
    public static func runChild(_ open: (ConformancePlace) throws -> any StorageDriver) -> Never {
      let arguments = CommandLine.arguments
      guard let mark = arguments.lastIndex(of: childMark), arguments.count == mark + 3 else {
        let usage =
          "This program is the second process of GarageConformance, which starts it. Run the tests instead.\n"
        usage.utf8.withContiguousStorageIfAvailable { _ = write(2, $0.baseAddress!, $0.count) }
        exit(64)
      }
      let lines = LineChannel(input: 0, output: 1)
      let place = ConformancePlace(name: arguments[mark + 2], path: arguments[mark + 1])
      do {
        let storage = try open(place)
        try lines.send("ready")
        while let line = lines.receive() {
          let words = line.split(separator: " ").map(String.init)
          if words[0] == "leak" {
            try lines.send("\(ChildCommands.leakedDescriptorCount(Int(words[1]) ?? 0, place, open))")
          } else {
            try lines.send(answer(words, storage, lines))
          }
        }
        try storage.close()
        exit(0)
      } catch {
        try? lines.send("error \(error)")
        exit(1)
      }
    }
  }

  /// Carries out one command.
  private func answer(_ words: [String], _ storage: any StorageDriver, _ lines: LineChannel) throws -> String
  {
    switch words[0] {
    case "put":
      try pastConflicts { try storage.put([words[1]: words[2]]) }
    case "get":
      return try pastConflicts { try storage.text(words[1]) } ?? "none"
    case "count":
      return try pastConflicts { try storage.read { "\(try $0.keys().count)" } }
    case "increment":
      for _ in 0..<(Int(words[2]) ?? 0) { try increment(words[1], in: storage) }
    case "leave":
      try leave(words[1], unlessGone: words[2], in: storage)
    case "grow":
      let count = Int(words[1]) ?? 0
      for number in 0..<count {
        try pastConflicts {
          try storage.commit {
            try $0.put(pattern(1 << 20), for: StorageKey(bytes("grown-\(digits(number))")))
          }
        }
      }
    case "write-and-wait":
      return try storage.write { transaction in
        for number in 0..<100 { try transaction.set("uncommitted-\(number)", "x") }
        try lines.send("inside")
        return lines.receive() == "commit" ? .commit("committed") : .rollBack("rolled back")
      }
    case "read-and-wait":
      return try storage.read { transaction in
        try lines.send("inside")
        _ = lines.receive()
        return try transaction.text(words[1]) ?? "none"
      }
    case "exit":
      // Ends without `close`, and without any deinit.
      try lines.send("ok")
      _exit(0)
    case "limit":
      try ChildCommands.limitFiles(to: Int(words[1]))
    case "fill":
      let numbers = words.dropFirst().map { Int($0) ?? 0 }
      return try ChildCommands.fill(storage, numbers[0], writes: numbers[1], putsInEach: numbers[2])
    case "swallow":
      return try ChildCommands.swallow(storage, Int(words[1]) ?? 0, puts: Int(words[2]) ?? 0)
    case "fork":
      let deferred = storage as? any DeferredReading
      return "\(try inForkedChild { answersAfterFork(storage, deferred) })"
    case "commit-forever":
      let profile = CrashProfile.all[Int(words[1]) ?? 0]
      try CrashRounds.commitForever(profile, storage, lines)
    default:
      return "error: unknown command \(words[0])"
    }
    return "ok"
  }
#endif
