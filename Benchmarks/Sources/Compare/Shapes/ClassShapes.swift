import Foundation

// Class hierarchies, each class with coding keys of its own.

class Animal: Codable, Identifiable {
  var id: Int
  var name: String
  var born: Date

  init(id: Int, name: String, born: Date) { (self.id, self.name, self.born) = (id, name, born) }

  init(reading reader: inout HandReader) throws {
    (id, name) = try (reader.next(), reader.next())
    born = try reader.next()
  }

  func write(to writer: inout HandWriter) { writer.write(id, name, born) }
}

final class Dog: Animal, Shape {
  static let title = "subclass with super.encode"
  static var types: [any Codable.Type] { [Dog.self] }
  var breed: String
  var weight: Double
  var isTrained: Bool

  private enum CodingKeys: CodingKey { case breed, weight, isTrained }

  init(id: Int, maker: inout Maker) {
    (breed, weight, isTrained) = (maker.word(), maker.price(), maker.bool())
    super.init(id: id, name: maker.word(), born: maker.date())
  }

  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    breed = try container.decode(String.self, forKey: .breed)
    weight = try container.decode(Double.self, forKey: .weight)
    isTrained = try container.decode(Bool.self, forKey: .isTrained)
    try super.init(from: decoder)
  }

  override func encode(to encoder: any Encoder) throws {
    try super.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(breed, forKey: .breed)
    try container.encode(weight, forKey: .weight)
    try container.encode(isTrained, forKey: .isTrained)
  }

  override init(reading reader: inout HandReader) throws {
    (breed, weight, isTrained) = try (reader.next(), reader.next(), reader.next())
    try super.init(reading: &reader)
  }

  override func write(to writer: inout HandWriter) {
    writer.write(breed, weight, isTrained)
    super.write(to: &writer)
  }

  static func == (left: Dog, right: Dog) -> Bool {
    left.id == right.id && left.name == right.name && left.born == right.born && left.breed == right.breed
      && left.weight == right.weight && left.isTrained == right.isTrained
  }

  static func make(_ number: Int, _ maker: inout Maker) -> Dog { Dog(id: number, maker: &maker) }
}

final class Cat: Animal, Shape {
  static let title = "subclass with a superEncoder"
  static var types: [any Codable.Type] { [Cat.self] }
  var color: String
  var lives: Int

  private enum CodingKeys: CodingKey { case color, lives }

  init(id: Int, maker: inout Maker) {
    (color, lives) = (maker.word(), maker.int(1...9))
    super.init(id: id, name: maker.word(), born: maker.date())
  }

  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    color = try container.decode(String.self, forKey: .color)
    lives = try container.decode(Int.self, forKey: .lives)
    try super.init(from: container.superDecoder())
  }

  override func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(color, forKey: .color)
    try container.encode(lives, forKey: .lives)
    try super.encode(to: container.superEncoder())
  }

  override init(reading reader: inout HandReader) throws {
    (color, lives) = try (reader.next(), reader.next())
    try super.init(reading: &reader)
  }

  override func write(to writer: inout HandWriter) {
    writer.write(color, lives)
    super.write(to: &writer)
  }

  static func == (left: Cat, right: Cat) -> Bool {
    left.id == right.id && left.name == right.name && left.born == right.born && left.color == right.color
      && left.lives == right.lives
  }

  static func make(_ number: Int, _ maker: inout Maker) -> Cat { Cat(id: number, maker: &maker) }
}

// MARK: Five classes deep

class Asset: Codable, Identifiable {
  var id: Int
  var owner: String

  init(id: Int, maker: inout Maker) { (self.id, owner) = (id, maker.words(2)) }
  init(reading reader: inout HandReader) throws { (id, owner) = try (reader.next(), reader.next()) }
  func write(to writer: inout HandWriter) { writer.write(id, owner) }
}

class Vehicle: Asset {
  var wheels: Int
  var bought: Date
  private enum CodingKeys: CodingKey { case wheels, bought }

  override init(id: Int, maker: inout Maker) {
    (wheels, bought) = (maker.int(2...8), maker.date())
    super.init(id: id, maker: &maker)
  }
  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    wheels = try container.decode(Int.self, forKey: .wheels)
    bought = try container.decode(Date.self, forKey: .bought)
    try super.init(from: decoder)
  }
  override func encode(to encoder: any Encoder) throws {
    try super.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(wheels, forKey: .wheels)
    try container.encode(bought, forKey: .bought)
  }
  override init(reading reader: inout HandReader) throws {
    (wheels, bought) = try (reader.next(), reader.next())
    try super.init(reading: &reader)
  }
  override func write(to writer: inout HandWriter) {
    writer.write(wheels, bought)
    super.write(to: &writer)
  }
}

class MotorVehicle: Vehicle {
  var power: Int
  var fuel: String
  private enum CodingKeys: CodingKey { case power, fuel }

  override init(id: Int, maker: inout Maker) {
    (power, fuel) = (maker.int(20...900), maker.word())
    super.init(id: id, maker: &maker)
  }
  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    power = try container.decode(Int.self, forKey: .power)
    fuel = try container.decode(String.self, forKey: .fuel)
    try super.init(from: decoder)
  }
  override func encode(to encoder: any Encoder) throws {
    try super.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(power, forKey: .power)
    try container.encode(fuel, forKey: .fuel)
  }
  override init(reading reader: inout HandReader) throws {
    (power, fuel) = try (reader.next(), reader.next())
    try super.init(reading: &reader)
  }
  override func write(to writer: inout HandWriter) {
    writer.write(power, fuel)
    super.write(to: &writer)
  }
}

class Car: MotorVehicle {
  var doors: Int
  var plate: String
  private enum CodingKeys: CodingKey { case doors, plate }

  override init(id: Int, maker: inout Maker) {
    (doors, plate) = (maker.int(2...5), "\(maker.int(1000...9999))")
    super.init(id: id, maker: &maker)
  }
  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    doors = try container.decode(Int.self, forKey: .doors)
    plate = try container.decode(String.self, forKey: .plate)
    try super.init(from: decoder)
  }
  override func encode(to encoder: any Encoder) throws {
    try super.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(doors, forKey: .doors)
    try container.encode(plate, forKey: .plate)
  }
  override init(reading reader: inout HandReader) throws {
    (doors, plate) = try (reader.next(), reader.next())
    try super.init(reading: &reader)
  }
  override func write(to writer: inout HandWriter) {
    writer.write(doors, plate)
    super.write(to: &writer)
  }
}

final class Taxi: Car, Shape {
  static let title = "class hierarchy, five deep"
  static var types: [any Codable.Type] { [Taxi.self] }
  var license: Int
  var fare: Double
  private enum CodingKeys: CodingKey { case license, fare }

  override init(id: Int, maker: inout Maker) {
    (license, fare) = (maker.int(1...9999), maker.price())
    super.init(id: id, maker: &maker)
  }
  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    license = try container.decode(Int.self, forKey: .license)
    fare = try container.decode(Double.self, forKey: .fare)
    try super.init(from: decoder)
  }
  override func encode(to encoder: any Encoder) throws {
    try super.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(license, forKey: .license)
    try container.encode(fare, forKey: .fare)
  }
  override init(reading reader: inout HandReader) throws {
    (license, fare) = try (reader.next(), reader.next())
    try super.init(reading: &reader)
  }
  override func write(to writer: inout HandWriter) {
    writer.write(license, fare)
    super.write(to: &writer)
  }

  static func == (left: Taxi, right: Taxi) -> Bool {
    (left.id, left.owner, left.wheels, left.bought, left.power)
      == (right.id, right.owner, right.wheels, right.bought, right.power)
      && (left.fuel, left.doors, left.plate, left.license, left.fare)
        == (right.fuel, right.doors, right.plate, right.license, right.fare)
  }

  static func make(_ number: Int, _ maker: inout Maker) -> Taxi { Taxi(id: number, maker: &maker) }
}
