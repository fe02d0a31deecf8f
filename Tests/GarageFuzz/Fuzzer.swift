import Foundation
import GarageCoding

/// Something that takes any bytes. What it must never do: crash, hang, take memory without bound, or give back
/// another value than was stored.
protocol Fuzzer: AnyObject {
  /// Inputs to begin with, beside those of the corpus.
  var seeds: [[UInt8]] { get }
  /// Runs one case.
  func run(_ input: [UInt8])
  /// Changes an input, knowing what it is.
  func mutate(_ input: [UInt8], _ random: InputRandom) -> [UInt8]
}

/// Ends the process: something was stored and came back differently.
func fail(_ message: String) -> Never {
  FileHandle.standardError.write(Data("fault: \(message)\n".utf8))
  abort()
}

/// Puts the checksum right, so that what is behind it is reached.
func seal(_ record: inout [UInt8], key: [UInt8]) {
  guard record.count >= RecordHead.byteCount else { return }
  key.withUnsafeBytes { key in
    record.withUnsafeMutableBytes { RecordChecksum.write(into: $0, under: CheckedKey(key)) }
  }
}

/// Changes the key or the value of a store's entry, or both. A record mostly gets a checksum that fits again.
///
/// - Parameter entries: all entries of the store, whose values go into changed ones.
func changeEntry(
  _ entry: inout (key: [UInt8], value: [UInt8]), from entries: [(key: [UInt8], value: [UInt8])],
  _ random: inout InputRandom
) {
  if random.once(in: 4) {
    let position = random.below(entry.key.count)
    switch random.below(3) {
    case 0: entry.key[position] = random.byte()
    case 1: entry.key.removeLast(random.below(entry.key.count))
    default: entry.key += random.bytes(1 + random.below(300))
    }
  }
  if random.once(in: 2) || entry.key.first == 0x10 {
    var mutator = Mutator(random: InputRandom(seed: random.next()))
    entry.value = mutator.mutate(entry.value, from: entries.map(\.value))
  }
  if entry.key.first == 0x10, entry.value.count > RecordHead.byteCount, !random.once(in: 8) {
    entry.value[0] = UInt8(RecordFormat.version)
    seal(&entry.value, key: Array(entry.key.dropFirst()))
  }
}

func keyBytes(tag: UInt64, _ identifier: some Sequence<UInt8>) -> [UInt8] {
  (0..<8).map { UInt8(truncatingIfNeeded: tag >> UInt64(56 - 8 * $0)) } + identifier
}

/// Records in memory.
final class FuzzSource: RecordSource {
  var records: [[UInt8]: [UInt8]] = [:]
  var shapes: [UInt64: [UInt8]] = [:]
  var tags: [UInt64: String] = [:]
  /// What every identity has that is not among the records: sealed for its key.
  var everywhere: [UInt8]?
  /// The text of every shape that is not known.
  var unknownShape: [UInt8]?

  func add(_ graph: EncodedGraph) {
    for (key, record) in graph.recordsByKey { records[key] = record }
    for shape in graph.shapes { shapes[shape.digest] = shape.text }
    for tag in graph.tags { tags[tag.digest] = tag.name }
  }

  func withRecord<R>(tag: UInt64, keyIdentifier: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    let key = keyBytes(tag: tag, keyIdentifier.withUnsafeBytes { Array($0) })
    if let record = records[key] { return try body(record.span.bytes) }
    guard var record = everywhere else { return try body(nil) }
    seal(&record, key: key)
    return try body(record.span.bytes)
  }

  func shapeText(_ digest: UInt64) throws -> [UInt8]? { shapes[digest] ?? unknownShape }
  func tagName(_ digest: UInt64) throws -> String? { tags[digest] }
}
