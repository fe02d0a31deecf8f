import Foundation
import Testing

@testable import GarageCoding

private struct Code: LosslessStringConvertible, Hashable {
  var description: String
  init?(_ text: String) {
    guard text.count == 3 else { return nil }
    description = text.uppercased()
  }
}
private enum Color: String, Codable { case red }
private enum Number: Int, Codable { case one = 1 }
private struct Pair: Codable, Hashable { var a = 1 }

/// Text stands for an identifier of another kind, and the other way round, where that is the same.
@Suite struct IdentifierConversionTests {
  private func converted(_ value: any Hashable, _ type: Any.Type) throws -> Identifier {
    try Identifier.converting(value, toMatch: type) { try Array(JSONEncoder().encode($0)) }
  }

  @Test func textStandsForWhatItNames() throws {
    let uuid = UUID()
    #expect(try converted("7", Int.self) == identifier(7))
    #expect(try converted("-7", Int8?.self) == identifier(-7))
    #expect(try converted(String(UInt128.max), UInt128.self) == identifier(UInt128.max))
    #expect(try converted("1", Number.self) == identifier(1))
    #expect(try converted(uuid.uuidString, UUID.self) == identifier(uuid))
    #expect(try converted(uuid.uuidString.lowercased(), UUID.self) == identifier(uuid))
    #expect(try converted("1.50", Double.self) == identifier(1.5))
    #expect(try converted("abc", Code.self) == identifier("ABC"))
    #expect(try converted(uuid.uuidString.dropLast(0), UUID.self) == identifier(uuid))
  }

  @Test func valuesStandForTheirText() throws {
    let uuid = UUID()
    #expect(try converted(7, String.self) == identifier("7"))
    #expect(try converted(uuid, String.self) == identifier(uuid.uuidString))
    #expect(try converted(7, Double.self) == identifier(7.0))
    #expect(try converted(123, Code.self) == identifier("123"))
    #expect(try converted(Color.red, String.self) == identifier("red"))
    #expect(try converted("red", Color.self) == identifier("red"))
    #expect(try converted(AnyHashable(7), String.self) == identifier("7"))
  }

  @Test func whatDoesNotConvertKeepsItsOwn() throws {
    for text in ["07", "+7", " 7", "7.0", "", "seven", "-0"] {
      #expect(try converted(text, Int.self) == identifier(text))
    }
    #expect(try converted("no", UUID.self) == identifier("no"))
    #expect(try converted("abcd", Code.self) == identifier("abcd"))
    #expect(try converted(Int8(7), UInt64.self) == identifier(7))
    #expect(try converted(Int?.none, Int.self) == identifier(Int?.none))
    #expect(try converted("x", Date.self) == identifier("x"))
    #expect(try converted("x", Pair.self) == identifier("x"))
    #expect(try converted(Pair(), String.self) == identifier(Pair()))
    #expect(throws: GraphCodingError.self) { try converted("x", ObjectIdentifier.self) }
  }
}
