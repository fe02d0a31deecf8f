import Foundation
import Testing

@testable import GarageCoding

// Decoders that look at an object by a container before they decide as what to decode it, where the object is a record of its
// own: as with JSON they see what it encoded.

private enum Kind: String, Codable { case circle, square, path }
private enum KindKey: String, CodingKey { case kind, center }

private protocol Figure: Codable, AnyObject, Identifiable where ID == Int { var kind: Kind { get } }

private struct FigureCenter: Codable, Identifiable, Equatable, TypeTagged {
  static var typeTag: String { "a center" }
  var id: Int, x = 0.5, note: String? = nil
}
private final class RoundFigure: Figure, TypeTagged {
  static var typeTag: String { "a circle" }
  var id = 0, kind = Kind.circle, radius = 0.0, center = FigureCenter(id: 0)
  init(_ id: Int, radius: Double) { (self.id, self.radius, center) = (id, radius, FigureCenter(id: id * 10)) }
}
private final class SquareFigure: Figure, TypeTagged {
  static var typeTag: String { "a square" }
  var id = 0, side = Float(0), kind = Kind.square, tags: [String] = [], colors: [String: UInt8?] = [:]
  init(_ id: Int, side: Float) {
    (self.id, self.side, tags, colors) = (id, side, ["a", "b"], ["red": 255, "green": nil])
  }
}

/// Figures as they are, told apart by what they encode.
private struct FigureDrawing: Codable, Identifiable {
  var id = 1
  var figures: [any Figure] = []
  var favorite: (any Figure)?
  private enum Keys: String, CodingKey { case id, figures, favorite }

  init(figures: [any Figure]) { (self.figures, favorite) = (figures, figures.last) }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Keys.self)
    try container.encode(id, forKey: .id)
    var list = container.nestedUnkeyedContainer(forKey: .figures)
    for figure in figures { try list.encode(figure) }
    if let favorite { try container.encode(favorite, forKey: .favorite) }
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Keys.self)
    id = try container.decode(Int.self, forKey: .id)
    var list = try container.nestedUnkeyedContainer(forKey: .figures)
    while !list.isAtEnd {
      var ahead = list
      switch try ahead.nestedContainer(keyedBy: KindKey.self).decode(Kind.self, forKey: .kind) {
      case .circle: figures.append(try list.decode(RoundFigure.self))
      case .square: figures.append(try list.decode(SquareFigure.self))
      case .path: break
      }
    }
    let favorite = try container.nestedContainer(keyedBy: KindKey.self, forKey: .favorite)
    switch try favorite.decode(Kind.self, forKey: .kind) {
    case .circle: self.favorite = try container.decode(RoundFigure.self, forKey: .favorite)
    default: self.favorite = try container.decode(SquareFigure.self, forKey: .favorite)
    }
  }
}

private enum LookingKeys: String, CodingKey { case held, after }
private enum Look {
  @TaskLocal static var closure: @Sendable (KeyedDecodingContainer<LookingKeys>) throws -> String = { _ in ""
  }
}

/// What a closure finds in a decoder of an object that stands under the key "held".
private struct Onlooker<Held: Codable>: Codable, Identifiable {
  var id = 1, held: Held?, after = "after"
  var found = ""

  init(_ held: Held) { self.held = held }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: LookingKeys.self)
    try container.encode(held, forKey: .held)
    try container.encode(after, forKey: .after)
  }
  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: LookingKeys.self)
    found = try Look.closure(container)
    after = try container.decode(String.self, forKey: .after)
  }
}

/// An object that encodes as an array.
private struct MarkTrack: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "a track" }
  var id: Int, marks: [Int]
  init(_ id: Int, _ marks: [Int]) { (self.id, self.marks) = (id, marks) }
  init(from decoder: any Decoder) throws {
    let all = try decoder.singleValueContainer().decode([Int].self)
    (id, marks) = (all[0], Array(all[1...]))
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode([id] + marks)
  }
}

@Suite struct ContainersOfReferencesTests {
  @Test func figuresAreToldApart() throws {
    let circle = RoundFigure(1, radius: 2.5), square = SquareFigure(2, side: 0.1)
    let drawing = FigureDrawing(figures: [circle, square, RoundFigure(3, radius: 0), circle, square])
    for copy in [try JSON.copy(drawing), try roundTrip(drawing)] {
      #expect(copy.figures.map { $0.kind } == [.circle, .square, .circle, .circle, .square])
      #expect(copy.figures.map { $0.id } == [1, 2, 3, 1, 2])
      #expect((copy.figures[0] as? RoundFigure)?.radius == 2.5)
      #expect((copy.figures[2] as? RoundFigure)?.center == FigureCenter(id: 30))
      #expect((copy.figures[1] as? SquareFigure)?.side == 0.1)
      #expect((copy.figures[1] as? SquareFigure)?.colors == ["red": 255, "green": nil])
      #expect(copy.favorite?.id == 2)
    }
    let copy = try roundTrip(drawing)
    #expect(copy.figures[0] === copy.figures[3] && copy.figures[1] === copy.figures[4])
    #expect(copy.favorite === copy.figures[1])
  }

  /// What is found by a look at an object is what JSON's decoder finds.
  private func check<Held: Codable>(
    _ held: Held, _ expected: String,
    _ look: @escaping @Sendable (KeyedDecodingContainer<LookingKeys>) throws -> String
  ) throws {
    try Look.$closure.withValue(look) {
      for copy in [try JSON.copy(Onlooker(held)), try roundTrip(Onlooker(held))] {
        #expect(copy.found == expected)
        #expect(copy.after == "after")
      }
    }
  }

  @Test func keyed() throws {
    try check(RoundFigure(1, radius: 2), "circle 10 0.5 nil circle") { outer in
      let inner = try outer.nestedContainer(keyedBy: KindKey.self, forKey: .held)
      let kind = try inner.decode(Kind.self, forKey: .kind)
      // An object in an object, as a whole and by a container.
      let center = try inner.decode(FigureCenter.self, forKey: .center)
      let keys = try inner.nestedContainer(keyedBy: PathKey.self, forKey: .center)
      let x = try keys.decode(Double.self, forKey: PathKey(stringValue: "x"))
      let note = try keys.decodeIfPresent(String.self, forKey: PathKey(stringValue: "note"))
      return "\(kind) \(center.id) \(x) \(note ?? "nil") \(try inner.decode(Kind.self, forKey: .kind))"
    }
  }

  @Test func superDecoders() throws {
    try check(SquareFigure(4, side: 1.5), "4 1.5 [\"a\", \"b\"] 4 held.tags.Index 0") { outer in
      let decoder = try outer.superDecoder(forKey: .held)
      let square = try SquareFigure(from: decoder)
      // And then as a whole, which is no map that was begun.
      let again = try decoder.singleValueContainer().decode(SquareFigure.self)
      var path = ""
      do {
        _ = try decoder.container(keyedBy: PathKey.self)
          .decode([Int?].self, forKey: PathKey(stringValue: "tags"))
      } catch DecodingError.typeMismatch(_, let context) {
        path = context.codingPath.map(\.stringValue).joined(separator: ".")
      }
      return "\(square.id) \(square.side) \(square.tags) \(again.id) \(path)"
    }
  }

  @Test func unkeyed() throws {
    for marks in [[5, 6, 7], [1000, -1], []] {
      let expected = "\([9] + marks) \(marks.count + 1) \([9] + marks)"
      try check(MarkTrack(9, marks), expected) { outer in
        var list = try outer.nestedUnkeyedContainer(forKey: .held)
        var all: [Int] = []
        while !list.isAtEnd { all.append(try list.decode(Int.self)) }
        let decoder = try outer.superDecoder(forKey: .held)
        _ = try decoder.unkeyedContainer()
        let whole = try decoder.singleValueContainer().decode(MarkTrack.self)
        return "\(all) \(list.count ?? -1) \([whole.id] + whole.marks)"
      }
    }
  }

  @Test func anotherKindOfContainer() throws {
    try check(RoundFigure(1, radius: 2), "mismatch") { outer in
      do { _ = try outer.nestedUnkeyedContainer(forKey: .held) } catch DecodingError.typeMismatch {
        return "mismatch"
      }
      return "none"
    }
    try check(MarkTrack(1, [2]), "mismatch") { outer in
      do { _ = try outer.nestedContainer(keyedBy: KindKey.self, forKey: .held) } catch DecodingError
        .typeMismatch
      {
        return "mismatch"
      }
      return "none"
    }
  }

  /// A record that is gone is an error that names it, and no end of what is around it.
  @Test func goneObjects() throws {
    let source = DictionarySource()
    let graph = try GraphEncoder().encode([Onlooker(FigureCenter(id: 7))])
    source.add(graph, count: 1)
    let look: @Sendable (KeyedDecodingContainer<LookingKeys>) throws -> String = { outer in
      do {
        _ = try outer.nestedContainer(keyedBy: KindKey.self, forKey: .held)
      } catch DecodingError.dataCorrupted(
        let context)
      {
        return context.debugDescription
      }
      return "found"
    }
    let copy = try Look.$closure.withValue(look) {
      try found(decode(Onlooker<FigureCenter>.self, graph.roots[0], from: source))
    }
    #expect(copy.found.contains("a center \"7\""))
    #expect(copy.after == "after")
  }
}
