import Foundation

// Fuzzes what reads stored bytes.
//
//     GarageFuzz FUZZER [--seconds N] [--cases N] [--seed N] [--case N] [--memory MEGABYTES] [--corpus FOLDER]
//
// FUZZER is `records` (any bytes as a record), `types` (random values of random types), `stores` (a store whose
// entries were changed) or `care` (the same under the verbs of care). What fails ends the process with a signal and says `--case`, which repeats it. Built with
// `-D LIBFUZZER -sanitize=fuzzer` it is a program of libFuzzer's, with its options behind FUZZER.

private let arguments = CommandLine.arguments

private func fuzzer(_ name: String) throws -> any Fuzzer {
  switch name {
  case "records": return try RecordFuzzer()
  case "types": return TypeFuzzer()
  case "stores": return try StoreFuzzer()
  case "care": return try CareFuzzer()
  default:
    FileHandle.standardError.write(Data("usage: GarageFuzz records|types|stores|care [options]\n".utf8))
    exit(2)
  }
}

// libFuzzer starts itself again for some of its work, and knows nothing of our argument.
private let inherited = ProcessInfo.processInfo.environment["GARAGE_FUZZER"]
private let name = inherited ?? (arguments.count > 1 ? arguments[1] : "")
private let options = Array(arguments.dropFirst(inherited == nil ? 2 : 1))

nonisolated(unsafe) let current = try fuzzer(name)

#if LIBFUZZER
  setenv("GARAGE_FUZZER", name, 1)
  LibFuzzer.run([arguments[0]] + options)
#else
  try SeededRun(current, name: name, options).run()
#endif
