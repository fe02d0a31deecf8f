/// The keyed containers of one decoder, kept by key type; see ``EncodingBoxes``.
final class DecodingBoxes {
  /// Plain memory: in an array the uniqueness of an element's reference would depend on that of the array.
  private struct Slot {
    let keys: KeyTablePointer
    let boxes: UnsafeMutablePointer<Box>
    var count = 0

    init(keys: KeyTablePointer) {
      self.keys = keys
      boxes = .allocate(capacity: DecodingBoxes.boxLimit)
    }
  }

  private struct Box {
    /// The instance inside a `KeyedDecodingContainer<Key>`.
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
    lines = .allocate(capacity: DecodingBoxes.lineCount)
    lines.initialize(repeating: CacheLine(), count: DecodingBoxes.lineCount)
  }

  /// The table of a key type.
  func keys<Key: CodingKey>(_ type: Key.Type) -> KeyTablePointer {
    slot(type).pointee.keys
  }

  /// A container bound to `serial` that nobody else holds.
  @inline(__always)
  func container<Key: CodingKey>(
    _ type: Key.Type, _ serial: UInt64, _ state: DecoderPointer
  ) -> KeyedDecodingContainer<Key> {
    let slot = slot(type)
    if let box = unusedBox(slot) {
      box.pointee.binding.pointee = serial
      return unsafeBitCast(box.pointee.instance, to: KeyedDecodingContainer<Key>.self)
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
    to slot: UnsafeMutablePointer<Slot>, _ serial: UInt64, _ state: DecoderPointer
  ) -> KeyedDecodingContainer<Key> {
    guard slot.pointee.count < DecodingBoxes.boxLimit,
      MemoryLayout<KeyedDecodingContainer<Key>>.size == MemoryLayout<AnyContainer>.size
    else {
      return KeyedDecodingContainer(KeyedReader<Key>(state, slot.pointee.keys, serial: serial, node: nil))
    }
    let binding = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)
    binding.initialize(to: serial)
    let container = KeyedDecodingContainer(KeyedReader<Key>(state, slot.pointee.keys, binding: binding))
    (slot.pointee.boxes + slot.pointee.count).initialize(
      to: Box(instance: unsafeBitCast(container, to: AnyContainer.self), binding: binding))
    slot.pointee.count += 1
    return container
  }

  @inline(__always)
  private func slot<Key: CodingKey>(_ type: Key.Type) -> UnsafeMutablePointer<Slot> {
    let address = unsafeBitCast(type as Any.Type, to: UnsafeRawPointer.self)
    let bits = UInt(bitPattern: address)
    let line = lines + Int(bitPattern: (bits >> 4 ^ bits >> 11) & UInt(DecodingBoxes.lineCount - 1))
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
