import Foundation
import GarageStorage
import Testing

// The first examples of Docs/Mapping.md, compiled.

private final class Boat: MappableObject {
  var name = ""
  var captain: Person?
  var crew: [Person] = []
  init() {}

  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: Boat.self)
    mapping.add("name", \Boat.name)
    mapping.add("captain", \Boat.captain)
    mapping.add("crew", \Boat.crew)
    mapping.identifyingAttribute = "name"
    return mapping
  }
}

private final class Harbour: MappableObject {
  var town = "Spithead"
  init() {}

  static var objectMapping: ObjectMapping {
    let mapping = ObjectMapping(for: Harbour.self)
    mapping.add("town", \Harbour.town)
    mapping.identifyingAttribute = "town"
    return mapping
  }
}

struct MappingPageTests {
  @Test(arguments: Backend.engines) func theExamplesWork(_ backend: Backend) throws {
    let garage = try Place(backend).garage()
    let harbour = Harbour()
    let boat = Boat()
    boat.name = "Bounty"
    try garage.park(boat)
    let found = try garage.retrieve(Boat.self, identifier: "Bounty")  // a Boat, or nil
    try garage.parkAll([boat, harbour] as [any MappableObject])  // several classes in one write
    #expect(found?.name == "Bounty")
    #expect(try garage.count(Boat.self) == 1)
    #expect(try garage.count(Harbour.self) == 1)
  }

  /// Every line of the marked blocks stands here, one after another.
  @Test func thePageShowsWhatIsCompiled() throws {
    func lines(_ text: String) -> [String] {
      text.split(separator: "\n").map { line in
        let code = line.components(separatedBy: "  // ")[0].trimmingCharacters(in: .whitespaces)
        return code.hasPrefix("private ") ? String(code.dropFirst(8)) : code
      }.filter { !$0.isEmpty }
    }
    let file = testsFolder.deletingLastPathComponent().appending(path: "Docs/Mapping.md")
    let page = try String(contentsOf: file, encoding: .utf8)
    let source = lines(try String(contentsOfFile: #filePath, encoding: .utf8))
    let blocks = page.components(separatedBy: "compiled in MappingPageTests -->\n```swift\n").dropFirst().map
    {
      lines($0.components(separatedBy: "\n```")[0])
    }
    #expect(blocks.count == 2)
    for block in blocks {
      let isThere = source.indices.contains { source[$0...].starts(with: block) }
      #expect(isThere, "\(block)")
    }
  }
}
