import DebianPackages
import Testing

@Suite("Reading package databases")
struct StanzaReaderTests {
  private func read(_ text: String) throws -> [Stanza] {
    try StanzaReader.read(Array(text.utf8), from: "test")
  }

  @Test func everyField() throws {
    let stanzas = try read(
      """
      Package: git
      Status: install ok installed
      Priority: optional
      Section: vcs
      Installed-Size: 42021
      Maintainer: Jonathan Nieder <jrnieder@gmail.com>
      Architecture: amd64
      Multi-Arch: foreign
      Version: 1:2.39.5-0+deb12u2
      Depends: libc6 (>= 2.34), perl
      Pre-Depends: dpkg
      Description: fast, scalable, distributed revision control system
       Git is a popular version control system.
       .
       It is: fast
      Homepage: https://git-scm.com/

      """)
    #expect(
      stanzas == [
        Stanza(
          name: "git", version: "1:2.39.5-0+deb12u2", architecture: "amd64", section: "vcs",
          maintainer: "Jonathan Nieder <jrnieder@gmail.com>",
          description: """
            fast, scalable, distributed revision control system
            Git is a popular version control system.
            .
            It is: fast
            """,
          installedSize: 42021, dependencies: ["dpkg", "libc6", "perl"])
      ])
  }

  @Test(arguments: [
    ("libc6", ["libc6"]),
    ("libc6 (>= 2.34), libgcc-s1 (>= 3.0)", ["libc6", "libgcc-s1"]),
    ("default-mta | mail-transport-agent, perl:any (>= 5)", ["default-mta", "perl"]),
    ("a|b|c,d", ["a", "d"]),
    ("a(>=1)|b,c", ["a", "c"]),
    ("a [amd64], b <!nocheck>, c[i386]", ["a", "b", "c"]),
    ("a, a (<< 2), a", ["a", "a", "a"]),
    (" , a,, b ,", ["a", "b"]),
    ("a\n b,\n\tc (>= 1,\n 2), d", ["a", "c", "2)", "d"]),
    ("\n a,\n b", ["a", "b"]),
    ("a,\r\n b\r", ["a", "b"]),
    ("", []),
    ("   ", []),
  ])
  func dependencies(_ field: String, _ names: [String]) throws {
    #expect(try read("Package: p\nDepends: \(field)\n")[0].dependencies == names)
  }

  @Test func fieldNamesInAnyCase() throws {
    let stanza = try read("PACKAGE: p\nversion:1\nPre-DEPENDS:\ta\nDepends : b\n")[0]
    #expect(stanza.name == "p")
    #expect(stanza.version == "1")
    #expect(stanza.dependencies == ["a", "b"])
  }

  @Test func endsOfLinesAndOfText() throws {
    let names = ["a", "b", "c"]
    for text in [
      "Package: a\n\nPackage: b\n\nPackage: c", "Package: a\n\nPackage: b\n\nPackage: c\n\n\n",
      "\n\nPackage: a\n \t\nPackage: b\n\n\n\nPackage: c\n",
      "Package: a\r\n\r\nPackage: b\r\n\r\nPackage: c\r\n",
      "Package:a\n\nPackage:   b   \n\nPackage:\n c\n",
    ] {
      #expect(try read(text).map(\.name) == names, "\(text.debugDescription)")
    }
  }

  @Test func whatIsNoPackageIsLeftOut() throws {
    let stanzas = try read("Origin: Debian\n\nPackage:\nVersion: 1\n\nPackage: p\nVersion:\nSection: \n")
    #expect(stanzas.map(\.name) == ["p"])
    #expect(stanzas[0].version == nil)
    #expect(stanzas[0].section == nil)
  }

  @Test func fieldGivenTwiceCountsOnce() throws {
    let stanza = try read("Package: p\nPackage: q\nDepends: a\nDepends: b\n c\nInstalled-Size: many\n")[0]
    #expect(stanza.name == "p")
    #expect(stanza.dependencies == ["a"])
    #expect(stanza.installedSize == nil)
  }

  @Test func textThatIsNotUTF8() throws {
    var bytes = Array("Package: p\nMaintainer: J".utf8)
    bytes += [0xF6] + Array("rg\n".utf8)
    let stanza = try StanzaReader.read(bytes, from: "test")[0]
    #expect(stanza.maintainer == "J\u{FFFD}rg")
  }

  @Test(arguments: [
    ("", "test holds no package"),
    ("\n \n", "test holds no package"),
    ("Origin: Debian\n", "test holds no package"),
    ("Package: p\nnonsense\n", "test, line 2: \"nonsense\" has no field name"),
    (": p\n", "test, line 1: \": p\" has no field name"),
    ("Package: p\n\n  more\n", "test, line 3: \"  more\" continues no field"),
    ("\u{0}\u{1}\u{2}", "test, line 1: \"\\0"),
  ])
  func whatIsNoDatabase(_ text: String, _ message: String) {
    let error = #expect(throws: PackageDatabaseError.self) { try read(text) }
    #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
  }

  @Test func compressedInputIsNamed() {
    let error = #expect(throws: PackageDatabaseError.self) {
      try StanzaReader.read([0x1F, 0x8B, 8, 0, 0, 0], from: "Packages.gz")
    }
    #expect(error?.message.contains("compressed") == true)
  }

  @Test func graphLinksWhatIsThere() throws {
    let packages = Package.graph(
      of: try read(
        """
        Package: a
        Version: 1
        Depends: missing, b, c | d, b (>= 2), a
        Pre-Depends: c:any

        Package: b
        Depends: missing | c, a

        Package: a
        Version: 2
        Depends: c

        Package: c
        """))
    defer { Package.takeApart(packages) }
    #expect(packages.map(\.name) == ["a", "b", "c"])
    #expect(packages[0].version == "1")
    #expect(packages.map { $0.depends.map(\.name) } == [["c", "b", "a"], ["a"], []])
    #expect(packages[1].depends[0] === packages[0])
  }
}
