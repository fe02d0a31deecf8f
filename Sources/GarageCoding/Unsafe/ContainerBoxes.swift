/// The keyed containers of one coder, kept by key type for the next value that asks.
///
/// `KeyedEncodingContainer` and its sibling are a class instance behind a struct: making one allocates and looks
/// up metadata, which costs a third of coding a small object. One is handed out again only when nobody holds it
/// any more, and bound to the serial of the frame it is handed out for; a second container of a recursive type,
/// or one that user code kept, gets a fresh one. So no box is ever bound to two frames.
struct ContainerBoxes {
  /// What a key type's containers share. Plain memory: in an array the uniqueness of an element's reference would
  /// depend on that of the array.
  private struct Slot {
    let keys: KeyTablePointer
    let boxes: UnsafeMutablePointer<Box>
    var count = 0

    init(keys: KeyTablePointer) {
      self.keys = keys
      boxes = .allocate(capacity: ContainerBoxes.boxLimit)
    }
  }

  private struct Box {
    /// The instance inside a `KeyedEncodingContainer<Key>` or `KeyedDecodingContainer<Key>`.
    var instance: AnyContainer
    var binding: SerialBinding
  }

  private struct CacheLine {
    var type: TypeAddress?
    var slot: UnsafeMutablePointer<Slot>?
  }

  private static let boxLimit = 4
  private static let lineCount = 128
  private let lines: UnsafeMutablePointer<CacheLine>
  private let slots: UnsafeMutablePointer<[TypeAddress: UnsafeMutablePointer<Slot>]>

  /// Each a ``Handing`` of a keyed container; see there.
  private let encoding: UnsafeMutableRawPointer
  private let decoding: UnsafeMutableRawPointer

  /// Hands out the container in a box, by a function that asks for no metadata.
  ///
  /// `KeyedEncodingContainer<Key>` is a resilient struct: to make one from the instance inside it, generic code looks
  /// its metadata up each time, which costs a tenth of encoding a small object. For one certain `Key` that is not
  /// needed. And a function value that generic code calls has one calling convention whatever the container is, since
  /// that code is compiled once for all of them: so the function made for one key type serves for all. It only moves
  /// a reference, and looks at neither key nor container (Docs/Decisions/0006).
  private struct Handing<Container> {
    let container: (UnsafeMutablePointer<Box>) -> Container

    static func allocate(_ container: @escaping (UnsafeMutablePointer<Box>) -> Container)
      -> UnsafeMutableRawPointer
    {
      let memory = UnsafeMutablePointer<Handing>.allocate(capacity: 1)
      memory.initialize(to: Handing(container: container))
      return UnsafeMutableRawPointer(memory)
    }
  }

  init() {
    encoding = Handing.allocate {
      Reinterpretation.bits(of: $0.pointee.instance, as: KeyedEncodingContainer<PathKey>.self)
    }
    decoding = Handing.allocate {
      Reinterpretation.bits(of: $0.pointee.instance, as: KeyedDecodingContainer<PathKey>.self)
    }
    lines = .allocate(capacity: ContainerBoxes.lineCount)
    lines.initialize(repeating: CacheLine(), count: ContainerBoxes.lineCount)
    slots = .allocate(capacity: 1)
    slots.initialize(to: [:])
  }

  /// A container for the encoder's frame with that serial, which nobody else holds.
  @inline(__always)
  func container<Key: CodingKey>(
    _ type: Key.Type, _ serial: UInt64, _ state: EncoderPointer
  ) -> KeyedEncodingContainer<Key> {
    let slot = slot(type)
    if let box = unusedBox(slot) {
      box.pointee.binding.bind(to: serial)
      return encoding.assumingMemoryBound(to: Handing<KeyedEncodingContainer<Key>>.self).pointee.container(
        box)
    }
    guard let binding = newBinding(slot, serial, size: MemoryLayout<KeyedEncodingContainer<Key>>.size) else {
      return KeyedEncodingContainer(KeyedWriter<Key>(state, slot.pointee.keys, serial: serial))
    }
    let container = KeyedEncodingContainer(KeyedWriter<Key>(state, slot.pointee.keys, binding: binding))
    keep(Reinterpretation.bits(of: container, as: AnyContainer.self), binding, in: slot)
    return container
  }

  /// A container for the decoder's frame with that serial, which nobody else holds.
  @inline(__always)
  func container<Key: CodingKey>(
    _ type: Key.Type, _ serial: UInt64, _ state: DecoderPointer
  ) -> KeyedDecodingContainer<Key> {
    let slot = slot(type)
    if let box = unusedBox(slot) {
      box.pointee.binding.bind(to: serial)
      return decoding.assumingMemoryBound(to: Handing<KeyedDecodingContainer<Key>>.self).pointee.container(
        box)
    }
    guard let binding = newBinding(slot, serial, size: MemoryLayout<KeyedDecodingContainer<Key>>.size) else {
      return KeyedDecodingContainer(KeyedReader<Key>(state, slot.pointee.keys, serial: serial))
    }
    let container = KeyedDecodingContainer(KeyedReader<Key>(state, slot.pointee.keys, binding: binding))
    keep(Reinterpretation.bits(of: container, as: AnyContainer.self), binding, in: slot)
    return container
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

  /// Room for the serial of a container that is to be kept. Nil if enough are kept, so that further ones are used only once;
  /// and if a container is not a single reference, as is expected here.
  @inline(never)
  private func newBinding(
    _ slot: UnsafeMutablePointer<Slot>, _ serial: UInt64, size: Int
  ) -> SerialBinding? {
    guard slot.pointee.count < ContainerBoxes.boxLimit, size == MemoryLayout<AnyContainer>.size else {
      return nil
    }
    return SerialBinding(serial)
  }

  @inline(never)
  private func keep(
    _ instance: AnyContainer, _ binding: SerialBinding, in slot: UnsafeMutablePointer<Slot>
  ) {
    (slot.pointee.boxes + slot.pointee.count).initialize(to: Box(instance: instance, binding: binding))
    slot.pointee.count += 1
  }

  @inline(__always)
  private func slot<Key: CodingKey>(_ type: Key.Type) -> UnsafeMutablePointer<Slot> {
    let address = TypeAddress(type)
    let line = lines + address.line(of: ContainerBoxes.lineCount)
    if line.pointee.type == address, let slot = line.pointee.slot { return slot }
    return fill(line, address, type)
  }

  @inline(never)
  private func fill<Key: CodingKey>(
    _ line: UnsafeMutablePointer<CacheLine>, _ address: TypeAddress, _ type: Key.Type
  ) -> UnsafeMutablePointer<Slot> {
    let slot: UnsafeMutablePointer<Slot>
    if let known = slots.pointee[address] {
      slot = known
    } else {
      slot = .allocate(capacity: 1)
      slot.initialize(to: Slot(keys: KeyTable.make(type)))
      slots.pointee[address] = slot
    }
    line.pointee = CacheLine(type: address, slot: slot)
    return slot
  }
}

/// Stands for the class behind a keyed container, which the standard library keeps to itself: only ever
/// counted, never looked into.
final class AnyContainer {}
