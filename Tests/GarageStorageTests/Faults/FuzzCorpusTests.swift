import Foundation
import Testing

/// The fuzzers' corpus, and some cases with a fresh seed, in a process with a limit on its memory.
///
/// `make fuzz` goes on for longer. A file that failed once stays in `Tests/Corpus`.
@Suite(.serialized) struct FuzzCorpusTests {
  @Test(arguments: ["records", "types", "stores", "care"])
  func nothingCrashesHangsOrTakesMemoryWithoutBound(_ fuzzer: String) throws {
    let process = Process()
    process.executableURL = Child.folder.appending(path: "GarageFuzz")
    let corpus = testsFolder.appending(path: "Corpus/\(fuzzer)")
    // A sanitizer's shadow memory is beyond any limit.
    process.arguments = [
      fuzzer, "--cases", "60", "--seconds", "20", "--memory", "2048", "--corpus", corpus.path,
    ]
    let errors = Pipe()
    process.standardError = errors
    try process.run()
    let text = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationReason == .exit && process.terminationStatus == 0, "\(text)")
    #expect(text.contains("nothing found"), "\(text)")
  }
}
