import Foundation
import GarageCoding

/// The coder beside Foundation's and a hand-written one. Every coder is made once and reused.
struct CodecComparison {
  let people: [Person]
  /// How often each round goes through all of them. Short runs in turn: whoever disturbs, disturbs all alike.
  let passes: Int
  let isWanted: (String) -> Bool

  static let names = [
    "encode", "decode", "encode references", "decode references", "encode graph", "decode graph",
  ]
  static let bytesName = "bytes per object"
  static let bodyBytesName = "bytes per body"
  static let sizeNames = [bytesName, bodyBytesName]
  private static let peers = [
    "JSONEncoder", "JSONDecoder", "PropertyListEncoder", "PropertyListDecoder", "hand-written",
  ]

  func rows(_ rounds: Rounds) throws -> [ResultRow] {
    let plain = try coders("encode", "decode", ours: people, peers: people, handWritten: true)
    let coders =
      try plain
      + coders(
        "encode references", "decode references", ours: people.map(Member.init), peers: people,
        handWritten: true)
      + graphCoders()
    var samples = Samples()
    try rounds.run("codec") { round in
      samples.beginRound()
      for name in Self.names where isWanted(name) {
        for pass in 0..<passes {
          for coder in coders.rotated(by: round + pass) {
            for operation in [coder.encoding, coder.decoding] where operation.name == name {
              try samples.measure(operation, verifies: pass == 0)
            }
          }
        }
      }
    }
    return Self.names.flatMap { name in
      Self.peers.compactMap { ResultRow(name, "garage", $0, samples) }
    } + (try sizeRows(plain))
  }

  /// A record, header included, and its body alone, beside what the peers make of an object.
  private func sizeRows(_ coders: [Coder]) throws -> [ResultRow] {
    guard let ours = coders.first else { return [] }
    let garage = try GarageCoder<Person>()
    let bodies = try people.map { try GarageCoder<Person>.bodyByteCount(garage.encode($0)) }
    let body = Double(bodies.reduce(0, +)) / Double(people.count)
    return [(Self.bytesName, ours.byteCount), (Self.bodyBytesName, body)].filter { isWanted($0.0) }.flatMap {
      (name, bytes) in
      coders.dropFirst().map {
        ResultRow(name, "garage", $0.name, bytes: bytes, peerBytes: $0.byteCount, objects: people.count)
      }
    }
  }

  // MARK: Coders

  private struct Coder {
    var name: String
    var encoding: Operation
    var decoding: Operation
    /// For each object.
    var byteCount: Double
  }

  private func graphCoders() throws -> [Coder] {
    let households = people.indices.map { Household(people[$0], among: people, at: $0) }
    return try coders("encode graph", "decode graph", ours: households, peers: households)
  }

  /// Ours first. `ours` may be other objects than those of the peers, as long as they hold the same.
  private func coders<Ours: Codable & Identifiable & Equatable, Theirs: Codable & Equatable>(
    _ encode: String, _ decode: String, ours: [Ours], peers: [Theirs], handWritten: Bool = false
  ) throws -> [Coder] {
    let names = (encode, decode)
    let garage = try GarageCoder<Ours>()
    for object in ours { garage.learnTexts(of: try garage.encode(object)) }
    let json = (JSONEncoder(), JSONDecoder())
    let list = (PropertyListEncoder(), PropertyListDecoder())
    list.0.outputFormat = .binary
    var coders = [
      try coder(
        "garage", names, ("garage", "garage"), ours, byteCount: GarageCoder<Ours>.byteCount, encode: garage.encode,
        decode: garage.decode),
      try coder(
        "JSON", names, ("JSONEncoder", "JSONDecoder"), peers, byteCount: \.count, encode: json.0.encode,
        decode: { try json.1.decode(Theirs.self, from: $0) }),
      try coder(
        "property list", names, ("PropertyListEncoder", "PropertyListDecoder"), peers, byteCount: \.count,
        encode: list.0.encode, decode: { try list.1.decode(Theirs.self, from: $0) }),
    ]
    if handWritten {
      coders.append(
        try coder(
          "hand-written", names, ("hand-written", "hand-written"), people, byteCount: \.count,
          encode: HandWritten.encode, decode: HandWritten.decode))
    }
    return coders
  }

  private func coder<Object: Equatable, Encoded>(
    _ name: String, _ names: (String, String), _ who: (String, String), _ objects: [Object],
    byteCount: (Encoded) -> Int, encode: @escaping (Object) throws -> Encoded,
    decode: @escaping (Encoded) throws -> Object
  ) throws -> Coder {
    let encoded = try objects.map(encode)
    let count = objects.count
    var decoded: [Object] = []
    return Coder(
      name: name,
      encoding: Operation(
        name: names.0, who: who.0, count: count,
        run: {
          for object in objects { consume(try encode(object)) }
        },
        verify: {
          for object in objects {
            try WrongResult.unless(decode(encode(object)) == object, "an object does not come back as it was")
          }
        }),
      decoding: Operation(
        name: names.1, who: who.1, count: count, prepare: {
          // The objects of the run before go outside the time.
          decoded = []
          decoded.reserveCapacity(objects.count)
        },
        run: {
          for bytes in encoded { decoded.append(try decode(bytes)) }
        },
        verify: { try WrongResult.unless(decoded == objects, "the objects decoded are others") }),
      byteCount: Double(encoded.map(byteCount).reduce(0, +)) / Double(objects.count))
  }
}

/// Keeps the compiler from leaving out what nobody looks at.
@_optimize(none)
private func consume<T>(_ value: T) {}
