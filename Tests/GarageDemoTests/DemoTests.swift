import Foundation
import Testing

@testable import GarageDemo

/// What a run of the demo printed, and how it ended.
private struct Outcome {
  var exitCode: Int32
  var output: [String] = []
  var complaints: [String] = []

  init(_ arguments: [String]) {
    var output: [String] = []
    var complaints: [String] = []
    let command = DemoCommand(output: { output.append($0) }, complain: { complaints.append($0) })
    exitCode = command.run(arguments)
    self.output = output
    self.complaints = complaints
  }

  func json() throws -> DemoJSON {
    try #require(output.count == 1, "\(output) \(complaints)")
    return try DemoJSON(Data(output[0].utf8))
  }
}

extension Options.Driver {
  /// Those that need no server. The one for PostgreSQL has its tests with that driver's.
  static let local: [Options.Driver] = [.sqlite, .lmdb, .memory]
}

@Suite("The demo")
struct DemoTests {
  static let durableDrivers: [Options.Driver] = [.sqlite, .lmdb]

  // MARK: Counts

  @Test(arguments: Options.Driver.local)
  func countsInTheSample(_ driver: Options.Driver) throws {
    try TemporaryFolder.with { folder in
      let input = folder.file("sample", SamplePackages.text)
      let outcome = Outcome(["--json", "--driver", driver.rawValue, "--input", input])
      try outcome.json().expect(IndependentCount(text: SamplePackages.text), driver)
    }
  }

  @Test(
    .enabled(if: FileManager.default.isReadableFile(atPath: PackageInput.systemPath)),
    arguments: Options.Driver.local)
  func countsInThisMachinesDatabase(_ driver: Options.Driver) throws {
    let data = try Data(contentsOf: URL(fileURLWithPath: PackageInput.systemPath))
    let outcome = Outcome(["--json", "--driver", driver.rawValue, "--input", PackageInput.systemPath])
    try outcome.json().expect(IndependentCount(text: String(decoding: data, as: UTF8.self)), driver)
  }

  @Test(arguments: Options.Driver.local)
  func trickyInput(_ driver: Options.Driver) throws {
    let text = """
      Package: a
      Depends: missing, b (>= 1), c:any | d, a, b
      Pre-Depends: e

      Package: b\r
      Depends:\r
       c,\r
       a\r

      Package: a
      Depends: f

      package: c
      depends: a
       (>= 3)

      Package: e
      Pre-Depends: é

      Package: é
      Description: 🚗

      Package: lonely
      """
    try TemporaryFolder.with { folder in
      let input = folder.file("tricky", text)
      let json = try Outcome(["--json", "--driver=\(driver)", "--input", input]).json()
      try json.expect(IndependentCount(text: text), driver)
      #expect(json.packages == 6)
      #expect(json.references == 8)
      #expect(json.cycles == 1)
      #expect(json.package == "a")
      #expect(json.reaches == 4)
    }
  }

  @Test func namedPackage() throws {
    try TemporaryFolder.with { folder in
      let input = folder.file("sample", SamplePackages.text)
      let json = try Outcome(["--json", "--package", "libc6", "--input", input]).json()
      #expect(json.package == "libc6")
      #expect(json.reaches == IndependentCount(text: SamplePackages.text).reach(of: "libc6"))
    }
  }

  // MARK: The other end, and fields

  /// Who needs a package, compared with a count that knows no garage; with an index of references, and without.
  @Test(arguments: Options.Driver.local)
  func whoNeedsAPackage(_ driver: Options.Driver) throws {
    let text =
      (try? String(decoding: Data(contentsOf: URL(fileURLWithPath: PackageInput.systemPath)), as: UTF8.self))
      ?? SamplePackages.text
    let count = IndependentCount(text: text)
    try TemporaryFolder.with { folder throws in
      let input = folder.file("packages", text)
      let names = ["libc6"]
      for (place, name) in names.enumerated() where count.dependencies[name] != nil {
        let expected = count.dependencies.filter { $0.value.contains(name) }.keys.sorted()
        func found(_ arguments: [String], by option: String = "--needs") throws -> [String]? {
          let outcome = Outcome(["--json", "--driver", driver.rawValue, option, name] + arguments)
          let output = try #require(outcome.output.first, "\(outcome.complaints)")
          let object = try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any]
          return object?["neededBy"] as? [String]
        }
        if driver == .memory {
          #expect(try found(["--input", input]) == expected)
          #expect(try found(["--input", input], by: "--package") == expected)
          continue
        }
        let store = folder.path("store \(place)")
        #expect(try found(["--input", input, "--store", store]) == expected)
        #expect(try found(["--reuse", "--store", store]) == expected)
        #expect(try found(["--reuse", "--store", store], by: "--package") == expected)
        let plain = folder.path("plain \(place)")
        #expect(
          Outcome(["--json", "--driver", driver.rawValue, "--input", input, "--store", plain]).exitCode == 0)
        #expect(try found(["--reuse", "--store", plain]) == expected)
        #expect(try found(["--input", input, "--store", plain], by: "--package") == expected)
      }
    }
  }

  /// A package that is named is shown with both: what it needs, and what needs it.
  @Test func bothEndsOfAPackage() throws {
    try TemporaryFolder.with { folder throws in
      let text =
        (1...6).map { "Package: p\($0)\nDepends: base\n" } + [
          "Package: base\nDepends: root\n", "Package: root",
        ]
      let input = folder.file("packages", text.joined(separator: "\n"))
      func words(_ arguments: String...) -> String {
        Outcome(["--input", input] + arguments).output.joined(separator: "\n")
      }
      let base = words("--package", "base")
      #expect(base.contains("base reaches 1 other package"))
      #expect(base.contains("\n  1 away: 1: root\n"))
      #expect(base.contains("\n  needed by 6 packages: p1, p2, p3, p4, …"))
      #expect(words("--package", "root").contains("\n  needed by 1 package: base"))
      #expect(words("--package", "p1").contains("\n  needed by 0 packages"))
      #expect(!words().contains("needed by"))
      let both = words("--package", "root", "--needs", "base")
      #expect(both.contains("\n  needed by 1 package: base") && both.contains("6 packages need base"))
      let json = try Outcome(["--json", "--input", input, "--package", "root", "--needs", "base"]).json()
      #expect(json.neededBy?.count == 6)
      #expect(try Outcome(["--json", "--input", input, "--package", "root"]).json().neededBy == ["base"])
      #expect(try Outcome(["--json", "--input", input]).json().neededBy == nil)
    }
  }

  @Test func packagesByAField() throws {
    try TemporaryFolder.with { folder throws in
      let text = """
        Package: a
        Section: libs
        Installed-Size: 10

        Package: b
        Section: net
        Installed-Size: 200

        Package: libc
        """
      let input = folder.file("packages", text)
      func found(_ condition: String) throws -> [String]? {
        let outcome = Outcome(["--json", "--input", input, "--where", condition])
        let output = try #require(outcome.output.first, "\(outcome.complaints)")
        let object = try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any]
        return object?["found"] as? [String]
      }
      #expect(try found("section=libs") == ["a"])
      #expect(try found("section != libs") == ["b", "libc"])
      #expect(try found("name^=lib") == ["libc"])
      #expect(try found("section*=e") == ["b"])
      #expect(try found("installedSize>=10") == ["a", "b"])
      #expect(try found("installedSize<11") == ["a"])
      #expect(try found("name > a") == ["b", "libc"])
      let words = Outcome(["--input", input, "--where", "section=libs", "--needs", "a"]).output.joined(
        separator: "\n")
      #expect(words.contains("1 package with section=libs") && words.contains("0 packages need a"))
    }
  }

  // MARK: Stores that stay

  @Test(arguments: durableDrivers)
  func reusesAStore(_ driver: Options.Driver) throws {
    try TemporaryFolder.with { folder in
      let store = ["--json", "--driver", driver.rawValue, "--store", folder.path("store")]
      let parked = try Outcome(store + ["--input", folder.file("sample", SamplePackages.text)]).json()
      let reused = try Outcome(store + ["--reuse"]).json()
      #expect(reused.counts == parked.counts)
      #expect(reused.bytes == parked.bytes)
      #expect(reused.seconds.keys.sorted() == ["count", "reopen", "retrieve", "retrieveAll"])
      #expect(
        parked.seconds.keys.sorted()
          == ["close", "count", "open", "park", "read", "reopen", "retrieve", "retrieveAll"])
    }
  }

  @Test(arguments: durableDrivers)
  func parkingAgainReplaces(_ driver: Options.Driver) throws {
    try TemporaryFolder.with { folder in
      let store = ["--json", "--driver", driver.rawValue, "--store", folder.path("store")]
      _ = try Outcome(store + ["--input", folder.file("sample", SamplePackages.text)]).json()
      let other = folder.file("other", "Package: x\nDepends: y\n\nPackage: y\n")
      let json = try Outcome(store + ["--input", other]).json()
      #expect(json.packages == 2)
      #expect(json.references == 1)
    }
  }

  @Test func unreadableInputLeavesTheStoreAsItWas() throws {
    try TemporaryFolder.with { folder in
      let store = ["--json", "--store", folder.path("store")]
      let parked = try Outcome(store + ["--input", folder.file("sample", SamplePackages.text)]).json()
      let failed = Outcome(store + ["--input", folder.file("bad", "Package: x\n\nnonsense\n")])
      #expect(failed.exitCode == 1)
      #expect(try Outcome(store + ["--reuse"]).json().counts == parked.counts)
    }
  }

  // MARK: Mistakes

  @Test func unreadableInput() {
    let outcome = Outcome(["--input", "/no/such/file"])
    #expect(outcome.exitCode == 1)
    #expect(outcome.output.isEmpty)
    #expect(outcome.complaints == ["garage-demo: Cannot read /no/such/file: No such file or directory."])
    #expect(Outcome(["--input", "/"]).complaints == ["garage-demo: Cannot read /: Is a directory."])
  }

  @Test func unknownPackage() throws {
    try TemporaryFolder.with { folder in
      let outcome = Outcome(["--package", "libc7", "--input", folder.file("sample", SamplePackages.text)])
      #expect(outcome.exitCode == 1)
      #expect(outcome.complaints.count == 1)
      #expect(outcome.complaints[0].contains("There is no package 'libc7'"))
      #expect(outcome.complaints[0].contains("Did you mean libc6"))
    }
  }

  @Test func noStoreToReuse() {
    let outcome = Outcome(["--reuse", "--store", "/no/such/store"])
    #expect(outcome.exitCode == 1)
    #expect(outcome.complaints[0].contains("There is no store to reuse at /no/such/store"))
  }

  @Test(arguments: durableDrivers)
  func storeOfAnotherDriver(_ driver: Options.Driver) throws {
    let other: Options.Driver = driver == .sqlite ? .lmdb : .sqlite
    try TemporaryFolder.with { folder in
      let store = ["--json", "--store", folder.path("store")]
      let input = ["--input", folder.file("sample", SamplePackages.text)]
      let parked = try Outcome(store + input + ["--driver", other.rawValue]).json()
      for arguments in [["--reuse"], input] {
        let outcome = Outcome(store + arguments + ["--driver", driver.rawValue])
        #expect(outcome.exitCode == 1)
        #expect(outcome.output.isEmpty)
        #expect(outcome.complaints.count == 1)
        #expect(outcome.complaints.first?.contains("--driver \(other)") == true, "\(outcome.complaints)")
      }
      #expect(try Outcome(store + ["--reuse", "--driver", other.rawValue]).json().counts == parked.counts)
    }
  }

  @Test(arguments: durableDrivers)
  func storeThatIsNone(_ driver: Options.Driver) throws {
    try TemporaryFolder.with { folder in
      let text = String(repeating: "This is a letter, not a store. ", count: 400)
      let letter = folder.file("letter", text)
      let outcome = Outcome(
        [
          "--driver", driver.rawValue, "--store", letter, "--input",
          folder.file("sample", SamplePackages.text),
        ])
      #expect(outcome.exitCode == 1)
      #expect(outcome.complaints.count == 1)
      let left = try String(contentsOfFile: letter, encoding: .utf8)
      #expect(left == text)
    }
  }

  // MARK: Text

  @Test func textForPeople() throws {
    try TemporaryFolder.with { folder in
      let outcome = Outcome(["--driver", "memory", "--input", folder.file("sample", SamplePackages.text)])
      #expect(outcome.exitCode == 0)
      #expect(outcome.complaints.isEmpty)
      let text = outcome.output.joined(separator: "\n")
      for part in ["34 packages", "69 references", "2 cycles", "libc6, libgcc-s1", "perl", "park the graph"] {
        #expect(text.contains(part), "\(part) is missing in:\n\(text)")
      }
    }
  }

  @Test func help() {
    let outcome = Outcome(["--help"])
    #expect(outcome.exitCode == 0)
    #expect(outcome.output == [Options.help])
  }

  @Test func mistakeInTheCommandLine() {
    let outcome = Outcome(["--nonsense"])
    #expect(outcome.exitCode == 64)
    #expect(outcome.output.isEmpty)
    #expect(outcome.complaints[0].hasPrefix("garage-demo: There is no option --nonsense."))
  }
}
