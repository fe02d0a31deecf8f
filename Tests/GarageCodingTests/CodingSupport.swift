import Foundation
import Testing

@testable import GarageCoding

/// An owner of a value: puts it where values mostly stand, in a property, an optional, an array and a dictionary.
struct Holder<Value: Codable>: Codable, Identifiable {
  var id = 1
  var value: Value
  var optional: Value?
  var list: [Value]
  var table: [String: Value]

  init(_ value: Value) {
    self.value = value
    optional = value
    list = [value, value]
    table = ["a": value, "b": value]
  }

  var all: [Value] {
    [value] + (optional.map { [$0] } ?? []) + list + table.sorted { $0.key < $1.key }.map(\.value)
  }
}

/// An owner of one value.
struct Owner<Value: Codable>: Codable, Identifiable {
  var id = 1
  var value: Value
  init(_ value: Value) { self.value = value }
}

/// Encodes a value inside an owner and decodes it again.
func copy<T: Codable>(_ value: T, types: [any Codable.Type] = []) throws -> T {
  try roundTrip(Owner(value), types: types).value
}

/// Encodes one value and decodes its record as another type, whose tag is the same.
func recode<A: Codable, B: Codable>(_ value: A, as type: B.Type, types: [any Codable.Type] = []) throws -> B {
  try reread(try GraphEncoder().encode([Old(value)]), as: New<B>.self, types: types).value
}

/// The root of a graph, read as another type of the same tag.
func reread<T: Codable>(_ graph: EncodedGraph, as type: T.Type, types: [any Codable.Type] = []) throws -> T {
  let source = DictionarySource()
  source.add(graph)
  return try #require(try decode(type, graph.roots[0], from: source, types: types))
}

/// What must be there. A function, because the macro asks for no `try` inside nested functions, and throws there.
func found<T>(_ value: T?) throws -> T { try #require(value) }

func decode<T: Decodable>(
  _ type: T.Type, _ identity: RecordIdentity, from source: DictionarySource, types: [any Codable.Type] = []
) throws -> T? {
  try GraphDecodingSession(source: source, types: try RegisteredTypes(types)).object(type, identity)
}

/// What a program stored …
struct Old<Value: Codable>: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "evolving" }
  var id = 1
  var value: Value
  init(_ value: Value) { self.value = value }
}

/// … and what the next one declares.
struct New<Value: Codable>: Codable, Identifiable, TypeTagged {
  static var typeTag: String { "evolving" }
  var id = 1
  var value: Value
}

/// The body of the first record of a graph.
func body(_ value: any Encodable) throws -> [UInt8] {
  let graph = try GraphEncoder().encode([value])
  let record = graph.records[0]
  return try graph.bytes.withUnsafeBytes { bytes in
    let parsed = try ParsedRecord(
      EncodedGraph.key(of: record, in: bytes), UnsafeRawBufferPointer(rebasing: bytes[record.value]))
    return Array(parsed.bytes(parsed.body))
  }
}

/// A graph's records without their modification times and checksums.
func content(_ graph: EncodedGraph) -> [[UInt8]] {
  graph.records.map { record in
    var bytes = Array(graph.bytes[record.value])
    for index in RecordChecksum.offset..<RecordHead.byteCount { bytes[index] = 0 }
    return Array(graph.keys[record.key]) + bytes
  }
}

func hex(_ bytes: some Sequence<UInt8>) -> String {
  bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

/// Runs `body` on a thread with a stack of 512 KiB, as threads have on Apple systems.
func onSmallStack<R>(_ body: @escaping () throws -> R) throws -> R {
  let outcome = ThreadOutcome<R>(body)
  let done = DispatchSemaphore(value: 0)
  let thread = Thread {
    outcome.run()
    done.signal()
  }
  thread.stackSize = 512 << 10
  thread.start()
  done.wait()
  return try #require(outcome.result).get()
}

private final class ThreadOutcome<R>: @unchecked Sendable {
  private let body: () throws -> R
  private(set) var result: Result<R, any Error>?
  init(_ body: @escaping () throws -> R) { self.body = body }
  func run() { result = Result { try body() } }
}

/// SplitMix64: small, and the same everywhere.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64
  init(_ seed: UInt64) { state = seed }
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

/// Foundation's JSON coders, as what the graph coder is compared with.
enum JSON {
  static func encode(_ value: some Encodable) throws -> Data {
    let encoder = JSONEncoder()
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "+inf", negativeInfinity: "-inf", nan: "nan")
    encoder.outputFormatting = .sortedKeys
    return try encoder.encode(value)
  }

  static func decode<T: Decodable>(_ type: T.Type, _ data: Data) throws -> T {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "+inf", negativeInfinity: "-inf", nan: "nan")
    return try decoder.decode(type, from: data)
  }

  static func copy<T: Codable>(_ value: T) throws -> T { try decode(T.self, encode(value)) }
}

/// Whether an error of ours is the one that JSON throws. For numbers that do not fit JSON names no path, and a null
/// that is no Bool is a mismatch to it: there ours say more.
func isSame(_ ours: String, asJSONs json: String) -> Bool {
  if json == "dataCorrupted at " { return ours.hasPrefix("dataCorrupted at value") }
  return ours == json
    || ours == json.replacingOccurrences(of: "typeMismatch", with: "valueNotFound") && json.hasSuffix("null")
}

/// The kind of a decoding error and the path it names.
func summary(_ error: any Error) -> String {
  func text(_ path: [any CodingKey]) -> String { path.map(\.stringValue).joined(separator: ".") }
  return switch error {
  case DecodingError.keyNotFound(let key, let context):
    "keyNotFound \(key.stringValue) at \(text(context.codingPath))"
  case DecodingError.typeMismatch(_, let context): "typeMismatch at \(text(context.codingPath))"
  case DecodingError.valueNotFound(_, let context): "valueNotFound at \(text(context.codingPath))"
  case DecodingError.dataCorrupted(let context): "dataCorrupted at \(text(context.codingPath))"
  case EncodingError.invalidValue(_, let context): "invalidValue at \(text(context.codingPath))"
  default: "\(error)"
  }
}
