import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

// What a signal's handler reads.
nonisolated(unsafe) private var caseSeed: UInt64 = 0
nonisolated(unsafe) private var caseCount: UInt64 = 0

/// Cases that follow from a seed, one after the other, with a limit on memory and a watch over time.
struct SeededRun {
  private let fuzzer: any Fuzzer
  private let name: String
  private var options: [String: String] = [:]

  init(_ fuzzer: any Fuzzer, name: String, _ arguments: [String]) throws {
    self.fuzzer = fuzzer
    self.name = name
    for index in stride(from: 0, to: arguments.count - 1, by: 2) {
      options[arguments[index]] = arguments[index + 1]
    }
  }

  func run() throws {
    limitMemory()
    watch()
    let folder = options["--corpus"].map { URL(fileURLWithPath: $0) }
    var inputs = fuzzer.seeds
    for input in inputs { fuzzer.run(input) }
    for file in try corpus(folder) {
      note("file \(file.lastPathComponent)")
      let input = [UInt8](try Data(contentsOf: file))
      fuzzer.run(input)
      inputs.append(input)
    }
    if let text = options["--case"], let seed = UInt64(text) {
      run(seed, inputs)
      return note("case \(seed) is well")
    }
    let seed = options["--seed"].flatMap { UInt64($0) } ?? UInt64.random(in: 1...(.max >> 1))
    let limit = options["--cases"].flatMap { UInt64($0) } ?? .max
    let end = ContinuousClock.now + .seconds(options["--seconds"].flatMap { Double($0) } ?? 3600)
    note("seed \(seed)")
    while caseCount < limit, ContinuousClock.now < end { run(seed &+ caseCount, inputs) }
    note("\(caseCount) cases from seed \(seed), nothing found")
  }

  private func run(_ seed: UInt64, _ inputs: [[UInt8]]) {
    caseSeed = seed
    var random = InputRandom(seed: seed &* 0x9E37_79B9_7F4A_7C15)
    var input = inputs.isEmpty ? [] : inputs[random.below(inputs.count)]
    input = random.once(in: 20) ? random.bytes(random.below(200)) : fuzzer.mutate(input, random)
    fuzzer.run(input)
    caseCount += 1
  }

  private func corpus(_ folder: URL?) throws -> [URL] {
    guard let folder else { return [] }
    return try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil, options: .skipsHiddenFiles
    )
    .sorted { $0.path < $1.path }
  }

  private func note(_ text: String) { FileHandle.standardError.write(Data("\(name): \(text)\n".utf8)) }

  /// What is asked for beyond that fails, and a failed allocation ends the process.
  private func limitMemory() {
    #if os(Linux)
      let megabytes = options["--memory"].flatMap { UInt64($0) } ?? 1024
      var limit = rlimit()
      limit.rlim_cur = rlim_t(megabytes << 20)
      limit.rlim_max = limit.rlim_cur
      setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
    #endif
  }

  /// Says which case it was when the process ends by a signal, and ends it when a case does not.
  private func watch() {
    for number in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGALRM] {
      signal(number) { number in
        // No allocation is allowed here.
        var digits: (UInt64, UInt64, UInt64) = (
          0x2020_2020_2020_2020, 0x2020_2020_2020_2020, 0x0A20_2020_2020_2020
        )
        withUnsafeMutableBytes(of: &digits) { text in
          var rest = caseSeed
          var at = 22
          repeat {
            text[at] = UInt8(0x30 + rest % 10)
            rest /= 10
            at -= 1
          } while rest > 0
          let option: StaticString = "ended by a signal in --case"
          _ = write(2, option.utf8Start, option.utf8CodeUnitCount)
          _ = write(2, text.baseAddress, 24)
        }
        signal(number, SIG_DFL)
        raise(number)
      }
    }
    let thread = Thread {
      var before: UInt64 = .max
      while true {
        sleep(20)
        if caseCount == before { kill(getpid(), SIGALRM) }
        before = caseCount
      }
    }
    thread.start()
  }
}
