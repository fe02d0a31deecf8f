import Testing

@testable import GarageCoding

private struct Port: Codable, Hashable, Identifiable { var id: String }

private struct Quay: Codable {
  var depth = 1
  @Linked var berths: [Port]
  @Linked var table: [String: Port]
  @Linked var numbered: [Int: Port]
}

/// Wherever links stand, an error about a missing object says so, although no path is put together before it is thrown.
@Suite struct LinkPathTests {
  private let gone = Port(id: "gone"), here = Port(id: "here")

  private func quay(_ berths: [Port] = [], table: [String: Port] = [:], numbered: [Int: Port] = [:]) -> Quay {
    Quay(
      berths: Linked(wrappedValue: berths), table: Linked(wrappedValue: table),
      numbered: Linked(wrappedValue: numbered))
  }

  private struct Owner<T: Codable>: Codable, Identifiable {
    var id = 1
    var value: T
  }

  private func check<T: Codable>(
    _ value: T, _ path: String, _ location: SourceLocation = #_sourceLocation
  ) throws {
    let source = DictionarySource()
    let graph = try GraphEncoder().encode([Owner(value: value)])
    source.add(graph)
    let gone = try TypeDescription.identity(of: Port.self, id: "gone")
    source.records[withUnsafeBytes(of: gone.tag.bigEndian) { Array($0) } + gone.identifier.keyBytes] = nil
    let session = GraphDecodingSession(source: source, types: try RegisteredTypes([]))
    #expect(sourceLocation: location) {
      _ = try session.object(Owner<T>.self, graph.roots[0])
    } throws: { error in
      guard case DecodingError.dataCorrupted(let context) = error else { return false }
      let found = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }
      #expect(found == ["value"] + path.split(separator: ".").map(String.init), sourceLocation: location)
      let isNamed = "\(String(describing: context.underlyingError))".contains("Owner")
      return isNamed
        && context.debugDescription == "Missing Identifiable reference of type: Port with id: gone"
    }
  }

  @Test func inStructsAndCollections() throws {
    try check(quay([here, here, gone]), "berths.2")
    try check(quay([here], table: ["a": here, "b": gone]), "table.b")
    try check(quay(numbered: [7: gone]), "numbered.7")
    try check([quay(), quay([here]), quay([gone])], "2.berths.0")
    try check(["x": quay([here]), "y": quay([here, gone])], "y.berths.1")
    try check(["x": [quay([here]), quay(table: ["k": gone])]], "x.1.table.k")
    try check([Optional(quay([here])), nil, quay([gone])], "2.berths.0")
    struct Deep: Codable {
      var left: Quay
      var right: [String: Quay]
    }
    try check(Deep(left: quay([here]), right: ["r": quay([gone])]), "right.r.berths.0")
    try check(Deep(left: quay([gone]), right: ["r": quay([here])]), "left.berths.0")
  }

  @Test func inEnums() throws {
    enum Choice: Codable {
      case empty
      case one(Quay)
      case two(left: Int, right: Quay)
    }
    try check(Choice.one(quay([gone])), "one._0.berths.0")
    try check([Choice.empty, .two(left: 1, right: quay([here, gone]))], "1.two.right.berths.1")
  }

  /// Links of many records and fields in turn: each is called by its own name.
  @Test func whereManyAreRead() throws {
    struct Many: Codable {
      @Linked var a: [Port]; @Linked var b: [Port]; @Linked var c: [Port]; @Linked var d: [Port]
      @Linked var e: [Port]; @Linked var f: [Port]; @Linked var g: [Port]; @Linked var h: [Port]
      @Linked var i: [Port]; @Linked var j: [Port]
      init(_ lists: [[Port]]) {
        (a, b, c, d, e) = (lists[0], lists[1], lists[2], lists[3], lists[4])
        (f, g, h, i, j) = (lists[5], lists[6], lists[7], lists[8], lists[9])
      }
    }
    for (number, name) in ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"].enumerated() {
      var lists = Array(repeating: [here], count: 10)
      lists[number] = [here, gone]
      let whole = Many(Array(repeating: [here], count: 10))
      try check([whole, whole, Many(lists)], "2.\(name).1")
    }
  }

  @Test func behindCodingKeys() throws {
    struct Renamed: Codable {
      @Linked var all: [Port]
      enum CodingKeys: String, CodingKey { case all = "every_one" }
    }
    try check(Renamed(all: Linked(wrappedValue: [gone])), "every_one.0")
    // The key is one of the type's own.
    let source = DictionarySource()
    let graph = try GraphEncoder().encode([Owner(value: quay([gone]))])
    source.add(graph)
    for key in source.records.keys where String(decoding: key, as: UTF8.self).contains("gone") {
      source.records[key] = nil
    }
    let session = GraphDecodingSession(source: source, types: try RegisteredTypes([]))
    do {
      _ = try session.object(Owner<Quay>.self, graph.roots[0])
      Issue.record("nothing was thrown")
    } catch DecodingError.dataCorrupted(let context) {
      #expect(context.codingPath.count == 3)
      #expect("\(type(of: context.codingPath[0]))" == "CodingKeys")
      #expect("\(type(of: context.codingPath[1]))" == "CodingKeys")
    }
  }

  /// Containers that are asked for by themselves.
  private struct Nested: Codable {
    var first: Linked<[Port]>
    var second: Linked<[Port]>
    var third: Linked<[Port]>
    enum Key: String, CodingKey { case map, list, inner }

    init(_ first: [Port], _ second: [Port], _ third: [Port]) {
      (self.first, self.second) = (Linked(wrappedValue: first), Linked(wrappedValue: second))
      self.third = Linked(wrappedValue: third)
    }
    init(from decoder: any Decoder) throws {
      let outer = try decoder.container(keyedBy: Key.self)
      let map = try outer.nestedContainer(keyedBy: Key.self, forKey: .map)
      first = try map.decode(Linked<[Port]>.self, forKey: .inner)
      var list = try outer.nestedUnkeyedContainer(forKey: .list)
      _ = try list.decode(Int.self)
      second = try list.decode(Linked<[Port]>.self)
      third = try Linked(from: try outer.superDecoder())
    }
    func encode(to encoder: any Encoder) throws {
      var outer = encoder.container(keyedBy: Key.self)
      var map = outer.nestedContainer(keyedBy: Key.self, forKey: .map)
      try map.encode(first, forKey: .inner)
      var list = outer.nestedUnkeyedContainer(forKey: .list)
      try list.encode(1)
      try list.encode(second)
      try third.encode(to: outer.superEncoder())
    }
  }

  @Test func inNestedContainers() throws {
    try check(Nested([here, gone], [], []), "map.inner.1")
    try check(Nested([here], [gone], []), "list.1.0")
    try check(Nested([here], [here], [here, gone]), "super.1")
    try check([Nested([here], [], []), Nested([], [here, here, gone], [])], "1.list.1.2")
  }

  /// What stands inline among references is read as it stands, and counted along.
  @Test func amongInlineObjects() throws {
    struct Plain: Codable, Identifiable {
      var id = 1
      var value: Content
      struct Content: Codable { var berths: [Either] }
      enum Either: Codable {
        case object(Port), named(Reference<Port>)
        func encode(to encoder: any Encoder) throws {
          var container = encoder.singleValueContainer()
          switch self {
          case .object(let port): try container.encode(["id": port.id])
          case .named(let reference): try container.encode(reference)
          }
        }
        init(from decoder: any Decoder) throws { self = .named(try Reference<Port>(from: decoder)) }
      }
    }
    struct Linking: Codable, Identifiable {
      var id = 1
      var value: Content
      struct Content: Codable { @Linked var berths: [Port] }
    }
    let source = DictionarySource()
    let graph = try GraphEncoder().encode([
      Plain(value: .init(berths: [.object(Port(id: "inline")), .named(Reference(to: here))]))
    ])
    source.add(graph)
    source.add(try GraphEncoder().encode([here]))
    let tag = try TypeDescription.identity(of: Linking.self, id: 1).tag
    for (key, record) in graph.recordsByKey where source.records[key] != nil {
      let moved = withUnsafeBytes(of: tag.bigEndian) { Array($0) } + key.dropFirst(8)
      source.records[moved] = sealed(record, key: moved)
    }
    let session = GraphDecodingSession(source: source, types: try RegisteredTypes([]))
    let found = try session.object(Linking.self, try TypeDescription.identity(of: Linking.self, id: 1))
    #expect(found?.value.berths == [Port(id: "inline"), here])
  }
}
