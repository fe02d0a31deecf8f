import Foundation
import GarageCoding

/// The coder beside Foundation's and a hand-written one. Every coder is made once and reused.
struct CodecComparison {
  let people: [Person]
  /// How often each round goes through all of them. Short runs in turn: whoever disturbs, disturbs all alike.
  let passes: Int
  let isWanted: (String) -> Bool

  static let names = [
    "encode", "decode", "encode record", "decode record", "encode references", "decode references", "encode graph", "decode graph",
  ]
  static let bytesName = "bytes per object"
  static let bodyBytesName = "bytes per body"
  static let sizeNames = [bytesName, bodyBytesName]
  private static let peers = [
    "JSONEncoder", "JSONDecoder", "PropertyListEncoder", "PropertyListDecoder", "hand-written",
  ]

  func rows(_ rounds: Rounds) throws -> [ResultRow] {
    let plain = try coders("encode record", "decode record", ours: people, peers: people, handWritten: true)
    let coders =
      try [bodyCoder()] + peerCoders("encode", "decode", people, handWritten: true) + plain
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
    let bodies = try people.map { try garage.bodyByteCount($0) }
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
  private func coders<Ours: Codable & Identifiable & Equatable & SendableMetatype, Theirs: Codable & Equatable>(
    _ encode: String, _ decode: String, ours: [Ours], peers: [Theirs], handWritten: Bool = false
  ) throws -> [Coder] {
    let garage = try GarageCoder<Ours>()
    for object in ours { garage.learnTexts(of: try garage.encode(object)) }
    let own = try coder(
      "garage", (encode, decode), ("garage", "garage"), ours, byteCount: GarageCoder<Ours>.byteCount,
      encode: garage.encode, store: StoredGraph.init, decode: garage.decode)
    return try [own] + peerCoders(encode, decode, peers, handWritten: handWritten)
  }

  /// The codec as its peers are: an object's bytes and no more. A record has its identity, time and checksum too.
  private func bodyCoder() throws -> Coder {
    let garage = try GarageCoder<Person>()
    return try coder(
      "garage", ("encode", "decode"), ("garage", "garage"), people, byteCount: \.count, encode: garage.encodeBody,
      store: { $0 }, decode: garage.decodeBody)
  }

  private func peerCoders<Theirs: Codable & Equatable>(
    _ encode: String, _ decode: String, _ peers: [Theirs], handWritten: Bool = false
  ) throws -> [Coder] {
    let names = (encode, decode)
    let json = (JSONEncoder(), JSONDecoder())
    let list = (PropertyListEncoder(), PropertyListDecoder())
    list.0.outputFormat = .binary
    var coders = [
      try coder(
        "JSON", names, ("JSONEncoder", "JSONDecoder"), peers, byteCount: \.count, encode: json.0.encode,
        store: { $0 }, decode: { try json.1.decode(Theirs.self, from: $0) }),
      try coder(
        "property list", names, ("PropertyListEncoder", "PropertyListDecoder"), peers, byteCount: \.count,
        encode: list.0.encode, store: { $0 }, decode: { try list.1.decode(Theirs.self, from: $0) }),
    ]
    if handWritten {
      coders.append(
        try coder(
          "hand-written", names, ("hand-written", "hand-written"), people, byteCount: \.count,
          encode: HandWritten.encode, store: { $0 }, decode: HandWritten.decode))
    }
    return coders
  }

  /// - Parameter store: what a store does with the encoded object before it is asked for it; not timed.
  private func coder<Object: Equatable, Encoded, Stored>(
    _ name: String, _ names: (String, String), _ who: (String, String), _ objects: [Object],
    byteCount: (Encoded) -> Int, encode: @escaping (Object) throws -> Encoded,
    store: @escaping (Encoded) -> Stored, decode: @escaping (Stored) throws -> Object
  ) throws -> Coder {
    let encoded = try objects.map(encode)
    let stored = encoded.map(store)
    let count = objects.count
    var decoded: [Object] = []
    return Coder(
      name: name,
      encoding: Operation(
        name: names.0, who: who.0, count: count,
        run: { try objects.withUnsafeBufferPointer { try encodeAll($0, encode) } },
        verify: {
          for object in objects {
            try WrongResult.unless(decode(store(encode(object))) == object, "an object does not come back as it was")
          }
        }),
      decoding: Operation(
        name: names.1, who: who.1, count: count, prepare: {
          // The objects of the run before go outside the time.
          decoded = []
          decoded.reserveCapacity(objects.count)
        },
        run: {
          for index in 0..<count { decoded.append(try decode(stored[index])) }
        },
        verify: { try WrongResult.unless(decoded == objects, "the objects decoded are others") }),
      byteCount: Double(encoded.map(byteCount).reduce(0, +)) / Double(objects.count))
  }
}

/// Encodes each object where it stands. To copy it takes as long as a third of encoding it by hand, and as what `parkAll` never does
/// says nothing about coders. Code that is made for one type copies what it hands on, and code for all types copies an element
/// of a buffer, unless it sees it through a type that cannot be copied.
@inline(never)
@_semantics("optimize.sil.specialize.generic.never")
private func encodeAll<Object, Encoded>(
  _ objects: UnsafeBufferPointer<Object>, _ encode: (Object) throws -> Encoded
) throws {
  guard let start = UnsafeRawPointer(objects.baseAddress) else { return }
  let held = start.assumingMemoryBound(to: Held<Object>.self)
  for index in objects.indices { consume(try held[index].handOn(to: encode)) }
}

/// An object that cannot be copied, in the place of one that can.
private struct Held<Object>: ~Copyable {
  private let object: Object

  @inline(__always)
  borrowing func handOn<R>(to body: (Object) throws -> R) rethrows -> R { try body(object) }
}

/// Keeps the compiler from leaving out what nobody looks at.
@_optimize(none)
func consume<T>(_ value: T) {}
