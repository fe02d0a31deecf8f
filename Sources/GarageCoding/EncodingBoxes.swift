/// The keyed containers of one encoder, kept by key type for the next value that asks.
///
/// `KeyedEncodingContainer` is a class instance behind a struct: making one allocates and looks up metadata,
/// which costs a third of encoding a small object. One is handed out again only when nobody holds it any more,
/// and bound to the serial of the frame it is handed out for; a second container of a recursive type, or one
/// that user code kept, gets a fresh one. So no box is ever bound to two frames.
final class EncodingBoxes {
  /// What a key type's containers share.
  private final class Slot {
    let keys: KeyTablePointer
    var boxes: [Box] = []
    init(keys: KeyTablePointer) { self.keys = keys }
  }

  private struct Box {
    /// The instance inside a `KeyedEncodingContainer<Key>`.
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
    lines = .allocate(capacity: EncodingBoxes.lineCount)
    lines.initialize(repeating: CacheLine(), count: EncodingBoxes.lineCount)
  }

  /// The table of a key type.
  @inline(__always)
  func keys<Key: CodingKey>(_ type: Key.Type) -> KeyTablePointer {
    slot(type)._withUnsafeGuaranteedRef { $0.keys }
  }

  /// A container bound to `serial` that nobody else holds.
  @inline(__always)
  func container<Key: CodingKey>(
    _ type: Key.Type, _ serial: UInt64, _ state: EncoderPointer
  ) -> KeyedEncodingContainer<Key> {
    let slot = slot(type)
    return slot._withUnsafeGuaranteedRef { slot in
      for index in slot.boxes.indices where isKnownUniquelyReferenced(&slot.boxes[index].instance) {
        slot.boxes[index].binding.pointee = serial
        return unsafeBitCast(slot.boxes[index].instance, to: KeyedEncodingContainer<Key>.self)
      }
      return add(to: slot, serial, state)
    }
  }

  @inline(never)
  private func add<Key: CodingKey>(
    to slot: Slot, _ serial: UInt64, _ state: EncoderPointer
  ) -> KeyedEncodingContainer<Key> {
    // Whoever keeps a container past the limit has one of its own.
    guard slot.boxes.count < EncodingBoxes.boxLimit,
      MemoryLayout<KeyedEncodingContainer<Key>>.size == MemoryLayout<AnyObject>.size
    else {
      return KeyedEncodingContainer(KeyedWriter<Key>(state, slot.keys, serial: serial, node: nil))
    }
    let binding = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)
    binding.initialize(to: serial)
    let container = KeyedEncodingContainer(KeyedWriter<Key>(state, slot.keys, binding: binding))
    slot.boxes.append(Box(instance: unsafeBitCast(container, to: AnyObject.self), binding: binding))
    return container
  }

  @inline(__always)
  private func slot<Key: CodingKey>(_ type: Key.Type) -> Unmanaged<Slot> {
    let address = unsafeBitCast(type as Any.Type, to: UnsafeRawPointer.self)
    let bits = UInt(bitPattern: address)
    let line = lines + Int(bitPattern: (bits >> 4 ^ bits >> 11) & UInt(EncodingBoxes.lineCount - 1))
    if line.pointee.type == address, let slot = line.pointee.slot { return slot }
    let slot = slots[address] ?? Slot(keys: KeyTable.make(type))
    slots[address] = slot
    line.pointee = CacheLine(type: address, slot: .passUnretained(slot))
    return .passUnretained(slot)
  }
}
