internal import GarageDriver

/// One small value to be put, in memory that is used again and again.
struct ChangeNote {
  private static let byteCount = StorageInfo.guaranteedKeyByteCount + 513
  /// The lengths of the key and of the value. `bytes` holds both.
  private let lengths = UnsafeMutablePointer<(key: Int, value: Int)>.allocate(capacity: 1)
  private let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 8)

  init() { clear() }

  func deallocate() {
    lengths.deallocate()
    bytes.deallocate()
  }

  /// A note without a change has no key, because keys have at least one byte.
  var isEmpty: Bool { lengths.pointee.key == 0 }

  func clear() { lengths.initialize(to: (0, 0)) }

  /// Notes a copy of the change. Returns false if it is too large.
  func set(_ value: RawSpan, for key: RawSpan) -> Bool {
    let (keyCount, valueCount) = (key.byteCount, value.byteCount)
    if keyCount + valueCount > Self.byteCount { return false }
    key.withUnsafeBytes { bytes.copyMemory(from: $0) }
    value.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: bytes[keyCount...]).copyMemory(from: $0) }
    lengths.pointee = (keyCount, valueCount)
    return true
  }

  func put(into tree: inout PersistentTree) {
    let (keyCount, valueCount) = lengths.pointee
    let key = UnsafeRawBufferPointer(rebasing: bytes[..<keyCount])
    let value = UnsafeRawBufferPointer(rebasing: bytes[keyCount..<(keyCount + valueCount)])
    tree.put(value.bytes, for: key.bytes)
  }
}
