import Foundation
import Testing

@testable import GarageCoding

/// Parts that Foundation's own `init(from:)` ends the process over are an error, wherever they stand.
@Suite struct FoundationTrapTests {
  private struct Parts: Codable {
    var scheme: String?
    var port: Int?
    var path = ""
    var host: String?
  }
  private struct Span: Codable { var location: Int, length: Int }
  private struct Spans: Codable { var indexes: [Span] }

  private func expectError<Before: Codable, Now: Codable>(_ part: Before, as type: Now.Type, _ text: String) {
    func expect(_ body: () throws -> Void) {
      let error = #expect(throws: (any Error).self, performing: body)
      #expect("\(String(describing: error))".contains(text), "\(String(describing: error))")
    }
    expect { _ = try recode(part, as: type) }
    expect { _ = try recode(part as Before?, as: Now?.self) }
    expect { _ = try recode([part], as: [Now].self) }
    expect { _ = try recode(["a": part], as: [String: Now].self) }
  }

  @Test(arguments: ["", "1", "é", "a b", "a:", "-", "+a", "\u{212A}", "ſ", "a\u{0}"]) func schemes(
    _ scheme: String
  )
    throws
  {
    expectError(Parts(scheme: scheme), as: URLComponents.self, "The stored scheme is not a URL scheme.")
  }

  @Test(arguments: [-1, Int.min]) func ports(_ port: Int) throws {
    expectError(
      Parts(scheme: "a", port: port), as: URLComponents.self, "The stored port is a negative number.")
  }

  @Test(arguments: [(5, -2), (Int.max, 2), (Int.min, -1)]) func ranges(_ range: (Int, Int)) throws {
    expectError(
      Spans(indexes: [Span(location: 1, length: 1), Span(location: range.0, length: range.1)]),
      as: IndexSet.self,
      "A stored range has a negative length")
  }

  /// All that can be made comes back.
  @Test func whatIsRightComesBack() throws {
    var all = [
      URLComponents(), try #require(URLComponents(string: "A-.+9://me:pw@[::1]:0/p%20q?x=%25#f")),
      try #require(URLComponents(string: "//host:65536")), try #require(URLComponents(string: "mailto:a@b")),
      try #require(URLComponents(string: "a/b:c")),
    ]
    all[0].port = .max
    for value in all {
      #expect(try roundTrip(Holder(value)).all.allSatisfy { $0 == value })
    }
    for value in [IndexSet(), [3, 5, 6, 7], IndexSet(integersIn: 0..<Int.max - 1)] {
      #expect(try roundTrip(Holder(value)).all.allSatisfy { $0 == value })
    }
  }
}
