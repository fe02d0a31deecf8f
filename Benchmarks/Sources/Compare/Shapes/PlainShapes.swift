import Foundation

// Structs of plain fields.

struct Tally: Shape {
  static let title = "two plain fields"
  var id: Int
  var name: String

  static func make(_ number: Int, _ maker: inout Maker) -> Tally { Tally(id: number, name: maker.words(2)) }
}

extension Tally {
  func write(to writer: inout HandWriter) { writer.write(id, name) }
  init(reading reader: inout HandReader) throws { try self.init(id: reader.next(), name: reader.next()) }
}

struct Product: Shape {
  static let title = "six plain fields"
  var id: Int
  var name: String
  var price: Double
  var stock: Int
  var isListed: Bool
  var added: Date

  static func make(_ number: Int, _ maker: inout Maker) -> Product {
    Product(
      id: number, name: maker.words(3), price: maker.price(), stock: maker.int(0...500),
      isListed: maker.bool(),
      added: maker.date())
  }
}

extension Product {
  func write(to writer: inout HandWriter) { writer.write(id, name, price, stock, isListed, added) }

  init(reading reader: inout HandReader) throws {
    try self.init(
      id: reader.next(), name: reader.next(), price: reader.next(), stock: reader.next(),
      isListed: reader.next(), added: reader.next())
  }
}

struct Company: Shape {
  static let title = "structs three deep"

  struct Point: Codable, Equatable {
    var latitude: Double
    var longitude: Double
  }

  struct Place: Codable, Equatable {
    var street: String
    var city: String
    var point: Point
  }

  struct Office: Codable, Equatable {
    var name: String
    var floor: Int
    var place: Place
  }

  var id: Int
  var name: String
  var headquarters: Office
  var branch: Office

  static func make(_ number: Int, _ maker: inout Maker) -> Company {
    func office(_ maker: inout Maker) -> Office {
      let point = Point(latitude: maker.degrees(), longitude: maker.degrees())
      let place = Place(street: maker.words(2), city: maker.word(), point: point)
      return Office(name: maker.word(), floor: maker.int(0...40), place: place)
    }
    return Company(
      id: number, name: maker.words(2), headquarters: office(&maker), branch: office(&maker))
  }
}

extension Company {
  func write(to writer: inout HandWriter) { writer.write(id, name, headquarters, branch) }

  init(reading reader: inout HandReader) throws {
    try self.init(id: reader.next(), name: reader.next(), headquarters: reader.next(), branch: reader.next())
  }
}

extension Company.Office: HandCoded {
  func write(to writer: inout HandWriter) { writer.write(name, floor, place) }
  init(reading reader: inout HandReader) throws {
    try self.init(name: reader.next(), floor: reader.next(), place: reader.next())
  }
}

extension Company.Place: HandCoded {
  func write(to writer: inout HandWriter) { writer.write(street, city, point) }
  init(reading reader: inout HandReader) throws {
    try self.init(street: reader.next(), city: reader.next(), point: reader.next())
  }
}

extension Company.Point: HandCoded {
  func write(to writer: inout HandWriter) { writer.write(latitude, longitude) }
  init(reading reader: inout HandReader) throws {
    try self.init(latitude: reader.next(), longitude: reader.next())
  }
}

struct Profile: Shape {
  static let title = "optionals half nil, raw enums"

  enum Role: String, Codable, HandCase {
    case guest, member, editor, owner
    static let caseCount: UInt8 = 4
  }

  enum Level: Int, Codable, HandCase {
    case low, middle, high
    static let caseCount: UInt8 = 3
  }

  var id: Int
  var nickname: String?
  var age: Int?
  var height: Double?
  var birthdate: Date?
  var isVisible: Bool?
  var role: Role
  var formerRole: Role?
  var level: Level

  static func make(_ number: Int, _ maker: inout Maker) -> Profile {
    Profile(
      id: number, nickname: maker.maybe { $0.word() }, age: maker.maybe { $0.int(1...99) },
      height: maker.maybe { $0.price() }, birthdate: maker.maybe { $0.date() },
      isVisible: maker.maybe { $0.bool() }, role: maker.pick(), formerRole: maker.maybe { $0.pick() },
      level: maker.pick())
  }
}

extension Profile {
  func write(to writer: inout HandWriter) {
    writer.write(id, nickname, age, height)
    writer.write(birthdate, isVisible, role, formerRole, level)
  }

  init(reading reader: inout HandReader) throws {
    try self.init(
      id: reader.next(), nickname: reader.next(), age: reader.next(), height: reader.next(),
      birthdate: reader.next(), isVisible: reader.next(), role: reader.next(), formerRole: reader.next(),
      level: reader.next())
  }
}

struct Shipment: Shape {
  static let title = "optionals of structs"

  struct Address: Codable, Equatable {
    var street: String
    var city: String
    var zip: Int
  }

  var id: Int
  var sender: Address?
  var recipient: Address?
  var returnTo: Address?
  var insured: Address?

  static func make(_ number: Int, _ maker: inout Maker) -> Shipment {
    func address(_ maker: inout Maker) -> Address? {
      maker.maybe { Address(street: $0.words(2), city: $0.word(), zip: $0.int(10_000...99_999)) }
    }
    return Shipment(
      id: number, sender: address(&maker), recipient: address(&maker), returnTo: address(&maker),
      insured: address(&maker))
  }
}

extension Shipment {
  func write(to writer: inout HandWriter) { writer.write(id, sender, recipient, returnTo, insured) }

  init(reading reader: inout HandReader) throws {
    try self.init(
      id: reader.next(), sender: reader.next(), recipient: reader.next(), returnTo: reader.next(),
      insured: reader.next())
  }
}

extension Shipment.Address: HandCoded {
  func write(to writer: inout HandWriter) { writer.write(street, city, zip) }
  init(reading reader: inout HandReader) throws {
    try self.init(street: reader.next(), city: reader.next(), zip: reader.next())
  }
}

struct Switches: Shape {
  static let title = "twelve booleans"
  var id: Int
  var wifi, cellular, bluetooth, hotspot, location, camera: Bool
  var microphone, contacts, calendar, photos, sounds, badges: Bool

  static func make(_ number: Int, _ maker: inout Maker) -> Switches {
    Switches(
      id: number, wifi: maker.bool(), cellular: maker.bool(), bluetooth: maker.bool(), hotspot: maker.bool(),
      location: maker.bool(), camera: maker.bool(), microphone: maker.bool(), contacts: maker.bool(),
      calendar: maker.bool(), photos: maker.bool(), sounds: maker.bool(), badges: maker.bool())
  }
}

extension Switches {
  func write(to writer: inout HandWriter) {
    writer.write(id)
    writer.write(wifi, cellular, bluetooth, hotspot, location, camera)
    writer.write(microphone, contacts, calendar, photos, sounds, badges)
  }

  init(reading reader: inout HandReader) throws {
    id = try reader.next()
    (wifi, cellular, bluetooth) = try (reader.next(), reader.next(), reader.next())
    (hotspot, location, camera) = try (reader.next(), reader.next(), reader.next())
    (microphone, contacts, calendar) = try (reader.next(), reader.next(), reader.next())
    (photos, sounds, badges) = try (reader.next(), reader.next(), reader.next())
  }
}

struct Register: Shape {
  static let title = "numbers of every width"
  var id: Int
  var i8: Int8
  var u8: UInt8
  var i16: Int16
  var u16: UInt16
  var i32: Int32
  var u32: UInt32
  var i64: Int64
  var u64: UInt64
  var i: Int
  var u: UInt
  var f: Float
  var d: Double

  static func make(_ number: Int, _ maker: inout Maker) -> Register {
    Register(
      id: number, i8: maker.bits(), u8: maker.bits(), i16: maker.bits(), u16: maker.bits(), i32: maker.bits(),
      u32: maker.bits(), i64: maker.bits(), u64: maker.bits(), i: maker.bits(), u: maker.bits(),
      f: Float(maker.int(0...9999)) / 8, d: maker.price())
  }
}

extension Register {
  func write(to writer: inout HandWriter) {
    writer.write(id)
    writer.write(i8, u8, i16, u16, i32, u32)
    writer.write(i64, u64, i, u, f, d)
  }

  init(reading reader: inout HandReader) throws {
    try self.init(
      id: reader.next(), i8: reader.next(), u8: reader.next(), i16: reader.next(), u16: reader.next(),
      i32: reader.next(), u32: reader.next(), i64: reader.next(), u64: reader.next(), i: reader.next(),
      u: reader.next(), f: reader.next(), d: reader.next())
  }
}

struct Account: Shape {
  static let title = "snake-case coding keys"
  var id: Int
  var firstName: String
  var lastName: String
  var emailAddress: String
  var loginCount: Int
  var lastLogin: Date
  var isEmailConfirmed: Bool

  enum CodingKeys: String, CodingKey {
    case id
    case firstName = "first_name"
    case lastName = "last_name"
    case emailAddress = "email_address"
    case loginCount = "login_count"
    case lastLogin = "last_login"
    case isEmailConfirmed = "is_email_confirmed"
  }

  static func make(_ number: Int, _ maker: inout Maker) -> Account {
    Account(
      id: number, firstName: maker.word(), lastName: maker.word(),
      emailAddress: "\(maker.word())@example.org",
      loginCount: maker.int(0...5000), lastLogin: maker.date(), isEmailConfirmed: maker.bool())
  }
}

extension Account {
  func write(to writer: inout HandWriter) {
    writer.write(id, firstName, lastName)
    writer.write(emailAddress, loginCount, lastLogin, isEmailConfirmed)
  }

  init(reading reader: inout HandReader) throws {
    try self.init(
      id: reader.next(), firstName: reader.next(), lastName: reader.next(), emailAddress: reader.next(),
      loginCount: reader.next(), lastLogin: reader.next(), isEmailConfirmed: reader.next())
  }
}
