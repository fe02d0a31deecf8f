import Foundation

// Types that hold values of their own type.

struct Formula: Shape {
  static let title = "indirect enum, ten levels"
  static let count = 200

  indirect enum Expression: Codable, Equatable {
    case number(Double)
    case variable(String)
    case negated(Expression)
    case sum(Expression, Expression)
    case product(left: Expression, right: Expression)
  }

  var id: Int
  var name: String
  var expression: Expression

  static func make(_ number: Int, _ maker: inout Maker) -> Formula {
    func leaf(_ maker: inout Maker) -> Expression {
      maker.bool() ? .number(maker.price()) : .variable(maker.word())
    }
    /// One branch goes all the way down.
    func expression(_ levels: Int, _ maker: inout Maker) -> Expression {
      if levels == 1 { return leaf(&maker) }
      let deep = expression(levels - 1, &maker)
      switch maker.int(0...4) {
      case 0: return .negated(deep)
      case 1, 2: return .sum(deep, leaf(&maker))
      default: return .product(left: leaf(&maker), right: deep)
      }
    }
    return Formula(id: number, name: maker.word(), expression: expression(10, &maker))
  }
}

extension Formula {
  func write(to writer: inout HandWriter) { writer.write(id, name, expression) }
  init(reading reader: inout HandReader) throws {
    try self.init(id: reader.next(), name: reader.next(), expression: reader.next())
  }
}

extension Formula.Expression: HandCoded {
  func write(to writer: inout HandWriter) {
    switch self {
    case .number(let number): writer.write(0 as UInt8, number)
    case .variable(let name): writer.write(1 as UInt8, name)
    case .negated(let inner): writer.write(2 as UInt8, inner)
    case .sum(let left, let right): writer.write(3 as UInt8, left, right)
    case .product(let left, let right): writer.write(4 as UInt8, left, right)
    }
  }

  init(reading reader: inout HandReader) throws {
    self = try reader.nested { reader in
      switch try reader.tag(below: 5) {
      case 0: .number(try reader.next())
      case 1: .variable(try reader.next())
      case 2: .negated(try reader.next())
      case 3: try .sum(reader.next(), reader.next())
      default: try .product(left: reader.next(), right: reader.next())
      }
    }
  }
}

struct Folders: Shape {
  static let title = "tree of struct arrays, ten levels"
  static let count = 100

  struct Folder: Codable, Equatable {
    var name: String
    var files: [String]
    var folders: [Folder]
  }

  var id: Int
  var root: Folder

  static func make(_ number: Int, _ maker: inout Maker) -> Folders {
    /// One branch goes all the way down.
    func folder(_ levels: Int, _ maker: inout Maker) -> Folder {
      var folders = levels == 1 ? [] : [folder(levels - 1, &maker)]
      if levels > 1, maker.bool() { folders.append(Folder(name: maker.word(), files: [], folders: [])) }
      return Folder(name: maker.word(), files: maker.array(maker.int(0...3)) { $0.word() }, folders: folders)
    }
    return Folders(id: number, root: folder(10, &maker))
  }
}

extension Folders {
  func write(to writer: inout HandWriter) { writer.write(id, root) }
  init(reading reader: inout HandReader) throws { try self.init(id: reader.next(), root: reader.next()) }
}

extension Folders.Folder: HandCoded {
  func write(to writer: inout HandWriter) { writer.write(name, files, folders) }
  init(reading reader: inout HandReader) throws {
    self = try reader.nested { reader in
      try Self(name: reader.next(), files: reader.next(), folders: reader.next())
    }
  }
}

/// Any JSON value, as programs keep what they do not know.
enum AnyValue: Codable, Equatable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([AnyValue])
  case object([String: AnyValue])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let bool = try? container.decode(Bool.self) {
      self = .bool(bool)
    } else if let number = try? container.decode(Double.self) {
      self = .number(number)
    } else if let string = try? container.decode(String.self) {
      self = .string(string)
    } else if let array = try? container.decode([AnyValue].self) {
      self = .array(array)
    } else {
      self = .object(try container.decode([String: AnyValue].self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let bool): try container.encode(bool)
    case .number(let number): try container.encode(number)
    case .string(let string): try container.encode(string)
    case .array(let array): try container.encode(array)
    case .object(let object): try container.encode(object)
    }
  }
}

extension AnyValue: HandCoded {
  func write(to writer: inout HandWriter) {
    switch self {
    case .null: writer.write(0 as UInt8)
    case .bool(let bool): writer.write(1 as UInt8, bool)
    case .number(let number): writer.write(2 as UInt8, number)
    case .string(let string): writer.write(3 as UInt8, string)
    case .array(let array): writer.write(4 as UInt8, array)
    case .object(let object): writer.write(5 as UInt8, object)
    }
  }

  init(reading reader: inout HandReader) throws {
    self = try reader.nested { reader in
      switch try reader.tag(below: 6) {
      case 0: .null
      case 1: .bool(try reader.next())
      case 2: .number(try reader.next())
      case 3: .string(try reader.next())
      case 4: .array(try reader.next())
      default: .object(try reader.next())
      }
    }
  }
}

struct Payload: Shape {
  static let title = "any JSON value"
  static let count = 300
  var id: Int
  var value: AnyValue

  static func make(_ number: Int, _ maker: inout Maker) -> Payload {
    func value(_ levels: Int, _ maker: inout Maker) -> AnyValue {
      switch maker.int(levels == 0 ? 2...5 : 0...5) {
      case 0: .object(maker.dictionary(4) { value(levels - 1, &$0) })
      case 1: .array(maker.array(3) { value(levels - 1, &$0) })
      case 2: .bool(maker.bool())
      case 3: .number(maker.price())
      case 4: .string(maker.words(2))
      default: .null
      }
    }
    return Payload(id: number, value: .object(maker.dictionary(4) { value(2, &$0) }))
  }
}

extension Payload {
  func write(to writer: inout HandWriter) { writer.write(id, value) }
  init(reading reader: inout HandReader) throws { try self.init(id: reader.next(), value: reader.next()) }
}

struct Feature: Shape {
  static let title = "geometries by type and coordinates"

  /// As GeoJSON has them: `{"type": "Point", "coordinates": [x, y]}`.
  indirect enum Geometry: Codable, Equatable {
    case point([Double])
    case line([[Double]])
    case polygon([[[Double]]])
    case collection([Geometry])

    private enum CodingKeys: CodingKey { case type, coordinates, geometries }
    private enum Kind: String, Codable { case point, line, polygon, collection }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      switch try container.decode(Kind.self, forKey: .type) {
      case .point: self = .point(try container.decode([Double].self, forKey: .coordinates))
      case .line: self = .line(try container.decode([[Double]].self, forKey: .coordinates))
      case .polygon: self = .polygon(try container.decode([[[Double]]].self, forKey: .coordinates))
      case .collection: self = .collection(try container.decode([Geometry].self, forKey: .geometries))
      }
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      switch self {
      case .point(let point):
        try container.encode(Kind.point, forKey: .type)
        try container.encode(point, forKey: .coordinates)
      case .line(let line):
        try container.encode(Kind.line, forKey: .type)
        try container.encode(line, forKey: .coordinates)
      case .polygon(let polygon):
        try container.encode(Kind.polygon, forKey: .type)
        try container.encode(polygon, forKey: .coordinates)
      case .collection(let geometries):
        try container.encode(Kind.collection, forKey: .type)
        try container.encode(geometries, forKey: .geometries)
      }
    }
  }

  var id: Int
  var properties: [String: String]
  var geometry: Geometry

  static func make(_ number: Int, _ maker: inout Maker) -> Feature {
    func point(_ maker: inout Maker) -> [Double] { [maker.degrees(), maker.degrees()] }
    func geometry(_ kinds: ClosedRange<Int>, _ maker: inout Maker) -> Geometry {
      switch maker.int(kinds) {
      case 0: .point(point(&maker))
      case 1: .line(maker.array(5) { point(&$0) })
      case 2: .polygon([maker.array(6) { point(&$0) }])
      default: .collection(maker.array(2) { geometry(0...2, &$0) })
      }
    }
    return Feature(
      id: number, properties: maker.dictionary(2) { $0.word() }, geometry: geometry(0...3, &maker))
  }
}

extension Feature {
  func write(to writer: inout HandWriter) { writer.write(id, properties, geometry) }
  init(reading reader: inout HandReader) throws {
    try self.init(id: reader.next(), properties: reader.next(), geometry: reader.next())
  }
}

extension Feature.Geometry: HandCoded {
  func write(to writer: inout HandWriter) {
    switch self {
    case .point(let point): writer.write(0 as UInt8, point)
    case .line(let line): writer.write(1 as UInt8, line)
    case .polygon(let polygon): writer.write(2 as UInt8, polygon)
    case .collection(let geometries): writer.write(3 as UInt8, geometries)
    }
  }

  init(reading reader: inout HandReader) throws {
    self = try reader.nested { reader in
      switch try reader.tag(below: 4) {
      case 0: .point(try reader.next())
      case 1: .line(try reader.next())
      case 2: .polygon(try reader.next())
      default: .collection(try reader.next())
      }
    }
  }
}
