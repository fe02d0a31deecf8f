/// The keyed containers of one encoder, kept by key type for the next value that asks.
///
/// `KeyedEncodingContainer` is a class instance behind a struct: making one allocates and looks up metadata,
/// which costs a third of encoding a small object. One is handed out again only when nobody holds it any more,
/// and bound to the serial of the frame it is handed out for; a second container of a recursive type, or one
/// that user code kept, gets a fresh one. So no box is ever bound to two frames.
final class EncodingBoxes {
  /// What a key type's containers share.
  /// Plain memory: in an array the uniqueness of an element's reference would depend on that of the array.
  private struct Slot {
    let keys: KeyTablePointer
    let boxes: UnsafeMutablePointer<Box>
    var count = 0

    init(keys: KeyTablePointer) {
      self.keys = keys
      boxes = .allocate(capacity: EncodingBoxes.boxLimit)
    }
  }

  private struct Box {
    /// The instance inside a `KeyedEncodingContainer<Key>`.
    var instance: AnyContainer
    var binding: UnsafeMutablePointer<UInt64>
  }

  private struct CacheLine {
    var type: UnsafeRawPointer?
    var slot: UnsafeMutablePointer<Slot>?
  }

  private static let boxLimit = 4
  private static let lineCount = 128
  private let lines: UnsafeMutablePointer<CacheLine>
  private var slots: [UnsafeRawPointer: UnsafeMutablePointer<Slot>] = [:]

  init() {
    lines = .allocate(capacity: EncodingBoxes.lineCount)
    lines.initialize(repeating: CacheLine(), count: EncodingBoxes.lineCount)
  }

  /// The table of a key type.
  @inline(__always)
  func keys<Key: CodingKey>(_ type: Key.Type) -> KeyTablePointer {
    slot(type).pointee.keys
  }

  /// A container bound to `serial` that nobody else holds.
  @inline(__always)
  func container<Key: CodingKey>(
    _ type: Key.Type, _ serial: UInt64, _ state: EncoderPointer
  ) -> KeyedEncodingContainer<Key> {
    let slot = slot(type)
    if let box = unusedBox(slot) {
      box.pointee.binding.pointee = serial
      return unsafeBitCast(box.pointee.instance, to: KeyedEncodingContainer<Key>.self)
    }
    return add(to: slot, serial, state)
  }

  /// A box that nobody holds. Not inlined: where the optimizer sees the use of the box it takes its reference
  /// before the question is asked, and then no box is ever unused.
  @inline(never)
  private func unusedBox(_ slot: UnsafeMutablePointer<Slot>) -> UnsafeMutablePointer<Box>? {
    var box = slot.pointee.boxes
    let end = box + slot.pointee.count
    while box < end {
      if isKnownUniquelyReferenced(&box.pointee.instance) { return box }
      box += 1
    }
    return nil
  }

  @inline(never)
  private func add<Key: CodingKey>(
    to slot: UnsafeMutablePointer<Slot>, _ serial: UInt64, _ state: EncoderPointer
  ) -> KeyedEncodingContainer<Key> {
    // Whoever keeps a container past the limit has one of its own.
    guard slot.pointee.count < EncodingBoxes.boxLimit,
      MemoryLayout<KeyedEncodingContainer<Key>>.size == MemoryLayout<AnyContainer>.size
    else {
      return KeyedEncodingContainer(KeyedWriter<Key>(state, slot.pointee.keys, serial: serial, node: nil))
    }
    let binding = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)
    binding.initialize(to: serial)
    let container = KeyedEncodingContainer(KeyedWriter<Key>(state, slot.pointee.keys, binding: binding))
    (slot.pointee.boxes + slot.pointee.count).initialize(
      to: Box(instance: unsafeBitCast(container, to: AnyContainer.self), binding: binding))
    slot.pointee.count += 1
    return container
  }

  @inline(__always)
  private func slot<Key: CodingKey>(_ type: Key.Type) -> UnsafeMutablePointer<Slot> {
    let address = unsafeBitCast(type as Any.Type, to: UnsafeRawPointer.self)
    let bits = UInt(bitPattern: address)
    let line = lines + Int(bitPattern: (bits >> 4 ^ bits >> 11) & UInt(EncodingBoxes.lineCount - 1))
    if line.pointee.type == address, let slot = line.pointee.slot { return slot }
    return fill(line, address, type)
  }

  @inline(never)
  private func fill<Key: CodingKey>(
    _ line: UnsafeMutablePointer<CacheLine>, _ address: UnsafeRawPointer, _ type: Key.Type
  ) -> UnsafeMutablePointer<Slot> {
    let slot: UnsafeMutablePointer<Slot>
    if let known = slots[address] {
      slot = known
    } else {
      slot = .allocate(capacity: 1)
      slot.initialize(to: Slot(keys: KeyTable.make(type)))
      slots[address] = slot
    }
    line.pointee = CacheLine(type: address, slot: slot)
    return slot
  }
}

/// Stands for the class behind a keyed container, which the standard library keeps to itself: only ever
/// counted, never looked into.
final class AnyContainer {}
