/// The keyed containers of one decoder, kept by key type; see ``EncodingBoxes``.
final class DecodingBoxes {
  private final class Slot {
    let keys: KeyTablePointer
    var boxes: [Box] = []
    init(keys: KeyTablePointer) { self.keys = keys }
  }

  private struct Box {
    /// The instance inside a `KeyedDecodingContainer<Key>`.
    var instance: AnyObject
    var binding: UnsafeMutablePointer<UInt64>
  }

  private struct CacheLine {
    var type: UnsafeRawPointer?
    var slot: Unmanaged<Slot>?
  }

  private static let boxLimit = 4
  private static let lineCount = 128
  private let lines: UnsafeMutablePointer<CacheLine>
  private var slots: [UnsafeRawPointer: Slot] = [:]

  init() {
    lines = .allocate(capacity: DecodingBoxes.lineCount)
    lines.initialize(repeating: CacheLine(), count: DecodingBoxes.lineCount)
  }

  /// The table of a key type.
  func keys<Key: CodingKey>(_ type: Key.Type) -> KeyTablePointer {
    slot(type)._withUnsafeGuaranteedRef { $0.keys }
  }

  /// A container bound to `serial` that nobody else holds.
  @inline(__always)
  func container<Key: CodingKey>(
    _ type: Key.Type, _ serial: UInt64, _ state: DecoderPointer
  ) -> KeyedDecodingContainer<Key> {
    let slot = slot(type)
    return slot._withUnsafeGuaranteedRef { slot in
      for index in slot.boxes.indices where isKnownUniquelyReferenced(&slot.boxes[index].instance) {
        slot.boxes[index].binding.pointee = serial
        return unsafeBitCast(slot.boxes[index].instance, to: KeyedDecodingContainer<Key>.self)
      }
      return add(to: slot, serial, state)
    }
  }

  @inline(never)
  private func add<Key: CodingKey>(
    to slot: Slot, _ serial: UInt64, _ state: DecoderPointer
  ) -> KeyedDecodingContainer<Key> {
    guard slot.boxes.count < DecodingBoxes.boxLimit,
      MemoryLayout<KeyedDecodingContainer<Key>>.size == MemoryLayout<AnyObject>.size
    else {
      return KeyedDecodingContainer(KeyedReader<Key>(state, slot.keys, serial: serial, node: nil))
    }
    let binding = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)
    binding.initialize(to: serial)
    let container = KeyedDecodingContainer(KeyedReader<Key>(state, slot.keys, binding: binding))
    slot.boxes.append(Box(instance: unsafeBitCast(container, to: AnyObject.self), binding: binding))
    return container
  }

  @inline(__always)
  private func slot<Key: CodingKey>(_ type: Key.Type) -> Unmanaged<Slot> {
    let address = unsafeBitCast(type as Any.Type, to: UnsafeRawPointer.self)
    let bits = UInt(bitPattern: address)
    let line = lines + Int(bitPattern: (bits >> 4 ^ bits >> 11) & UInt(DecodingBoxes.lineCount - 1))
    if line.pointee.type == address, let slot = line.pointee.slot { return slot }
    let slot = slots[address] ?? Slot(keys: KeyTable.make(type))
    slots[address] = slot
    line.pointee = CacheLine(type: address, slot: .passUnretained(slot))
    return .passUnretained(slot)
  }
}
