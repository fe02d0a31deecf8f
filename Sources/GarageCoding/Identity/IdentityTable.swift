internal import CGarage

/// Numbers identities (identity-space tag and identifier bytes) from 0, in the order in which they are met.
///
/// A few are compared one after another. For more, there is open addressing with linear probing over one array of numbers and
/// hash values, so that an identity that is compared is mostly the one looked for. Identifiers of the usual length stand beside
/// their tags, in half a cache line each; longer ones stand one behind the other in an arena. Only the identities noted last
/// can be removed.
struct IdentityTable: ~Copyable {
  private struct Entry {
    var tag: UInt64
    /// The identifier. For a longer one the first number is the place where its bytes begin.
    var identifier: (UInt64, UInt64, UInt32)
    var byteCount: UInt32

    /// How many bytes of identifier an entry has room for.
    static let room = 20
    static let identifierOffset = 8
  }

  private struct Slot {
    /// The number plus one; 0 if the slot is free.
    var number: UInt32
    var hash: UInt32
  }

  private var entries = RawStack<Entry>()
  /// The identifiers that do not stand beside their tags.
  private var bytes = RawStack<UInt8>()
  /// The number of slots is a power of two.
  private var slots: UnsafeMutableBufferPointer<Slot>
  /// Whether there are so many identities that they are in the slots. If not, all slots are free.
  private var isHashed = false
  private static let fewCount = 8

  init() { slots = IdentityTable.makeSlots(64) }

  deinit {
    entries.deallocate()
    bytes.deallocate()
    slots.deallocate()
  }

  private static func makeSlots(_ count: Int) -> UnsafeMutableBufferPointer<Slot> {
    let slots = UnsafeMutableBufferPointer<Slot>.allocate(capacity: count)
    slots.initialize(repeating: Slot(number: 0, hash: 0))
    if let base = slots.baseAddress { garage_use_large_pages(base, count * MemoryLayout<Slot>.stride) }
    return slots
  }

  var count: Int { entries.count }

  /// Makes room for `additional` more.
  mutating func reserve(_ additional: Int) {
    entries.reserve(additional)
    while (entries.count + additional) * 2 > slots.count { grow() }
  }

  @inline(__always)
  func tag(of number: Int) -> UInt64 { entries[number].tag }

  /// The identifier of the identity with that number, valid until the next change.
  @inline(__always)
  func identifier(of number: Int) -> UnsafeRawBufferPointer {
    let entry = UnsafeRawPointer(entries.base + number)
    let byteCount = Int(entries[number].byteCount)
    let start =
      byteCount <= Entry.room
      ? entry + Entry.identifierOffset
      : UnsafeRawPointer(bytes.base) + Int(truncatingIfNeeded: entries[number].identifier.0)
    return UnsafeRawBufferPointer(start: start, count: byteCount)
  }

  func identity(of number: Int) -> RecordIdentity {
    RecordIdentity(tag: tag(of: number), identifier: Identifier(unchecked: Array(identifier(of: number))))
  }

  /// The number of an identity, and whether it is new.
  ///
  /// - Parameter hash: the result of ``prefetch(tag:_:)`` for it.
  mutating func insert(
    tag: UInt64, _ identifier: UnsafeRawBufferPointer, hash: UInt32 = 0
  ) -> (number: Int, isNew: Bool) {
    if !isHashed {
      let number = numberAmongFew(tag, identifier)
      if number >= 0 { return (number, false) }
      if entries.count < IdentityTable.fewCount {
        append(tag, identifier)
        return (entries.count &- 1, true)
      }
      hashAll()
    }
    return insertHashed(tag, identifier, hash != 0 ? hash : self.hash(tag, identifier))
  }

  /// The number of one of few identities; -1 if it is none of them.
  @inline(__always)
  private func numberAmongFew(_ tag: UInt64, _ identifier: UnsafeRawBufferPointer) -> Int {
    // Backwards, because an identity that is named again was mostly named just before.
    var number = entries.count &- 1
    while number >= 0 {
      if entries[number].tag == tag, isSame(self.identifier(of: number), identifier) { return number }
      number &-= 1
    }
    return -1
  }

  @inline(never)
  private mutating func hashAll() {
    isHashed = true
    for number in 0..<entries.count { fill(with: number, hash(entries[number].tag, identifier(of: number))) }
  }

  /// Puts an identity that has no slot into one.
  private func fill(with number: Int, _ hash: UInt32) {
    var slot = Int(truncatingIfNeeded: hash) & (slots.count &- 1)
    while slots[slot].number != 0 { slot = (slot &+ 1) & (slots.count &- 1) }
    slots[slot] = Slot(number: UInt32(number + 1), hash: hash)
  }

  private mutating func insertHashed(
    _ tag: UInt64, _ identifier: UnsafeRawBufferPointer, _ hash: UInt32
  ) -> (number: Int, isNew: Bool) {
    let slot = slot(of: hash, tag, identifier)
    if slots[slot].number != 0 { return (Int(slots[slot].number) - 1, false) }
    let number = entries.count
    append(tag, identifier)
    slots[slot] = Slot(number: UInt32(number + 1), hash: hash)
    if entries.count * 2 > slots.count { grow() }
    return (number, true)
  }

  private mutating func append(_ tag: UInt64, _ identifier: UnsafeRawBufferPointer) {
    var entry = Entry(
      tag: tag, identifier: (0, 0, 0), byteCount: UInt32(truncatingIfNeeded: identifier.count))
    if identifier.count > Entry.room {
      entry.identifier.0 = UInt64(truncatingIfNeeded: bytes.count)
      bytes.append(identifier)
      entries.append(entry)
    } else {
      entries.append(entry)
      if let source = identifier.baseAddress {
        (UnsafeMutableRawPointer(entries.base + (entries.count - 1)) + Entry.identifierOffset)
          .copyShort(from: source, identifier.count)
      }
    }
  }

  /// Prefetches the memory where an identity will be looked up, and returns its hash; 0 if none is needed.
  @inline(__always)
  func prefetch(tag: UInt64, _ identifier: UnsafeRawBufferPointer) -> UInt32 {
    if !isHashed { return 0 }
    let hash = hash(tag, identifier)
    garage_prefetch(slots.baseAddress.unsafelyUnwrapped + Int(truncatingIfNeeded: hash) & (slots.count &- 1))
    return hash
  }

  /// Removes the identities from `count` on.
  mutating func truncate(to count: Int) {
    while entries.count > count {
      if isHashed { freeSlotOfLast() }
      let entry = entries.removeLast()
      if Int(entry.byteCount) > Entry.room { bytes.truncate(to: Int(truncatingIfNeeded: entry.identifier.0)) }
    }
  }

  /// Frees the slot of the identity noted last, and moves those behind it that could not be found past a free slot.
  private func freeSlotOfLast() {
    let mask = slots.count &- 1
    let last = entries.count &- 1
    var free = Int(truncatingIfNeeded: hash(entries[last].tag, identifier(of: last))) & mask
    while slots[free].number != UInt32(entries.count) { free = (free &+ 1) & mask }
    var slot = (free &+ 1) & mask
    while slots[slot].number != 0 {
      let home = Int(truncatingIfNeeded: slots[slot].hash) & mask
      if (slot &- home) & mask >= (slot &- free) & mask {
        slots[free] = slots[slot]
        free = slot
      }
      slot = (slot &+ 1) & mask
    }
    slots[free] = Slot(number: 0, hash: 0)
  }

  /// Removes everything. Memory of ordinary size is kept.
  mutating func removeAll() {
    if slots.count > 1 << 16 {
      self = IdentityTable()
      return
    }
    if isHashed {
      if entries.count * 16 < slots.count {
        truncate(to: 0)
      } else {
        slots.update(repeating: Slot(number: 0, hash: 0))
      }
      isHashed = false
    }
    entries.truncate(to: 0)
    bytes.truncate(to: 0)
  }

  /// The slot that has an identity, or in which it would be put.
  @inline(__always)
  private func slot(of hash: UInt32, _ tag: UInt64, _ identifier: UnsafeRawBufferPointer) -> Int {
    var slot = Int(truncatingIfNeeded: hash) & (slots.count &- 1)
    while slots[slot].number != 0 {
      if slots[slot].hash == hash {
        let number = Int(slots[slot].number) &- 1
        if entries[number].tag == tag, isSame(self.identifier(of: number), identifier) { return slot }
      }
      slot = (slot &+ 1) & (slots.count &- 1)
    }
    return slot
  }

  @inline(__always)
  private func isSame(_ known: UnsafeRawBufferPointer, _ identifier: UnsafeRawBufferPointer) -> Bool {
    guard known.count == identifier.count else { return false }
    guard let known = known.baseAddress, let other = identifier.baseAddress else { return true }
    return known.isSame(as: other, identifier.count)
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

  /// It differs in each process, so that nobody can prepare identifiers that collide.
  private static let processSeed = UInt64.random(in: .min ... .max)
  /// A copy beside its use, because looking up a global takes a call.
  private let seed = processSeed

  /// Folds eight bytes at a time by a wide multiplication. Some of the last eight may be folded twice.
  private func hash(_ tag: UInt64, _ identifier: UnsafeRawBufferPointer) -> UInt32 {
    let count = identifier.count
    var hash = mix(tag ^ seed, 0x9E37_79B9_7F4A_7C15 ^ UInt64(truncatingIfNeeded: count))
    var rest: UInt64 = 0
    if let base = identifier.baseAddress {
      if count >= 8 {
        var offset = 0
        while offset < count &- 8 {
          hash = mix(hash ^ base.bits(at: offset, as: UInt64.self), 0xD6E8_FEB8_6659_FD93)
          offset &+= 8
        }
        rest = base.bits(at: count &- 8, as: UInt64.self)
      } else {
        for offset in 0..<count { rest = rest << 8 | UInt64(base.byte(at: offset)) }
      }
    }
    return UInt32(truncatingIfNeeded: mix(hash ^ rest, 0xA076_1D64_78BD_642F))
  }

  @inline(__always)
  private func mix(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let product = a.multipliedFullWidth(by: b)
    return product.high ^ product.low
  }
}
