import DebianPackages
import Testing

@testable import GarageDemo

/// A small generator with a seed (SplitMix64, G. Steele et al., OOPSLA 2014).
private struct SeededGenerator: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

@Suite("Counting in a graph")
struct GraphFiguresTests {
  @Test(arguments: [UInt64(1), UInt64.random(in: 2...UInt64.max)])
  func agreesWithIndependentCount(seed: UInt64) throws {
    var random = SeededGenerator(state: seed)
    for round in 0..<300 {
      let count = Int.random(in: 1...30, using: &random)
      let density = Double.random(in: 0...2.5, using: &random) / Double(count)
      var text = ""
      for node in 0..<count {
        let others = (0..<count).filter { _ in Double.random(in: 0..<1, using: &random) < density }
        text += "Package: p\(node)\nDepends: \(others.map { "p\($0)" }.joined(separator: ", "))\n\n"
      }
      try compare(text, "seed \(seed), round \(round):\n\(text)")
    }
  }

  private func compare(_ text: String, _ comment: Comment) throws {
    let packages = Package.graph(of: try StanzaReader.read(Array(text.utf8), from: "test"))
    defer { Package.takeApart(packages) }
    let figures = try GraphFigures(of: packages)
    let expected = IndependentCount(text: text)
    let farthest = expected.farthest()

    #expect(figures.packages == expected.packages, comment)
    #expect(figures.references == expected.references, comment)
    #expect(Set(figures.cycles.map { Set($0.map(\.name)) }) == expected.cycles(), comment)
    #expect(figures.farthestReaching?.name == farthest.names.min(), comment)
    for package in packages {
      let reach = Reach(of: package)
      #expect(reach.count == expected.reach(of: package.name), comment)
      #expect(reach.packages.count == reach.count + 1, comment)
    }
  }

  @Test func longChainNeedsNoStack() throws {
    let count = 200_000
    var stanzas: [Stanza] = []
    for node in 0..<count {
      stanzas.append(Stanza(name: "p\(node)", dependencies: ["p\((node + 1) % count)"]))
    }
    let packages = Package.graph(of: stanzas)
    defer { Package.takeApart(packages) }
    let figures = try GraphFigures(of: packages)
    #expect(figures.cycles.map(\.count) == [count])
    #expect(figures.farthestReaching?.name == "p0")
    #expect(Reach(of: packages[7]).levels.count == count)
  }

  @Test func objectsFromElsewhereAreNoticed() throws {
    let packages = Package.graph(of: [
      Stanza(name: "a", dependencies: ["b"]), Stanza(name: "b", dependencies: []),
    ])
    let copy = Package(Stanza(name: "b", dependencies: []))
    #expect(throws: DemoError.self) { try GraphFigures(of: [packages[0], copy]) }
  }
}
