import Foundation
import GarageStorage
import Testing

// Typed keys, and garages that hide identifiers: namespaces and rows of golden values. Their names are stored: they
// never change.

enum GoldenOuter: Namespace { static let id = "outer" }
enum GoldenNameless: Namespace {
  typealias Parent = GoldenOuter
  static let id = ""
}
/// A zero in its name is escaped, and the name is stored composed.
enum GoldenInner: Namespace {
  typealias Parent = GoldenNameless
  static let id = "e\u{301}\u{0}r"
}

/// A row of a typed key. `reader.py` finds it by its `stringValue`.
private func goldenKey<N: Namespace & SendableMetatype, V: Codable & Equatable & Sendable>(
  _ name: String, json: String, in namespace: N.Type, _ id: String, _ value: V, otherwise: V
) -> GoldenValue {
  let key = Key<N, V>(id: id, defaultValue: otherwise)
  var row = GoldenValue(
    name: "typed key " + name, park: { try $0.set(key, value: value) },
    check: { garage in
      let found = try garage.get(key)
      #expect(found == value, "\(name)")
    }, json: { json }, tag: "")
  row.keyName = key.stringValue
  return row
}

private func text(_ count: Int) -> String { String(repeating: "k", count: count) }

@GoldenRows var goldenKeys: [GoldenValue] {
  goldenKey("at the top", json: "5", in: GlobalNamespace.self, "count", 5, otherwise: 0)
  goldenKey("in namespaces", json: "\"dark\"", in: GoldenInner.self, "theme", "dark", otherwise: "")
  goldenKey("without a name", json: "true", in: GoldenOuter.self, "", true, otherwise: false)
  goldenKey("composed", json: "-1.5", in: GlobalNamespace.self, "cafe\u{301}", -1.5, otherwise: 0)
  goldenKey("of 479 bytes", json: "[1,2]", in: GlobalNamespace.self, text(477), [1, 2], otherwise: [])
  goldenKey("of 480 bytes", json: "[1,2]", in: GlobalNamespace.self, text(478), [1, 2], otherwise: [])
  goldenKey(
    "of 1000 bytes in a namespace", json: "{\"x\":1,\"y\":2}", in: GoldenInner.self, text(1000),
    GoldenPoint(),
    otherwise: GoldenPoint(x: 0, y: 0))
  goldenKey(
    "with a date", json: "123456789.25", in: GoldenOuter.self, "date",
    Date(timeIntervalSinceReferenceDate: 123_456_789.25), otherwise: .distantPast)
  goldenKey(
    "with a shape", json: "[{\"x\":1,\"y\":2},{\"x\":3,\"y\":4}]", in: GoldenOuter.self, "points",
    [GoldenPoint(), GoldenPoint(x: 3, y: 4)], otherwise: [])
  goldenKey(
    "with a reference", json: "[{\"$reference\":{\"type\":\"golden target\",\"id\":5}}]",
    in: GoldenOuter.self,
    "targets", [GoldenTarget(id: 5)], otherwise: [])
  goldenKey(
    "with a version and a status", json: "{\"number\":7,\"syncStatus\":1}", in: GoldenOuter.self, "stamp",
    GoldenStamp(number: 7, syncStatus: .notSynced), otherwise: GoldenStamp(number: 0))
}

// MARK: - Hidden identifiers

private func hiding(_ row: GoldenValue) -> GoldenValue {
  var row = row
  row.hidingKey = (0..<32).map { UInt8($0) }
  return row
}

@GoldenRows var goldenHiding: [GoldenValue] {
  hiding(goldenIdentifier("hidden integer", 7))
  hiding(goldenIdentifier("hidden string of 239 bytes", text(239)))
  hiding(
    GoldenValue(
      name: "hidden identifiers",
      park: { garage in
        try garage.parkAll([
          GoldenTask(id: "a", syncStatus: .notSynced), GoldenTask(id: "b", syncStatus: .notSynced),
        ])
        try garage.park(GoldenBox(value: [GoldenTarget(id: 1), GoldenTarget(id: 2)]))
        try garage.setSyncStatus(.syncing, for: GoldenTask(id: "b"))
      },
      check: { garage in
        #expect(garage.hidesIdentifiers)
        let box = try garage.retrieve(GoldenBox<[GoldenTarget]>.self, identifier: 1)
        #expect(box?.value.map(\.id) == [1, 2])
        let syncing = try garage.retrieveAll(GoldenTask.self, withStatus: .syncing)
        #expect(syncing.map(\.id) == ["b"])
      },
      json: {
        let targets = [1, 2].map { "{\"$reference\":{\"type\":\"golden target\",\"id\":\($0)}}" }
        return "{\"id\":1,\"value\":[\(targets.joined(separator: ","))]}"
      }, tag: "golden box"))
  hiding(
    goldenContent(
      "hidden digest", tag: "golden content",
      GoldenContent(b: "b", a: [1, 2.5], missing: nil, table: ["k": 1], set: ["one"])))
  hiding(
    goldenKey("beside hidden identifiers", json: "5", in: GlobalNamespace.self, "count", 5, otherwise: 0))
}
