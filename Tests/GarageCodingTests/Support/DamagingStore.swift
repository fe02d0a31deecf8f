import Testing

@testable import GarageCoding

/// The record with a checksum that fits it, under `key` (tag and identifier).
func sealed(_ record: [UInt8], key: [UInt8]) -> [UInt8] {
  var record = record
  guard record.count > RecordHead.byteCount else { return record }
  key.withUnsafeBytes { key in
    record.withUnsafeMutableBytes { RecordChecksum.write(into: $0, under: CheckedKey(key)) }
  }
  return record
}

/// A record that has this behind its head, under `key`.
func record(_ flags: RecordFlags, _ content: [UInt8], key: [UInt8]) -> [UInt8] {
  var head = [UInt8](repeating: 0, count: RecordHead.byteCount)
  head.withUnsafeMutableBytes { RecordHead.write(flags, time: 0, to: $0.baseAddress!) }
  return sealed(head + content, key: key)
}

/// Bytes that mean something in a record or in a body.
private let meaningfulBytes: [UInt8] = [
  0, 1, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1A, 0x1B, 0x1C, 0x3F, 0x40, 0x7F, 0x80, 0xBF, 0xC0, 0xDF, 0xE0,
  0xFF,
]

/// Changes some bytes, takes some out, puts some in.
func damaged(_ record: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
  var record = record
  for _ in 0..<Int.random(in: 1...8, using: &random) {
    let at = Int.random(in: 0..<record.count, using: &random)
    func end(_ longest: Int) -> Int { min(record.count, at + Int.random(in: 1...longest, using: &random)) }
    switch Int.random(in: 0..<6, using: &random) {
    case 0: record[at] = UInt8.random(in: 0...255, using: &random)
    case 1: record[at] = meaningfulBytes.randomElement(using: &random)!
    case 2: for index in at..<end(8) { record[index] = 0xFF }
    case 3: record.removeSubrange(at..<end(20))
    case 4:
      let count = Int.random(in: 1...20, using: &random)
      record.insert(
        contentsOf: (0..<count).map { _ in meaningfulBytes.randomElement(using: &random)! }, at: at)
    default:
      let part = Array(record[at..<end(30)])
      record.insert(contentsOf: part, at: Int.random(in: 0...record.count, using: &random))
    }
    if record.isEmpty { record = [0] }
  }
  return record
}

/// Takes holders, damages their records, and reads them.
final class DamagingStore: HolderStore {
  private let seed: UInt64
  private var random: SeededGenerator
  private(set) var count = 0

  init(_ seed: UInt64) { (self.seed, random) = (seed, SeededGenerator(seed)) }

  func holder<T: Codable>(of type: T.Type, id: Int) throws -> Holder<T>? { nil }

  func keep<T: Codable>(_ holder: Holder<T>) throws {
    let source = DictionarySource()
    let graph = try GraphEncoder().encode([holder])
    source.add(graph)
    let root = graph.roots[0]
    let (key, whole) = graph.recordsByKey[0]
    if whole.count > 20_000 { return }
    count += 1
    for step in 0..<60 {
      var record = whole
      if step < 30 {
        switch step % 3 {
        case 0:
          record[Int.random(in: 0..<record.count, using: &random)] ^=
            1 << UInt8.random(in: 0..<8, using: &random)
        case 1: record.removeLast(Int.random(in: 1...record.count, using: &random))
        default: record = damaged(record, &random)
        }
        source.records[key] = record
        if record == whole { continue }
        do {
          _ = try decode(Holder<T>.self, root, from: source)
          Issue.record("seed \(seed), \(T.self), step \(step): nothing was thrown")
        } catch GraphCodingError.corrupt(let type, let id, _), GraphCodingError.newerFormat(
          let type, let id, _)
        {
          #expect(type.hasPrefix("Holder") && id == "\(holder.id)", "seed \(seed), \(T.self), step \(step)")
        }
      } else {
        source.records[key] = sealed(damaged(record, &random), key: key)
        _ = try? decode(Holder<T>.self, root, from: source)
      }
    }
  }
}
