/// The address of the part of a ``KeyTable`` that coders use for every field, and the only way to it.
///
/// It is never freed, because containers that user code keeps may still refer to it. One thread at a time uses the coder that
/// the table belongs to, so nobody else changes it.
struct KeyTablePointer: Equatable {
  private let address: UnsafeMutablePointer<KeyTableHead>

  /// Puts a head into its place, for the life of the process.
  init(keeping head: KeyTableHead) {
    address = .allocate(capacity: 1)
    address.initialize(to: head)
  }

  /// Whether one byte tells the keys apart.
  @inline(__always)
  var isByte: Bool { address.pointee.isByte }

  /// Whether the key with a discriminator was noted.
  @inline(__always)
  func hasNoted(_ discriminator: UInt8) -> Bool { address.pointee.noted[Int(discriminator)] != 0 }

  /// Notes a key, so that its text is known.
  func note(_ key: any CodingKey, _ discriminator: UInt8) {
    table.note(key, discriminator)
    address.pointee.noted[Int(discriminator)] = 1
  }

  var table: KeyTable { address.pointee.table.object }

  /// The key with this text, as coding paths name it; nil if the type has none.
  func pathKey(_ text: String) -> (any CodingKey)? {
    let discriminator = discriminator(of: text)
    return discriminator < 0 ? table.type.init(stringValue: text) : table.keys[discriminator]
  }

  /// The discriminator of the key with this text; -1 if no such key was noted.
  func discriminator(of text: UnsafeRawBufferPointer) -> Int {
    address.pointee.table.with { $0.discriminator(of: text) }
  }

  /// The same for a text given as a string.
  func discriminator(of text: String) -> Int {
    var text = text
    return text.withUTF8 { discriminator(of: UnsafeRawBufferPointer($0)) }
  }

  /// An array of one key, the same one each time: making a new one costs an allocation and look-ups of metadata.
  func array<Key: CodingKey>(ofOnly discriminator: UInt8, _: Key.Type) -> [Key] {
    address.pointee.table.with { table in
      if table.arrays.isEmpty { table.arrays = Array(repeating: nil, count: 256) }
      if let kept = table.arrays[Int(discriminator)] { return kept.array(of: Key.self) }
      let array = [key(discriminator, as: Key.self)]
      table.arrays[Int(discriminator)] = KeptArray(array)
      return array
    }
  }

  /// An array of keys, by their discriminators. If these are the same as the last time, it is the same array.
  func array<Key: CodingKey>(of discriminators: UnsafeBufferPointer<UInt8>, _: Key.Type) -> [Key] {
    address.pointee.table.with { table in
      let count = discriminators.count
      if let kept = table.lastArray, table.lastKeys.count == count,
        table.lastKeys.withUnsafeBytes({ compareBytes($0, UnsafeRawBufferPointer(discriminators)) == 0 })
      {
        return kept.array(of: Key.self)
      }
      // All empty arrays share their memory.
      if count == 0 { return [] }
      let array = [Key](unsafeUninitializedCapacity: count) { keys, initialized in
        for place in 0..<count {
          keys.initializeElement(at: place, to: key(discriminators[place], as: Key.self))
        }
        initialized = count
      }
      table.lastKeys = Array(discriminators)
      table.lastArray = KeptArray(array)
      return array
    }
  }

  /// The discriminators of the keys of a shape, in its order; nil if one of the keys was not met yet, or stands there twice.
  func discriminators(of shape: Permanent<Shape>) -> UnsafeBufferPointer<UInt8>? {
    if address.pointee.lastListed == shape.address { return address.pointee.listed }
    guard let listed = table.discriminators(of: shape) else { return nil }
    address.pointee.lastListed = shape.address
    address.pointee.listed = listed
    return listed
  }

  /// The text of a key that was noted.
  func text(_ discriminator: UInt8) -> UnsafeRawBufferPointer {
    address.pointee.table.with { $0.texts[Int(discriminator)] }
  }

  /// What is said where the key with a discriminator has no value. It is put together once: a type that tries one type after the
  /// other never reads it.
  func text(ofMissing discriminator: UInt8, _ make: () -> String) -> String {
    address.pointee.table.with { table in
      if table.missingTexts.isEmpty { table.missingTexts = Array(repeating: nil, count: 256) }
      if let text = table.missingTexts[Int(discriminator)] { return text }
      let text = make()
      table.missingTexts[Int(discriminator)] = text
      return text
    }
  }

  /// For encoding: the shape of the first `count` cases, in order; nil until it was made.
  @inline(__always)
  subscript(shapeOfFirst count: Int) -> Permanent<Shape>? {
    get { address.pointee.prefixShapes[count] }
    nonmutating set { address.pointee.prefixShapes[count] = newValue }
  }

  /// For decoding: the positions of the fields of a shape.
  @inline(__always)
  func fields(of shape: Permanent<Shape>?) -> FieldMap {
    let shapeAddress = shape?.address
    if let known = address.pointee.lastFields, address.pointee.lastShape == shapeAddress { return known }
    let fields = table.fields(of: shape)
    address.pointee.lastFields = fields
    address.pointee.lastShape = shapeAddress
    return fields
  }
}

/// The part of a ``KeyTable`` that coders use for every field: plain data at a fixed address.
struct KeyTableHead {
  /// Whether the type is an enum of at most 256 cases without payload. The one byte of a key (none for a single case) is then
  /// its discriminator: cases are numbered from 0 in the order of their declaration. A struct of one byte looks the same in
  /// memory, but does not count, because its values have no order.
  let isByte: Bool
  /// For each discriminator, 1 if its key was noted.
  let noted: UnsafeMutablePointer<UInt8>
  let table: Permanent<KeyTable>
  /// For encoding: the shapes of the first n cases, in order, by n.
  let prefixShapes: UnsafeMutablePointer<Permanent<Shape>?>
  /// For decoding: the shape that was met last, and the positions of its fields.
  var lastShape: UnsafeMutableRawPointer?
  var lastFields: FieldMap?
  /// The shape whose keys were listed last, and their discriminators.
  var lastListed: UnsafeMutableRawPointer?
  var listed = UnsafeBufferPointer<UInt8>(start: nil, count: 0)

  init(isByte: Bool, table: Permanent<KeyTable>) {
    self.isByte = isByte
    self.table = table
    noted = .allocate(capacity: 256)
    noted.initialize(repeating: 0, count: 256)
    prefixShapes = .allocate(capacity: 257)
    prefixShapes.initialize(repeating: nil, count: 257)
  }
}

/// For each discriminator of a key type, the position of its field in one shape, or that the position is unknown or the field
/// missing.
struct FieldMap {
  static let unknown: Int32 = -1
  static let missing: Int32 = -2

  private let positions: UnsafeMutablePointer<Int32>

  /// A map for the life of the process, in which every position is `position`.
  init(repeating position: Int32) {
    positions = .allocate(capacity: 256)
    positions.initialize(repeating: position, count: 256)
  }

  @inline(__always)
  subscript(discriminator: UInt8) -> Int32 {
    get { positions[Int(discriminator)] }
    nonmutating set { positions[Int(discriminator)] = newValue }
  }
}

/// The key with a discriminator, for a type whose table has `isByte`.
@inline(__always)
func key<Key: CodingKey>(_ discriminator: UInt8, as type: Key.Type) -> Key {
  MemoryLayout<Key>.size == 0
    ? Reinterpretation.bits(of: (), as: Key.self) : Reinterpretation.bits(of: discriminator, as: Key.self)
}

/// The discriminator of a key, for a type whose table has `isByte`.
@inline(__always)
func discriminator<Key: CodingKey>(of key: Key) -> UInt8 {
  MemoryLayout<Key>.size == 0 ? 0 : Reinterpretation.bits(of: key, as: UInt8.self)
}
