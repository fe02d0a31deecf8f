import Testing

@testable import GarageDemo

@Suite("Command line")
struct OptionsTests {
  @Test func defaults() throws {
    let options = try Options(parsing: [])
    #expect(options == Options())
    #expect(options.driver == .sqlite)
    #expect(options.input == .automatic)
    #expect(options.store == nil)
  }

  @Test func everyOption() throws {
    let options = try Options(
      parsing: ["--driver", "lmdb", "--store=/tmp/a=b", "--package", "git", "--json", "--input", "-"])
    #expect(options.driver == .lmdb)
    #expect(options.store == "/tmp/a=b")
    #expect(options.package == "git")
    #expect(options.printsJSON)
    #expect(options.input == .standardInput)
    #expect(!options.reusesStore)
    #expect(try Options(parsing: ["--input=x", "--driver", "SQLite"]).input == .file("x"))
    #expect(try Options(parsing: ["--reuse", "--store", "x"]).reusesStore)
    #expect(try Options(parsing: ["--package", "a", "--package", "b"]).package == "b")
  }

  @Test(arguments: [["--help"], ["-h"], ["--json", "--help", "--reuse"]])
  func help(_ arguments: [String]) throws {
    #expect(try Options(parsing: arguments).printsHelp)
  }

  @Test(arguments: [
    (["--jsn"], "There is no option --jsn. Did you mean --json?"),
    (["-x"], "There is no option -x."),
    (["status"], "'status' is no option. To read a file, write --input status."),
    (["--store"], "--store needs a value."),
    (["--store", "--json"], "--store needs a value."),
    (["--store="], "--store needs a path."),
    (["--package", ""], "--package needs a name."),
    (["--json=yes"], "--json takes no value."),
    (["--driver", "oracle"], "There is no driver 'oracle'. The drivers are: sqlite, lmdb, memory"),
    (["--where", "section"], "--where needs a field, one of"),
    (["--where", "colour=red"], "Packages have no field 'colour'."),
    (["--where", "installedSize=big"], "installedSize is a number"),
    (["--needs="], "--needs needs a name."),
    (["--reuse"], "--reuse needs --store PATH"),
    (["--reuse", "--driver", "memory", "--store", "x"], "--reuse needs a store that outlives"),
    (["--reuse", "--store", "x", "--input", "y"], "--reuse reads no input"),
  ])
  func mistakes(_ arguments: [String], _ message: String) {
    let error = #expect(throws: DemoError.self) { try Options(parsing: arguments) }
    #expect(error?.exitCode == 64)
    #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
  }

  @Test func similarNames() {
    let names = ["git", "git-man", "gitk", "gut", "perl", "libgit2-1.5"]
    #expect(NameSuggestions.nearest(to: "gitt", in: names) == ["git", "gitk", "gut"])
    #expect(NameSuggestions.nearest(to: "perll", in: names) == ["perl"])
    #expect(NameSuggestions.nearest(to: "emacs-nox", in: names).isEmpty)
    #expect(NameSuggestions.nearest(to: "", in: names).isEmpty)
  }

  @Test func numbersForPeople() {
    #expect(
      [0, 7, 999, 1000, 63_666, 1_000_007, -1234].map { Text.count($0) }
        == ["0", "7", "999", "1 000", "63 666", "1 000 007", "-1 234"])
    #expect(Text.count(1, "package", "packages") == "1 package")
    #expect(
      [0, 999, 1000, 61_349_888, 5_000_000_000_000].map { Text.bytes($0) }
        == ["0 bytes", "999 bytes", "1.0 kB", "61.3 MB", "5000.0 GB"])
    #expect([0.00123, 0.5, 1.5, 61].map { Text.seconds($0) } == ["0.0012 s", "0.500 s", "1.50 s", "61.0 s"])
  }
}
