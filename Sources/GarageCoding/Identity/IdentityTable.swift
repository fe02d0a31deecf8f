/// Numbers identities — identity-space tag and identifier bytes — from 0 in the order in which they are met.
///
/// Open addressing with linear probing over one array of numbers and hash values, so that what is compared is mostly
/// what is looked for; the bytes stand one behind the other in an arena. Only the identity noted last may be
/// forgotten, which keeps every probe sequence whole.
struct IdentityTable: ~Copyable {
  private struct Entry {
    var tag: UInt64
    /// Where its bytes begin; they end where the next one's begin.
    var start: Int
  }

  private struct Slot {
    /// The number plus one; 0 is free.
    var number: UInt32
    var hash: UInt32
  }

  private var entries = RawStack<Entry>()
  private var bytes = RawStack<UInt8>()
  /// Their count is a power of two.
  private var slots: UnsafeMutableBufferPointer<Slot>

  init() { slots = IdentityTable.makeSlots(64) }

  deinit {
    entries.deallocate()
    bytes.deallocate()
    slots.deallocate()
  }

  private static func makeSlots(_ count: Int) -> UnsafeMutableBufferPointer<Slot> {
    let slots = UnsafeMutableBufferPointer<Slot>.allocate(capacity: count)
    slots.initialize(repeating: Slot(number: 0, hash: 0))
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
    let start = entries[number].start
    let end = number &+ 1 < entries.count ? entries[number &+ 1].start : bytes.count
    return UnsafeRawBufferPointer(start: bytes.base + start, count: end &- start)
  }

  func identity(of number: Int) -> RecordIdentity {
    RecordIdentity(tag: tag(of: number), identifier: Identifier(unchecked: Array(identifier(of: number))))
  }

  /// The number of an identity, and whether it is new.
  mutating func insert(tag: UInt64, _ identifier: UnsafeRawBufferPointer) -> (number: Int, isNew: Bool) {
    let hash = IdentityTable.hash(tag, identifier)
    let slot = slot(of: hash, tag, identifier)
    if slots[slot].number != 0 { return (Int(slots[slot].number) - 1, false) }
    let number = entries.count
    entries.append(Entry(tag: tag, start: bytes.count))
    bytes.append(identifier)
    slots[slot] = Slot(number: UInt32(number + 1), hash: hash)
    if entries.count * 2 > slots.count { grow() }
    return (number, true)
  }

  /// Forgets the identities from `count` on.
  mutating func truncate(to count: Int) {
    while entries.count > count {
      let last = entries.count - 1
      let hash = IdentityTable.hash(entries[last].tag, identifier(of: last))
      var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
      while slots[slot].number != UInt32(entries.count) { slot = (slot + 1) & (slots.count - 1) }
      slots[slot] = Slot(number: 0, hash: 0)
      bytes.truncate(to: entries.removeLast().start)
    }
  }

  /// Forgets everything; keeps memory of ordinary size.
  mutating func removeAll() {
    if slots.count > 1 << 16 {
      self = IdentityTable()
    } else if entries.count * 16 < slots.count {
      truncate(to: 0)
    } else {
      slots.update(repeating: Slot(number: 0, hash: 0))
      entries.truncate(to: 0)
      bytes.truncate(to: 0)
    }
  }

  /// The slot where an identity is, or would be put.
  @inline(__always)
  private func slot(of hash: UInt32, _ tag: UInt64, _ identifier: UnsafeRawBufferPointer) -> Int {
    var slot = Int(truncatingIfNeeded: hash) & (slots.count &- 1)
    while slots[slot].number != 0 {
      if slots[slot].hash == hash {
        let number = Int(slots[slot].number) &- 1
        if entries[number].tag == tag, compareBytes(self.identifier(of: number), identifier) == 0 {
          return slot
        }
      }
      slot = (slot &+ 1) & (slots.count &- 1)
    }
    return slot
  }

  private mutating func grow() {
    let larger = IdentityTable.makeSlots(slots.count * 2)
    for old in slots where old.number != 0 {
      var slot = Int(truncatingIfNeeded: old.hash) & (larger.count - 1)
      while larger[slot].number != 0 { slot = (slot + 1) & (larger.count - 1) }
      larger[slot] = old
    }
    slots.deallocate()
    slots = larger
  }

  /// Different in each process, so that nobody can prepare identifiers that collide.
  private static let seed = UInt64.random(in: .min ... .max)

  /// Folds eight bytes at a time by a wide multiplication.
  private static func hash(_ tag: UInt64, _ identifier: UnsafeRawBufferPointer) -> UInt32 {
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
    return UInt32(truncatingIfNeeded: mix(hash ^ rest, 0xA076_1D64_78BD_642F))
  }

  @inline(__always)
  private static func mix(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let product = a.multipliedFullWidth(by: b)
    return product.high ^ product.low
  }
}
