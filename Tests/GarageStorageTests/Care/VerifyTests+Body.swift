import GarageCoding
import GarageDriver
import GarageStorage
import Testing

extension VerifyTests {
  /// A record whose checksum fits may hold what no coder writes: the body is read to its end.
  @Test(arguments: Backend.engines)
  func whatTheChecksumCoversIsReadAllTheSame(_ backend: Backend) throws {
    let store = try CareStore(backend)
    let key = try keys(of: "CareNode", in: store.garage, store.driver)[1]
    let record = try #require(try Driver.contents(store.driver)[key])
    var found = 0
    // Behind the head come tables and body; each byte is made another one, and the checksum made to fit.
    for position in RecordHead.byteCount..<record.count {
      var damaged = record
      damaged[position] ^= 0xFF
      key.bytes.withUnsafeBytes { key in
        damaged.withUnsafeMutableBytes {
          RecordChecksum.write(into: $0, under: CheckedKey(UnsafeRawBufferPointer(rebasing: key.dropFirst())))
        }
      }
      try Driver.put(damaged, for: key.bytes, store.driver)
      if try !store.garage.verify().findings.isEmpty { found += 1 }
    }
    // Bytes of numbers and text may be others and still be such.
    #expect(found > record.count / 4, "\(found) of \(record.count)")
  }
}
