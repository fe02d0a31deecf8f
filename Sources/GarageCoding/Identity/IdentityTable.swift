/// Numbers identities — identity-space tag and identifier bytes — from 0 in the order in which they are met.
///
/// Open addressing with linear probing over one array of numbers; the bytes stand one behind the other in an
/// arena. Only the identity noted last may be forgotten, which keeps every probe sequence whole.
struct IdentityTable: ~Copyable {
  private struct Entry {
    var tag: UInt64
    var hash: UInt64
    var start: Int
    var end: Int
  }

  private var entries = RawStack<Entry>()
  private var bytes = RawStack<UInt8>()
  /// Numbers plus one; 0 is free. The count is a power of two.
  private var slots: UnsafeMutableBufferPointer<UInt32>

  init() { slots = IdentityTable.makeSlots(64) }

  deinit {
    entries.deallocate()
    bytes.deallocate()
    slots.deallocate()
  }

  private static func makeSlots(_ count: Int) -> UnsafeMutableBufferPointer<UInt32> {
    let slots = UnsafeMutableBufferPointer<UInt32>.allocate(capacity: count)
    slots.initialize(repeating: 0)
    return slots
  }

  var count: Int { entries.count }

  /// Makes room for that many more.
  mutating func reserve(_ additional: Int) {
    entries.reserve(additional)
    while (entries.count + additional) * 2 > slots.count { grow() }
  }

  @inline(__always)
  func tag(of number: Int) -> UInt64 { entries[number].tag }

  /// The identifier of that number; valid until the next change.
  @inline(__always)
  func identifier(of number: Int) -> UnsafeRawBufferPointer {
    let entry = entries[number]
    return UnsafeRawBufferPointer(start: bytes.base + entry.start, count: entry.end &- entry.start)
  }

  func identity(of number: Int) -> RecordIdentity {
    RecordIdentity(tag: tag(of: number), identifier: Identifier(unchecked: Array(identifier(of: number))))
  }

  /// The number of an identity, and whether it is new.
  mutating func insert(tag: UInt64, _ identifier: UnsafeRawBufferPointer) -> (number: Int, isNew: Bool) {
    let hash = IdentityTable.hash(tag, identifier)
    let slot = slot(of: hash, tag, identifier)
    if slots[slot] != 0 { return (Int(slots[slot]) - 1, false) }
    let number = entries.count
    let start = bytes.count
    bytes.append(identifier)
    entries.append(Entry(tag: tag, hash: hash, start: start, end: bytes.count))
    slots[slot] = UInt32(number + 1)
    if entries.count * 2 > slots.count { grow() }
    return (number, true)
  }

  /// Forgets the identities from `count` on.
  mutating func truncate(to count: Int) {
    while entries.count > count {
      let entry = entries.removeLast()
      var slot = Int(truncatingIfNeeded: entry.hash) & (slots.count - 1)
      while slots[slot] != UInt32(entries.count + 1) { slot = (slot + 1) & (slots.count - 1) }
      slots[slot] = 0
      bytes.truncate(to: entry.start)
    }
  }

  /// Forgets everything; keeps memory of ordinary size.
  mutating func removeAll() {
    if slots.count > 1 << 16 {
      self = IdentityTable()
    } else if !entries.isEmpty {
      truncate(to: 0)
    }
  }

  /// The slot where an identity is, or would be put.
  @inline(__always)
  private func slot(of hash: UInt64, _ tag: UInt64, _ identifier: UnsafeRawBufferPointer) -> Int {
    var slot = Int(truncatingIfNeeded: hash) & (slots.count &- 1)
    while slots[slot] != 0 {
      let number = Int(slots[slot]) - 1
      let entry = entries[number]
      if entry.hash == hash, entry.tag == tag, compareBytes(self.identifier(of: number), identifier) == 0 {
        return slot
      }
      slot = (slot &+ 1) & (slots.count &- 1)
    }
    return slot
  }

  private mutating func grow() {
    slots.deallocate()
    slots = IdentityTable.makeSlots(slots.count * 2)
    for number in 0..<entries.count {
      var slot = Int(truncatingIfNeeded: entries[number].hash) & (slots.count - 1)
      while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
      slots[slot] = UInt32(number + 1)
    }
  }

  /// Different in each process, so that nobody can prepare identifiers that collide.
  private static let seed = UInt64.random(in: .min ... .max)

  /// Folds eight bytes at a time by a wide multiplication.
  private static func hash(_ tag: UInt64, _ identifier: UnsafeRawBufferPointer) -> UInt64 {
    var hash = mix(tag ^ seed, 0x9E37_79B9_7F4A_7C15 ^ UInt64(identifier.count))
    var offset = 0
    while offset + 8 <= identifier.count {
      hash = mix(
        hash ^ identifier.loadUnaligned(fromByteOffset: offset, as: UInt64.self), 0xD6E8_FEB8_6659_FD93)
      offset += 8
    }
    var rest: UInt64 = 0
    while offset < identifier.count {
      rest = rest << 8 | UInt64(identifier[offset])
      offset += 1
    }
    return mix(hash ^ rest, 0xA076_1D64_78BD_642F)
  }

  @inline(__always)
  private static func mix(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let product = a.multipliedFullWidth(by: b)
    return product.high ^ product.low
  }
}
