import Foundation

// Types that say by themselves how they are coded: wrappers, defaults, unkeyed and nested containers.

struct Recipe: Shape {
  static let title = "single-value wrappers"

  /// Codes as its one value, by hand.
  struct Grams: Codable, Equatable {
    var value: Double
    init(_ value: Double) { self.value = value }
    init(from decoder: any Decoder) throws { value = try decoder.singleValueContainer().decode(Double.self) }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(value)
    }
  }

  struct Tag: Codable, Equatable {
    var name: String
    init(_ name: String) { self.name = name }
    init(from decoder: any Decoder) throws { name = try decoder.singleValueContainer().decode(String.self) }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(name)
    }
  }

  var id: Int
  var title: Tag
  var flour: Grams
  var sugar: Grams
  var butter: Grams?
  var tags: [Tag]

  static func make(_ number: Int, _ maker: inout Maker) -> Recipe {
    Recipe(
      id: number, title: Tag(maker.words(3)), flour: Grams(maker.price()), sugar: Grams(maker.price()),
      butter: maker.maybe { Grams($0.price()) }, tags: maker.array(4) { Tag($0.word()) })
  }
}

extension Recipe {
  func write(to writer: inout HandWriter) { writer.write(id, title, flour, sugar, butter, tags) }
  init(reading reader: inout HandReader) throws {
    try self.init(
      id: reader.next(), title: reader.next(), flour: reader.next(), sugar: reader.next(),
      butter: reader.next(), tags: reader.next())
  }
}

extension Recipe.Grams: HandCoded {
  func write(to writer: inout HandWriter) { writer.write(value) }
  init(reading reader: inout HandReader) throws { try self.init(reader.next()) }
}

extension Recipe.Tag: HandCoded {
  func write(to writer: inout HandWriter) { writer.write(name) }
  init(reading reader: inout HandReader) throws { try self.init(reader.next()) }
}

@propertyWrapper
struct Clamped: Codable, Equatable {
  private var value: Int
  var wrappedValue: Int {
    get { value }
    set { value = min(max(newValue, 0), 100) }
  }
  init(wrappedValue: Int) { value = min(max(wrappedValue, 0), 100) }
  init(from decoder: any Decoder) throws { try self.init(wrappedValue: Int(from: decoder)) }
  func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}

@propertyWrapper
struct Trimmed: Codable, Equatable {
  private var value: String
  var wrappedValue: String {
    get { value }
    set { value = newValue.trimmingCharacters(in: .whitespaces) }
  }
  init(wrappedValue: String) { value = wrappedValue.trimmingCharacters(in: .whitespaces) }

  init(from decoder: any Decoder) throws { value = try decoder.singleValueContainer().decode(String.self) }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(value)
  }

  /// For text that was trimmed before.
  init(trimmed: String) { value = trimmed }
}

struct Mixer: Shape {
  static let title = "property wrappers"
  var id: Int
  @Trimmed var name: String
  @Trimmed var artist: String
  @Clamped var volume: Int
  @Clamped var bass: Int
  @Clamped var treble: Int

  static func make(_ number: Int, _ maker: inout Maker) -> Mixer {
    Mixer(
      id: number, name: maker.words(2), artist: maker.words(2), volume: maker.int(0...100),
      bass: maker.int(0...100), treble: maker.int(0...100))
  }
}

extension Mixer {
  func write(to writer: inout HandWriter) { writer.write(id, name, artist, volume, bass, treble) }

  init(reading reader: inout HandReader) throws {
    id = try reader.next()
    _name = try Trimmed(trimmed: reader.next())
    _artist = try Trimmed(trimmed: reader.next())
    (volume, bass, treble) = try (reader.next(), reader.next(), reader.next())
  }
}

struct Preferences: Shape {
  static let title = "by hand, decodeIfPresent with defaults"
  var id: Int
  var theme = "light"
  var fontSize = 12
  var scale = 1.0
  var isSynced = true
  var favourites: [String] = []
  var lastOpened: Date?

  private enum CodingKeys: String, CodingKey {
    case id, theme, fontSize, scale, isSynced, favourites, lastOpened
  }

  init(id: Int) { self.id = id }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    id = try container.decode(Int.self, forKey: .id)
    theme = try container.decodeIfPresent(String.self, forKey: .theme) ?? "light"
    fontSize = try container.decodeIfPresent(Int.self, forKey: .fontSize) ?? 12
    scale = try container.decodeIfPresent(Double.self, forKey: .scale) ?? 1
    isSynced = try container.decodeIfPresent(Bool.self, forKey: .isSynced) ?? true
    favourites = try container.decodeIfPresent([String].self, forKey: .favourites) ?? []
    lastOpened = try container.decodeIfPresent(Date.self, forKey: .lastOpened)
  }

  /// Only what differs from the defaults.
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    if theme != "light" { try container.encode(theme, forKey: .theme) }
    if fontSize != 12 { try container.encode(fontSize, forKey: .fontSize) }
    if scale != 1 { try container.encode(scale, forKey: .scale) }
    if !isSynced { try container.encode(isSynced, forKey: .isSynced) }
    if !favourites.isEmpty { try container.encode(favourites, forKey: .favourites) }
    try container.encodeIfPresent(lastOpened, forKey: .lastOpened)
  }

  static func make(_ number: Int, _ maker: inout Maker) -> Preferences {
    var preferences = Preferences(id: number)
    if maker.bool() { preferences.theme = maker.word() }
    if maker.bool() { preferences.fontSize = maker.int(8...40) }
    if maker.bool() { preferences.scale = maker.price() }
    if maker.bool() { preferences.isSynced = false }
    if maker.bool() { preferences.favourites = maker.array(3) { $0.word() } }
    preferences.lastOpened = maker.maybe { $0.date() }
    return preferences
  }
}

extension Preferences {
  func write(to writer: inout HandWriter) {
    writer.write(id, theme, fontSize, scale)
    writer.write(isSynced, favourites, lastOpened)
  }

  init(reading reader: inout HandReader) throws {
    id = try reader.next()
    (theme, fontSize, scale) = try (reader.next(), reader.next(), reader.next())
    (isSynced, favourites, lastOpened) = try (reader.next(), reader.next(), reader.next())
  }
}

struct Polygon: Shape {
  static let title = "ten points from unkeyed containers"

  /// `[x, y]`, as GeoJSON has it.
  struct Point: Codable, Equatable {
    var x: Double
    var y: Double

    init(x: Double, y: Double) { (self.x, self.y) = (x, y) }
    init(from decoder: any Decoder) throws {
      var container = try decoder.unkeyedContainer()
      x = try container.decode(Double.self)
      y = try container.decode(Double.self)
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.unkeyedContainer()
      try container.encode(x)
      try container.encode(y)
    }
  }

  var id: Int
  var points: [Point]

  static func make(_ number: Int, _ maker: inout Maker) -> Polygon {
    Polygon(id: number, points: maker.array(10) { Point(x: $0.degrees(), y: $0.degrees()) })
  }
}

extension Polygon {
  func write(to writer: inout HandWriter) { writer.write(id, points) }
  init(reading reader: inout HandReader) throws { try self.init(id: reader.next(), points: reader.next()) }
}

extension Polygon.Point: HandCoded {
  func write(to writer: inout HandWriter) { writer.write(x, y) }
  init(reading reader: inout HandReader) throws { try self.init(x: reader.next(), y: reader.next()) }
}

struct Reading: Shape {
  static let title = "tuples in unkeyed containers"
  var id: Int
  var span: (from: Date, count: Int)
  var samples: [(name: String, value: Double)]

  private enum CodingKeys: CodingKey { case id, span, samples }

  init(id: Int, span: (from: Date, count: Int), samples: [(name: String, value: Double)]) {
    (self.id, self.span, self.samples) = (id, span, samples)
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    id = try container.decode(Int.self, forKey: .id)
    var list = try container.nestedUnkeyedContainer(forKey: .span)
    span = (try list.decode(Date.self), try list.decode(Int.self))
    var all = try container.nestedUnkeyedContainer(forKey: .samples)
    samples = []
    while !all.isAtEnd {
      var pair = try all.nestedUnkeyedContainer()
      samples.append((try pair.decode(String.self), try pair.decode(Double.self)))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    var list = container.nestedUnkeyedContainer(forKey: .span)
    try list.encode(span.from)
    try list.encode(span.count)
    var all = container.nestedUnkeyedContainer(forKey: .samples)
    for sample in samples {
      var pair = all.nestedUnkeyedContainer()
      try pair.encode(sample.name)
      try pair.encode(sample.value)
    }
  }

  static func == (left: Reading, right: Reading) -> Bool {
    left.id == right.id && left.span == right.span && left.samples.elementsEqual(right.samples, by: ==)
  }

  static func make(_ number: Int, _ maker: inout Maker) -> Reading {
    Reading(
      id: number, span: (maker.date(), maker.int(1...99)), samples: maker.array(4) { ($0.word(), $0.price()) }
    )
  }
}

extension Reading {
  func write(to writer: inout HandWriter) {
    writer.write(id, span.from, span.count)
    writer.write(count: samples.count)
    for sample in samples { writer.write(sample.name, sample.value) }
  }

  init(reading reader: inout HandReader) throws {
    id = try reader.next()
    span = try (reader.next(), reader.next())
    let count = try reader.count()
    samples = []
    samples.reserveCapacity(count)
    for _ in 0..<count { samples.append(try (reader.next(), reader.next())) }
  }
}

struct Weather: Shape {
  static let title = "nested keyed containers by hand"
  var id: Int
  var city: String
  var latitude: Double
  var longitude: Double
  var temperature: Double
  var humidity: Int

  private enum CodingKeys: CodingKey { case id, place, now }
  private enum PlaceKeys: CodingKey { case city, coordinates }
  private enum CoordinateKeys: CodingKey { case latitude, longitude }
  private enum NowKeys: CodingKey { case temperature, humidity }

  init(id: Int, city: String, latitude: Double, longitude: Double, temperature: Double, humidity: Int) {
    (self.id, self.city, self.latitude, self.longitude) = (id, city, latitude, longitude)
    (self.temperature, self.humidity) = (temperature, humidity)
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    id = try container.decode(Int.self, forKey: .id)
    let place = try container.nestedContainer(keyedBy: PlaceKeys.self, forKey: .place)
    city = try place.decode(String.self, forKey: .city)
    let coordinates = try place.nestedContainer(keyedBy: CoordinateKeys.self, forKey: .coordinates)
    latitude = try coordinates.decode(Double.self, forKey: .latitude)
    longitude = try coordinates.decode(Double.self, forKey: .longitude)
    let now = try container.nestedContainer(keyedBy: NowKeys.self, forKey: .now)
    temperature = try now.decode(Double.self, forKey: .temperature)
    humidity = try now.decode(Int.self, forKey: .humidity)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    var place = container.nestedContainer(keyedBy: PlaceKeys.self, forKey: .place)
    try place.encode(city, forKey: .city)
    var coordinates = place.nestedContainer(keyedBy: CoordinateKeys.self, forKey: .coordinates)
    try coordinates.encode(latitude, forKey: .latitude)
    try coordinates.encode(longitude, forKey: .longitude)
    var now = container.nestedContainer(keyedBy: NowKeys.self, forKey: .now)
    try now.encode(temperature, forKey: .temperature)
    try now.encode(humidity, forKey: .humidity)
  }

  static func make(_ number: Int, _ maker: inout Maker) -> Weather {
    Weather(
      id: number, city: maker.words(2), latitude: maker.degrees(), longitude: maker.degrees(),
      temperature: maker.price(), humidity: maker.int(0...100))
  }
}

extension Weather {
  func write(to writer: inout HandWriter) {
    writer.write(id, city, latitude, longitude, temperature, humidity)
  }

  init(reading reader: inout HandReader) throws {
    try self.init(
      id: reader.next(), city: reader.next(), latitude: reader.next(), longitude: reader.next(),
      temperature: reader.next(), humidity: reader.next())
  }
}
