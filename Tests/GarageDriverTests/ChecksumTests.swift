import CGarage
import Testing

/// CRC-32C, on which the detection of damaged records rests.
struct ChecksumTests {
  /// RFC 3720, appendix B.4.
  private static let vectors: [(bytes: [UInt8], checksum: UInt32)] = [
    ([UInt8](repeating: 0, count: 32), 0x8A91_36AA),
    ([UInt8](repeating: 0xFF, count: 32), 0x62A8_AB43),
    (Array(0...31), 0x46DD_794E),
    (Array((0...31).reversed()), 0x113F_DB5C),
    (
      // An iSCSI SCSI Read (10) command.
      [
        0x01, 0xC0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x14, 0, 0, 0, 0, 0, 0x04, 0, 0, 0, 0, 0x14, 0,
        0, 0,
        0x18, 0x28, 0, 0, 0, 0, 0, 0, 0, 0x02, 0, 0, 0, 0, 0, 0, 0,
      ], 0xD996_3A56
    ),
    (Array("123456789".utf8), 0xE306_9283),
    ([], 0),
  ]

  @Test func agreesWithTheStandard() {
    for (bytes, checksum) in Self.vectors {
      #expect(garage_crc32c(0, bytes, bytes.count) == checksum)
      #expect(garage_crc32c_portable(0, bytes, bytes.count) == checksum)
    }
  }

  @Test func theInstructionAgreesWithTheTable() {
    var random = SeededGenerator(seed: 4)
    let bytes = random.bytes(300)
    bytes.withUnsafeBytes { bytes in
      for start in 0..<16 {
        for end in start...200 {
          let piece = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
          let seed = UInt32.random(in: 0...UInt32.max, using: &random)
          let fast = garage_crc32c(seed, piece.baseAddress, piece.count)
          #expect(
            fast == garage_crc32c_portable(seed, piece.baseAddress, piece.count), "seed 4, \(start)..<\(end)")
        }
      }
    }
  }

  @Test func theInstructionAgreesWithTheTableOverManyBlocks() {
    var random = SeededGenerator(seed: 6)
    let bytes = random.bytes(10_000)
    bytes.withUnsafeBytes { bytes in
      for count in Array(100...1700) + [3071, 3072, 3073, 4608, 5000, 9000] {
        let start = Int.random(in: 0..<64, using: &random)
        let piece = UnsafeRawBufferPointer(rebasing: bytes[start..<(start + count)])
        let seed = UInt32.random(in: 0...UInt32.max, using: &random)
        let fast = garage_crc32c(seed, piece.baseAddress, piece.count)
        let slow = garage_crc32c_portable(seed, piece.baseAddress, piece.count)
        #expect(fast == slow, "seed 6, \(count) bytes")
      }
    }
  }

  /// Each length has its own way through the instructions, up to where all are cut into three blocks.
  @Test func everyLengthAgreesAtEveryAlignment() {
    var random = SeededGenerator(seed: 7)
    let bytes = random.bytes(420)
    bytes.withUnsafeBytes { bytes in
      for count in 0...400 {
        for start in 0..<16 {
          let piece = UnsafeRawBufferPointer(rebasing: bytes[start..<(start + count)])
          let seed = UInt32.random(in: 0...UInt32.max, using: &random)
          let fast = garage_crc32c(seed, piece.baseAddress, count)
          let slow = garage_crc32c_portable(seed, piece.baseAddress, count)
          if fast != slow { Issue.record("seed 7, \(count) bytes from \(start) on: \(fast), not \(slow)") }
        }
      }
    }
  }

  /// The same of records behind keys of all lengths, numbers' and UUIDs' among them.
  @Test func everyLengthOfARecordAgrees() {
    var random = SeededGenerator(seed: 8)
    let (bytes, keys) = (random.bytes(420), random.bytes(64))
    bytes.withUnsafeBytes { bytes in
      keys.withUnsafeBytes { keys in
        for count in 12...400 {
          let start = Int.random(in: 0..<16, using: &random)
          let record = UnsafeRawBufferPointer(rebasing: bytes[start..<(start + count)]).baseAddress!
          for keyCount in 0...26 {
            let key = keys.baseAddress! + Int.random(in: 0..<16, using: &random)
            let tag = UInt64.random(in: 0 ... .max, using: &random)
            let begun = withUnsafeBytes(of: tag) { garage_crc32c_portable(0, $0.baseAddress, $0.count) }
            let slow = garage_record_crc32c_portable(begun, key, keyCount, record, count, 2)
            if garage_record_crc32c(begun, key, keyCount, record, count, 2) != slow
              || garage_tagged_record_crc32c(tag, key, keyCount, record, count, 2) != slow
            {
              Issue.record("seed 8, a key of \(keyCount) bytes, a record of \(count)")
            }
          }
        }
      }
    }
  }

  @Test func piecesAddUp() {
    let bytes = Array("In two pieces or in one, the checksum is the same.".utf8)
    let whole = garage_crc32c(0, bytes, bytes.count)
    for cut in 0...bytes.count {
      let (first, second) = (Array(bytes[..<cut]), Array(bytes[cut...]))
      let both = garage_crc32c(garage_crc32c(0, first, first.count), second, second.count)
      #expect(both == whole)
    }
  }

  @Test func aRecordsChecksumIsThatOfItsPieces() {
    var random = SeededGenerator(seed: 5)
    let farCounts = [
      127, 128, 129, 150, 191, 192, 193, 200, 256, 383, 384, 385, 1000, 1535, 1536, 1537, 3000,
    ]
    for count in Array(4...80) + farCounts {
      for keyCount in [0, 1, 7, 8, 21, 40] {
        let (key, record) = (random.bytes(keyCount), random.bytes(count))
        let seed = UInt32.random(in: 0...UInt32.max, using: &random)
        let place = Int.random(
          in: 0...min(count - 4, Bool.random(using: &random) ? 9 : count), using: &random)
        let pieces = key + record[..<place] + record[(place + 4)...]
        let whole = garage_crc32c(seed, pieces, pieces.count)
        #expect(
          garage_record_crc32c(seed, key, keyCount, record, count, place) == whole,
          "seed 5, \(keyCount), \(count), \(place)")
        #expect(
          garage_record_crc32c_portable(seed, key, keyCount, record, count, place) == whole,
          "seed 5, \(keyCount), \(count), \(place)")
        let tag = random.bytes(8)
        let tagged = tag + pieces
        #expect(
          garage_tagged_record_crc32c(
            tag.span.bytes.unsafeLoad(as: UInt64.self), key, keyCount, record, count, place)
            == garage_crc32c_portable(0, tagged, tagged.count),
          "seed 5, \(keyCount), \(count), \(place)")
      }
    }
  }

  @Test func anyFlippedBitShows() {
    var bytes = [UInt8](repeating: 0x5A, count: 64)
    let whole = garage_crc32c(0, bytes, bytes.count)
    for bit in 0..<(64 * 8) {
      bytes[bit / 8] ^= 1 << (bit % 8)
      #expect(garage_crc32c(0, bytes, bytes.count) != whole)
      bytes[bit / 8] ^= 1 << (bit % 8)
    }
  }
}
