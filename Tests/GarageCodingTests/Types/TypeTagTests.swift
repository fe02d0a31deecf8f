import Foundation
import Testing

@testable import GarageCoding

private struct Secret { struct Inner {} }
private struct Box<Content> { struct Part {} }
private struct Outer { struct Same {} }
private struct Another { struct Same {} }
extension Int { fileprivate struct TagKind {} }
private extension Box where Content == Int { struct OnlyInt {} }

private struct Declared: TypeTagged {
  static var typeTag: String { "declared" }
  static var formerTypeTags: [String] { ["old", "older"] }
}
private struct SameDeclared: TypeTagged { static var typeTag: String { "declared" } }
private struct Empty: TypeTagged { static var typeTag: String { "" } }
/// Declares the name that another type derives.
private struct Impostor: TypeTagged { static var typeTag: String { "GarageCodingTests.Outer" } }

private class Plain {}
private class Animal: Plain, Codable, Identifiable { var id = 0 }
private class Dog: Animal {}
private class Puppy: Dog {}
private class Container<T>: Plain, Codable, Identifiable { var id = "" }
private class IntContainer: Container<Int> {}
private class Model: Codable {}
private class User: Model, Identifiable { var id = 0 }
private class Admin: User {}

private class Shape: Codable, Identifiable, TypeTagged {
  var id = 0
  class var typeTag: String { "shape" }
  class var formerTypeTags: [String] { ["form"] }
}
private class Circle: Shape {
  override class var typeTag: String { "circle" }
  override class var formerTypeTags: [String] { super.formerTypeTags + ["disc"] }
}
private class Square: Shape {}
private class Tile: Square { override class var typeTag: String { "shape" } }

private func name(_ type: Any.Type) throws -> String { try TypeTag.of(type).name }

/// The names under which types are stored, which never change, and their collisions.
@Suite struct TypeTagTests {
  @Test func derivedNames() throws {
    #expect(try name(Outer.self) == "GarageCodingTests.Outer")
    #expect(try name(Secret.self) == "GarageCodingTests.Secret")
    #expect(try name(Secret.Inner.self) == "GarageCodingTests.Secret.Inner")
    #expect(try name(Outer.Same.self) == "GarageCodingTests.Outer.Same")
    #expect(try name(Another.Same.self) == "GarageCodingTests.Another.Same")
    #expect(try name(Int.self) == "Swift.Int")
    #expect(try name(Int.TagKind.self) == "(extension in GarageCodingTests):Swift.Int.TagKind")
    #expect(try name(UUID.self) == "Foundation.UUID")
    struct Local { struct Inner {} }
    #expect(try name(Local.self) == "GarageCodingTests.TypeTagTests.Local")
    #expect(try name(Local.Inner.self) == "GarageCodingTests.TypeTagTests.Local.Inner")
    let inClosure = { () -> Any.Type in
      struct Closed {}
      return Closed.self
    }
    #expect(try name(inClosure()) == "GarageCodingTests.TypeTagTests.Closed")
  }

  @Test func derivedNamesOfGenericTypes() throws {
    let module = "GarageCodingTests"
    #expect(try name(Box<Outer>.self) == "\(module).Box<\(module).Outer>")
    #expect(try name(Box<Secret>.self) == "\(module).Box<\(module).Secret>")
    #expect(try name(Box<UUID?>.Part.self) == "\(module).Box<Swift.Optional<Foundation.UUID>>.Part")
    #expect(try name(Box<(Int, at: Date)>.self) == "\(module).Box<(Swift.Int, at: Foundation.Date)>")
    #expect(
      try name(Box<[String: Box<Secret>]>.self)
        == "\(module).Box<Swift.Dictionary<Swift.String, \(module).Box<\(module).Secret>>>")
    #expect(try name(Box<Int>.OnlyInt.self) == "(extension in \(module)):\(module).Box<Swift.Int>.OnlyInt")
  }

  @Test(
    "only addresses go, whatever else a name holds",
    arguments: [
      ("M.(unknown context at $55d0c8a4).T", "M.T"),
      ("M.(unknown context at $0F).(unknown context at $1).T", "M.T"),
      ("M.`(unknown context at $1).T`.U", "M.`(unknown context at $1).T`.U"),
      ("M.(unknown context at $).T", "M.T"),
      ("M.(unknown context at $55", "M.(unknown context at $55"),
      ("M.Ünï<M.`a b`>", "M.Ünï<M.`a b`>"),
      ("M.B<FoundationEssentials.Date>", "M.B<Foundation.Date>"),
      (
        "M.B<(FoundationEssentials.Date, FoundationInternationalization.Date)>",
        "M.B<(Foundation.Date, Foundation.Date)>"
      ),
      ("M.FoundationEssentials.Date", "M.FoundationEssentials.Date"),
      ("MyFoundationEssentials.Date", "MyFoundationEssentials.Date"),
      ("", ""),
    ])
  func strips(_ reflected: String, _ stable: String) {
    #expect(TypeName.stable(reflected: reflected) == stable)
  }

  @Test(
    "golden: digests are stored",
    arguments: [
      ("person", 0x38a81e87e79631e6 as UInt64), ("MyApp.Person", 0x5032846c35239e4b),
      ("Café", 0x73473dcc12b76308), ("", 0xe3b0c44298fc1c14),
    ])
  func goldenDigests(_ name: String, _ digest: UInt64) { #expect(TypeTag(name: name).digest == digest) }

  @Test func equalNamesAreOneTag() { #expect(TypeTag(name: "Cafe\u{301}") == TypeTag(name: "Caf\u{E9}")) }

  @Test func derivedCollisionsThrow() throws {
    let (first, second) = (collidingA(), collidingB())
    #expect(try name(first) == "GarageCodingTests.Collision")
    #expect {
      try TypeTag.of(second)
    } throws: { error in
      "\(error)".contains("typeTag") && "\(error)".contains("GarageCodingTests.Collision")
    }
    // The first keeps its tag, the second fails again.
    #expect(try name(first) == "GarageCodingTests.Collision")
    #expect(throws: GraphCodingError.self) { try TypeTag.of(second) }
  }

  @Test func declaredTags() throws {
    #expect(try name(Declared.self) == "declared")
    #expect(try TypeTag.of(SameDeclared.self) == TypeTag.of(Declared.self))
    #expect(try TypeTag.of(Impostor.self) == TypeTag.of(Outer.self))
    #expect(TypeTag.former(of: Declared.self).map(\.name) == ["old", "older"])
    #expect(TypeTag.former(of: SameDeclared.self) == [] && TypeTag.former(of: Int.self) == [])
    let empty = GraphCodingError.emptyTag(type: String(reflecting: Empty.self))
    #expect(throws: empty) { try TypeTag.of(Empty.self) }
  }

  @Test func hierarchies() throws {
    #expect(try name(Circle.self) == "circle")
    #expect(TypeTag.former(of: Shape.self).map(\.name) == ["form"])
    #expect(TypeTag.former(of: Circle.self).map(\.name) == ["disc"])
    #expect(TypeTag.former(of: Square.self) == [])
    let error = #expect(throws: GraphCodingError.self) { try TypeTag.of(Square.self) }
    #expect(error?.description.contains("class var typeTag") == true)
    #expect(throws: GraphCodingError.self) { try TypeTag.of(Tile.self) }
    #expect(try name(Puppy.self) == "GarageCodingTests.Puppy")
  }

  @Test func identitySpaces() {
    #expect(space(Puppy.self) == ObjectIdentifier(Animal.self))
    #expect(space(Animal.self) == ObjectIdentifier(Animal.self))
    #expect(space(IntContainer.self) == ObjectIdentifier(Container<Int>.self))
    #expect(space(Container<String>.self) == ObjectIdentifier(Container<String>.self))
    #expect(space(Admin.self) == ObjectIdentifier(User.self))
    #expect(space(Model.self) == ObjectIdentifier(Model.self))
    #expect(space(Outer.self) == ObjectIdentifier(Outer.self))
  }

  private func space(_ type: Any.Type) -> ObjectIdentifier {
    ObjectIdentifier(TypeTag.identitySpace(of: type))
  }

  @Test func manyThreadsAgree() async {
    await withTaskGroup(of: UInt64?.self) { group in
      for _ in 0..<64 { group.addTask { try? TypeTag.of(Box<Box<Box<Another>>>.self).digest } }
      var seen = Set<UInt64?>()
      for await digest in group { seen.insert(digest) }
      #expect(seen.count == 1 && !seen.contains(nil))
    }
  }
}

private func collidingA() -> Any.Type {
  struct Collision {}
  return Collision.self
}

private func collidingB() -> Any.Type {
  struct Collision {}
  return Collision.self
}
