/// The keyed containers of one coder, kept by key type for later values.
///
/// `KeyedEncodingContainer` and `KeyedDecodingContainer` are a class instance inside a struct. Making one allocates and looks
/// up metadata, which costs a third of coding a small object. A kept container is given out again only when nobody holds it any
/// more, and it is bound to the serial of the frame it is given out for. A second container of a recursive type gets a new one,
/// and so does the next value when user code kept one. So no box is ever bound to two frames.
struct ContainerBoxes {
  /// What the containers of a key type share. It is plain memory: in an array, whether a reference in an element is unique
  /// would also depend on the references to the array.
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

  /// Each is a ``Handing`` of a keyed container, which says more.
  private let encoding: UnsafeMutableRawPointer
  private let decoding: UnsafeMutableRawPointer

  /// Gives out the container in a box by a function that needs no metadata.
  ///
  /// `KeyedEncodingContainer<Key>` is a resilient struct. To make one from the instance inside it, generic code looks up its
  /// metadata each time, which costs a tenth of encoding a small object. For one fixed `Key` no look-up is needed. Generic code
  /// is compiled once for all containers, so a function value that it calls has the same calling convention whatever the
  /// container is. Therefore the function made for one key type works for all of them. It only moves a reference, and uses
  /// neither key nor container (Docs/Decisions/0006).
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

  /// A container for the encoder's frame with that serial. Nobody else holds it.
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

  /// A container for the decoder's frame with that serial. Nobody else holds it.
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

  /// What is known of a key type.
  @inline(__always)
  func keys<Key: CodingKey>(_ type: Key.Type) -> KeyTablePointer { slot(type).pointee.keys }

  /// A box that nobody holds. Not inlined: if the optimizer sees how the box is used, it takes the box's reference before the
  /// check, and then no box ever counts as unused.
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

  /// Room for the serial of a container that is to be kept. Nil if enough containers are kept, so that more are used only once,
  /// and if a container is not a single reference, as this code expects.
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

/// Stands for the class behind a keyed container, which is private to the standard library. Its references are only counted;
/// nothing in it is accessed.
final class AnyContainer {}
