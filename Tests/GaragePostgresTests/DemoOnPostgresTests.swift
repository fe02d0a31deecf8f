import Foundation
import GarageStorage
import Testing

/// `garage-demo` with its store on a server: its counts are those that an independent count gives.
@Suite(.serialized, .enabled(if: OwnServer.isPossible)) struct DemoOnPostgresTests {
  private struct Counts: Decodable {
    var packages, references, reaches, cycles: Int
    var package, driver: String
  }

  private static let sample = """
    Package: a
    Depends: b, c (>= 1), missing

    Package: b
    Depends: a | c

    Package: c
    Pre-Depends: d

    Package: d

    Package: alone
    """

  /// A small one, the machine's own, where it has one, and that of an archive, where `GARAGE_ARCHIVE` names it.
  enum PackageDatabase {
    case sample, machine, archive

    static let all: [PackageDatabase] = [.sample, .machine] + (file(of: .archive) == nil ? [] : [.archive])

    private static func file(of database: PackageDatabase) -> String? {
      switch database {
      case .sample: nil
      case .machine: "/var/lib/dpkg/status"
      case .archive: ProcessInfo.processInfo.environment["GARAGE_ARCHIVE"]
      }
    }

    var text: String {
      let status = Self.file(of: self).flatMap { try? Data(contentsOf: URL(filePath: $0)) }
      return status.map { String(decoding: $0, as: UTF8.self) } ?? DemoOnPostgresTests.sample
    }
  }

  @Test(arguments: PackageDatabase.all) func countsAreRight(_ database: PackageDatabase) throws {
    let text = database.text
    let server = try OwnServer(["fsync=off"])
    defer { server.stop() }
    let file = FileManager.default.temporaryDirectory.appending(path: "garage-demo-\(UUID().uuidString)")
    try Data(text.utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let expected = IndependentCount(text: text)
    let farthest = expected.farthest()
    // Made, then read as it is.
    for way in [["--input", file.path], ["--reuse"]] {
      let counts = try JSONDecoder().decode(
        Counts.self, from: run(["--json", "--driver", "postgresql", "--store", server.url()] + way))
      #expect(counts.driver == "postgresql")
      #expect(counts.packages == expected.packages && counts.references == expected.references)
      #expect(counts.reaches == farthest.reach && farthest.names.contains(counts.package))
      #expect(counts.cycles == expected.cycles().count)
    }
  }

  private func run(_ arguments: [String]) throws -> Data {
    let output = FileManager.default.temporaryDirectory.appending(path: "garage-output-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: output) }
    let program = childExecutable.deletingLastPathComponent().appending(path: "garage-demo")
    let words = ([program.path] + arguments).map { "'\($0)'" }
    #expect(system(words.joined(separator: " ") + " </dev/null >'\(output.path)'") == 0)
    return try Data(contentsOf: output)
  }
}
