import Foundation
import Testing

@testable import GarageDemo

/// `garage-demo` as a program of its own: standard input, output and error, and exit codes.
@Suite("The program")
struct ProgramTests {
  @Test func readsStandardInputAndPrintsOneObject() throws {
    let result = try Program.run(["--json", "--input", "-"], input: Data(SamplePackages.text.utf8))
    #expect(result.exitCode == 0)
    #expect(result.error.isEmpty)
    try DemoJSON(result.output).expect(IndependentCount(text: SamplePackages.text), .sqlite)
  }

  @Test func tellsMistakesOnStandardError() throws {
    let usage = try Program.run(["--nonsense"])
    #expect(usage.exitCode == 64)
    #expect(usage.output.isEmpty)
    #expect(String(decoding: usage.error, as: UTF8.self).hasPrefix("garage-demo: There is no option"))
    let empty = try Program.run(["--input", "-"])
    #expect(empty.exitCode == 1)
    #expect(empty.output.isEmpty)
    #expect(String(decoding: empty.error, as: UTF8.self).contains("standard input holds no package"))
  }

  @Test(arguments: [["--json"], ["--package", "no-such-package"]])
  func leavesNoTemporaryStoreBehind(_ arguments: [String]) throws {
    try TemporaryFolder.with { folder in
      let input = folder.file("sample", SamplePackages.text)
      let temporary = folder.path("tmp")
      try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: false)
      for driver in Options.Driver.local {
        _ = try Program.run(
          ["--driver", driver.rawValue, "--input", input] + arguments, temporaryFolder: temporary)
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary).isEmpty)
      }
    }
  }

  /// A whole archive, given by `make check-archive` together with a release build of the program.
  @Test(.enabled(if: Program.archive != nil), arguments: Options.Driver.local)
  func countsInTheArchive(_ driver: Options.Driver) throws {
    let archive = try #require(Program.archive)
    let result = try Program.run(["--json", "--driver", driver.rawValue, "--input", archive])
    #expect(result.exitCode == 0)
    let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: archive)), as: UTF8.self)
    try DemoJSON(result.output).expect(IndependentCount(text: text), driver)
    FileHandle.standardError.write(result.output)
  }
}

/// Runs the program.
private enum Program {
  struct Result {
    var exitCode: Int32
    var output: Data
    var error: Data
  }

  /// The archive to count in, if there is one.
  static var archive: String? { ProcessInfo.processInfo.environment["GARAGE_ARCHIVE"] }

  /// The program that was built along with these tests, or the one that the environment names.
  static func url() throws -> URL {
    if let path = ProcessInfo.processInfo.environment["GARAGE_DEMO"] { return URL(fileURLWithPath: path) }
    #if os(macOS)
      let bundle = try #require(Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") })
      let folder = bundle.bundleURL.deletingLastPathComponent()
    #else
      let folder = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent()
    #endif
    return folder.appendingPathComponent("garage-demo")
  }

  static func run(_ arguments: [String], input: Data = Data(), temporaryFolder: String? = nil) throws
    -> Result
  {
    try TemporaryFolder.with { folder in
      // Files rather than pipes: nobody has to read while the program runs.
      let inputPath = folder.path("input")
      let outputPath = folder.file("output", "")
      let errorPath = folder.file("error", "")
      try input.write(to: URL(fileURLWithPath: inputPath))

      let process = Process()
      process.executableURL = try url()
      process.arguments = arguments
      process.standardInput = try FileHandle(forReadingFrom: URL(fileURLWithPath: inputPath))
      process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: outputPath))
      process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: errorPath))
      if let temporaryFolder {
        var environment = ProcessInfo.processInfo.environment
        environment["TMPDIR"] = temporaryFolder
        process.environment = environment
      }
      try process.run()
      process.waitUntilExit()
      return Result(
        exitCode: process.terminationStatus,
        output: try Data(contentsOf: URL(fileURLWithPath: outputPath)),
        error: try Data(contentsOf: URL(fileURLWithPath: errorPath)))
    }
  }
}
