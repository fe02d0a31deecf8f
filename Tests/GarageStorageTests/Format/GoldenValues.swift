import Foundation
import GarageStorage

// The table of golden values. A row more needs one line here, and its file recorded (see GoldenTests).

private func text(_ count: Int) -> String { String(repeating: "x", count: count) }
private func number(_ text: String) -> Decimal {
  Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")) ?? 0
}
private let uuid = UUID(
  uuid: (0xE6, 0x21, 0xE1, 0xF8, 0xC3, 0x6C, 0x49, 0x5A, 0x93, 0xFC, 0x0C, 0x24, 0x7A, 0x3E, 0x6E, 0x5F))
private let date = Date(timeIntervalSinceReferenceDate: 123_456_789.25)

/// Every first byte of a value.
@GoldenRows var goldenBodies: [GoldenValue] {
  golden("absent between others", GoldenOptionals(first: nil, second: 2, third: nil))
  golden("null", json: "null", Int?.none)
  golden("nulls in an array", json: "[1,null,2]", [1, nil, 2] as [Int?])
  golden("false", false)
  golden("true", true)
  golden("integer 0", 0)
  golden("integer 63", 63)
  golden("integer of 1 byte", [Int?](arrayLiteral: 64, 127, -1, -128))
  golden("integer of 2 bytes", [Int?](arrayLiteral: 128, 32767, -129, -32768))
  golden("integer of 4 bytes", [Int?](arrayLiteral: 32768, 2_147_483_647, -32769, -2_147_483_648))
  golden("integer of 8 bytes", [Int?](arrayLiteral: 2_147_483_648, .max, .min))
  golden("integer of 16 bytes", json: "-170141183460469231731687303715884105728", Int128.min)
  golden("unsigned integer of 8 bytes", UInt64.max)
  golden("unsigned integer of 16 bytes", json: "340282366920938463463374607431768211455", UInt128.max)
  golden("float", Float(-1.5))
  golden("double", 1.0e300)
  golden(
    "doubles that are no numbers", json: "[\"NaN\",\"Infinity\",\"-Infinity\",null]",
    by: { "\($0)" == "\($1)" }, { [Double.nan, .infinity, -.infinity, nil] as [Double?] })
  golden("negative zero", by: { $0.bitPattern == $1.bitPattern }, { -0.0 })
  golden("date", date)
  golden("UUID", uuid)
  golden("decimal", number("-12345.678"))
  golden("data of 3 bytes", Data([0, 127, 255]))
  golden("data of 256 bytes", Data((0..<256).map { UInt8($0) }))
  golden("string empty", "")
  golden("string of 63 bytes", text(63))
  golden("string of 64 bytes", text(64))
  golden("string of 256 bytes", text(256))
  golden(
    "string with NUL and emoji", by: { Array($0.unicodeScalars) == Array($1.unicodeScalars) },
    { "a\u{0}e\u{301}👩‍🚀" })
  golden("URL", URL(string: "https://example.com/a?b=c")!)
  golden("raw value", GoldenColor.green)
}

/// Maps, arrays and packed arrays.
@GoldenRows var goldenContainers: [GoldenValue] {
  golden("map with a shape", GoldenPoint())
  golden("map longer than 255 bytes", ["long": text(300), "short": "s"])
  golden("map with entries", ["b": 1, "a": 2, "": 3, "ä": 4])
  golden("map without entries", [String: Int]())
  golden("map with keys that are no enum", GoldenFreeKeys(["one": 1, "two": 2]))
  golden("map with keys out of order", GoldenDisorder())
  golden("maps of one shape", [GoldenPoint(x: 3, y: 4), GoldenPoint(x: 5, y: 6)])
  golden("dictionary with integer keys", [-1: "a", 10: "b", 9: "c"])
  golden(
    "dictionary with other keys",
    json: "[{\"x\":1,\"y\":2},\"a\",{\"x\":3,\"y\":0},\"b\"]",
    [GoldenPoint(x: 3, y: 0): "b", GoldenPoint(): "a"])
  golden(
    "enum with payloads", [GoldenShape.nothing, .circle(radius: 2), .polygon([GoldenPoint()], closed: true)])
  golden("array empty", [Int]())
  golden("array of arrays", [[1.5, 2], [], [3]])
  golden("array longer than 255 bytes", [text(300), nil])
  golden("set", json: "[\"a\",\"b\",\"c\"]", Set(["c", "a", "b"]))
  golden("packed strings", ["a", "", "é", text(128)])
  golden("packed dates", [date, date.addingTimeInterval(1)])
  golden("packed integers of 1 byte", [1, -1, 127, -128])
  golden("packed integers of 2 bytes", [1, -1, 32767])
  golden("packed integers of 4 bytes", [1, -1, 2_147_483_647])
  golden("packed integers of 8 bytes", [1, -1, Int.max])
  golden("packed unsigned integers", [0, UInt64.max])
  golden("packed floats", [Float(1.5), -0.25])
  golden("packed doubles", [1.5, -1.0e300])
  golden("packed booleans", [true, false, true])
  golden("packed bytes", [UInt8](arrayLiteral: 0, 200, 255))
  golden("packed longer than 255 bytes", (0..<300).map { $0 })
  golden("nested deep", [[[[[["deep"]]]]]])
}

@GoldenRows var goldenIdentifiers: [GoldenValue] {
  goldenIdentifier("nil", json: "null", Int?.none)
  goldenIdentifier("zero", 0)
  goldenIdentifier("integer positive", 65_536)
  goldenIdentifier("integer negative", -256)
  goldenIdentifier("integer of 16 bytes", json: "170141183460469231731687303715884105727", Int128.max)
  goldenIdentifier("date after 2001", date)
  goldenIdentifier("date before 2001", Date(timeIntervalSinceReferenceDate: -1.5))
  goldenIdentifier("UUID", uuid)
  goldenIdentifier("string", "Sam")
  goldenIdentifier("string empty", "")
  goldenIdentifier("string composed", "Cafe\u{301}")
  goldenIdentifier("string of 238 bytes", text(238))
  goldenIdentifier("string of 239 bytes", text(239))
  goldenIdentifier("string of 1000 bytes", text(1000))
  goldenIdentifier("raw value", GoldenColor.red)
  goldenIdentifier(
    "canonical", json: "{\"name\":\"n\",\"number\":1.5,\"parts\":[1,2,3]}",
    GoldenKey(name: "n", number: 1.5, missing: nil, parts: [3, 1, 2]))
  goldenContent(
    "digest", tag: "golden content",
    GoldenContent(b: "b", a: [1, 2.5], missing: nil, table: ["k": 1], set: ["one"]))
  goldenContent("digest of an enum", tag: "golden color", GoldenColor.red)
}

private func reference(_ type: String, _ id: String) -> String {
  "{\"$reference\":{\"type\":\"\(type)\",\"id\":\(id)}}"
}

private func references(_ count: Int, _ target: (Int) -> (type: String, id: String)) -> String {
  let all = (0..<count).map { number in
    let (type, id) = target(number)
    return reference(type, id)
  }
  return "[" + all.joined(separator: ",") + "]"
}

func goldenPerson() -> GoldenPerson {
  let person = GoldenPerson("a")
  person.partner = GoldenPerson("b")
  person.friend = person
  person.children = [GoldenPerson("c"), GoldenPerson("d")]
  person.home = GoldenAddress(street: "Main", zip: 1)
  person.boss = Reference(GoldenPerson.self, identifier: "z")
  person.pets = [GoldenDog(id: 7, name: "Rex", tricks: [])]
  return person
}

private func goldenPersonJSON() -> String {
  func person(_ id: String) -> String { reference("golden person", "\"\(id)\"") }
  return "{\"id\":\"a\",\"partner\":" + person("b") + ",\"friend\":" + person("a")
    + ",\"children\":[" + person("c") + "," + person("d")
    + "],\"home\":" + reference("golden address", "\"DIGEST\"") + ",\"boss\":" + person("z")
    + ",\"pets\":[" + reference("golden animal", "7") + "]}"
}

@Sendable func isSamePerson(_ a: GoldenPerson, _ b: GoldenPerson) -> Bool {
  a.id == b.id && a.friend?.id == b.friend?.id && a.children.map(\.id) == b.children.map(\.id)
    && a.home == b.home && a.boss == b.boss && a.pets.map(\.id) == b.pets.map(\.id)
}

/// References of every kind, and classes.
@GoldenRows var goldenGraphs: [GoldenValue] {
  goldenObject("class at the top", tag: "golden animal", by: { $0.name == $1.name }) {
    GoldenAnimal(id: 1, name: "Tom")
  }
  goldenObject(
    "subclass", types: [GoldenDog.self], tag: "golden dog",
    json: "{\"id\":1,\"name\":\"Rex\",\"tricks\":[\"roll\",\"sit\"]}", by: { $0.tricks == $1.tricks }
  ) {
    GoldenDog(id: 1, name: "Rex", tricks: ["roll", "sit"])
  }
  goldenObject(
    "subclass with a super encoder", types: [GoldenCat.self], tag: "golden cat",
    json: "{\"lives\":9,\"super\":{\"id\":1,\"name\":\"Tom\"}}",
    by: { $0.lives == $1.lives && $0.name == $1.name }
  ) {
    GoldenCat(id: 1, name: "Tom", lives: 9)
  }
  goldenObject(
    "references of every kind", types: [GoldenDog.self], tag: "golden person", json: goldenPersonJSON(),
    by: isSamePerson
  ) { goldenPerson() }
  golden(
    "references from 32 on",
    json: references(40) { ("golden target", "\($0)") },
    (0..<40).map { GoldenTarget(id: $0) })
  golden(
    "references from 256 on",
    json: references(260) { ("golden target", "\($0)") },
    (0..<260).map { GoldenTarget(id: $0) })
  golden(
    "reference with a long identifier", json: "[\(reference("golden identity", "\"\(text(1000))\""))]",
    by: { $0.map(\.id) == $1.map(\.id) }, { [GoldenIdentity(id: text(1000))] })
  goldenObject(
    "references to 65 types", tag: "golden many types",
    json: references(65) { ("golden type \($0)", "\"t\($0)\"") },
    by: { $0.identifiers == $1.identifiers }
  ) { GoldenManyTypes() }
  goldenIdentifier(
    "canonical with a name", json: "{\"target\":" + reference("golden target", "5") + "}",
    GoldenNameKey(target: Reference(GoldenTarget.self, identifier: 5)))
  goldenIdentifier(
    "canonical with a reference",
    json: "{\"address\":\(reference("golden address", "\"DIGEST\""))}",
    GoldenPlaceKey(address: GoldenAddress(street: "Main", zip: 1)))
}
