import Foundation
import Testing

@testable import GarageCoding

/// What a decoder says is there.
@Suite struct AllKeysTests {
  private enum K: String, CodingKey, CaseIterable { case a, b, c, d, e, f, g, h, i, j }

  /// Has some of the keys, and finds out which by asking for all.
  private struct Some: Codable, Equatable {
    var values: [String: Int] = [:]
    /// How it is written: each key that is not there as such, only those that are there, or these backwards.
    var form = 0

    init(_ values: [String: Int], form: Int) { (self.values, self.form) = (values, form) }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: K.self)
      for key in form == 2 ? K.allCases.reversed() : K.allCases {
        if let value = values[key.rawValue] {
          try container.encode(value, forKey: key)
        } else if form == 0 {
          try container.encodeIfPresent(nil as Int?, forKey: key)
        }
      }
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: K.self)
      var keys = container.allKeys
      #expect(Set(keys).count == keys.count)
      for key in keys { values[key.rawValue] = try container.decode(Int.self, forKey: key) }
      // What one does to its keys is nobody else's.
      keys.append(.a)
      keys.reverse()
      #expect(Set(container.allKeys.map(\.rawValue)) == Set(values.keys))
    }
  }

  @Test func mapsOfAllForms() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var generator = SeededGenerator(seed)
    for _ in 0..<200 {
      let all = (0..<8).map { _ -> Some in
        let keys = K.allCases.filter { _ in Int.random(in: 0..<4, using: &generator) > 0 }
        let isWhole = Bool.random(using: &generator)
        let values = (isWhole ? K.allCases : keys).map {
          ($0.rawValue, Int.random(in: 0..<1000, using: &generator))
        }
        return Some(Dictionary(uniqueKeysWithValues: values), form: Int.random(in: 0..<3, using: &generator))
      }
      let found = try recode(all, as: [Some].self)
      #expect(found.map(\Some.values) == all.map(\Some.values), "seed \(seed)")
    }
  }
}
