import Testing

@testable import GarageCoding

// The bytes of a dictionary, and which of its objects comes first, do not depend on hash values.

private final class OrderedThing: Codable, Identifiable {
  let id: String
  init(_ id: String) { self.id = id }
}

private struct PlainOrderHolder: Codable, Identifiable {
  var id = 1
  var things: [String: OrderedThing]
}

private struct LinkedOrderHolder: Codable, Identifiable {
  var id = 1
  @Linked var things: [String: OrderedThing]
}

/// Equal objects give equal bytes.
@Suite struct DictionaryOrderTests {
  /// Strings that Swift takes for neither equal nor ordered are among them: "é" in two scalars beside "é" and a null.
  private static let keys: [String] = {
    let parts = ["é", "e\u{301}", "\u{FEFF}", "€", "\0", "a", "b"]
    let pairs = parts.flatMap { first in ([""] + parts).map { first + $0 } }
    return pairs.flatMap { pair in ["", "\0", "a"].map { pair + $0 } }
  }()

  private func bytes(_ keys: [String], isLinked: Bool) throws -> [UInt8] {
    var things: [String: OrderedThing] = [:]
    // By the first of equal keys, whichever comes first here.
    for key in keys where things[key] == nil {
      things[key] = OrderedThing(String(describing: Array(key.utf8)))
    }
    let encoder = GraphEncoder(keyPrefix: 0, userInfo: [:], fixedTime: 1)
    let graph =
      isLinked
      ? try encoder.encode(root: LinkedOrderHolder(things: Linked(wrappedValue: things)))
      : try encoder.encode(root: PlainOrderHolder(things: things))
    return Array(graph.bytes)
  }

  @Test(arguments: [true, false]) func theOrderOfTheirBytesIsThatOfTheKeys(isLinked: Bool) throws {
    // Each key once, so that which of equal ones is kept does not matter.
    var unique: [String] = []
    for key in Self.keys where !unique.contains(key) { unique.append(key) }
    let expected = try bytes(unique, isLinked: isLinked)
    for seed in 0..<30 as Range<UInt64> {
      var random = SeededGenerator(seed)
      #expect(try bytes(unique.shuffled(using: &random), isLinked: isLinked) == expected, "seed \(seed)")
    }
  }
}
