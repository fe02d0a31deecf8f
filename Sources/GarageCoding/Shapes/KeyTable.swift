/// The part of a ``KeyTable`` that coders touch for every field: plain data at a fixed address.
struct KeyTableHead {
  /// Whether the type is an enum of at most 256 cases without payload: then a key's one byte (none for a
  /// single case) is its discriminator, cases being numbered from 0 in the order of their declaration.
  /// A struct of one byte looks the same in memory, but its values have no order: it does not count.
  let isByte: Bool
  /// For each discriminator, 1 once its key was noted.
  let noted: UnsafeMutablePointer<UInt8>
  let table: Unmanaged<KeyTable>
  /// For encoding: the shapes of the first n cases, in order, by n.
  let prefixShapes: UnsafeMutablePointer<Unmanaged<Shape>?>
  /// For decoding: the shape met last and where its fields are.
  var lastShape: UnsafeMutableRawPointer?
  var lastFields: FieldMap?
}

/// For each discriminator of a key type the position of its field in one shape, or one of the two below.
typealias FieldMap = UnsafeMutablePointer<Int32>
let fieldUnknown: Int32 = -1
let fieldMissing: Int32 = -2

typealias KeyTablePointer = UnsafeMutablePointer<KeyTableHead>

/// What a coder knows of one `CodingKey` type: whether a key is told by one byte, and its texts.
///
/// Belongs to one coder, which one thread uses at a time, and lives as long as the process.
final class KeyTable {
  /// The keys met so far, by discriminator.
  private(set) var keys: [(any CodingKey)?]

  private init(isByte: Bool) {
    keys = isByte ? Array(repeating: nil, count: 256) : []
  }

  /// Makes the table of a key type. It is never freed: containers that user code keeps may still name it.
  static func make<Key: CodingKey>(_: Key.Type) -> KeyTablePointer {
    let isByte = MemoryLayout<Key>.size <= 1 && isEnum(Key.self)
    let noted = UnsafeMutablePointer<UInt8>.allocate(capacity: 256)
    noted.initialize(repeating: 0, count: 256)
    let prefixShapes = UnsafeMutablePointer<Unmanaged<Shape>?>.allocate(capacity: 257)
    prefixShapes.initialize(repeating: nil, count: 257)
    let head = KeyTablePointer.allocate(capacity: 1)
    head.initialize(
      to: KeyTableHead(
        isByte: isByte, noted: noted, table: .passRetained(KeyTable(isByte: isByte)),
        prefixShapes: prefixShapes))
    return head
  }

  /// The kind is the first word of a type's metadata (Swift ABI, `MetadataKind`: 0x201 is an enum).
  private static func isEnum(_ type: Any.Type) -> Bool {
    unsafeBitCast(type, to: UnsafePointer<UInt>.self).pointee == 0x201
  }

  func note(_ key: any CodingKey, _ discriminator: UInt8) { keys[Int(discriminator)] = key }

  /// The shape of the first `count` cases. All of them were noted.
  func prefixShape(_ count: Int) throws -> Unmanaged<Shape> {
    try ShapeRegistry.shape(keys: keys[..<count].map { $0?.stringValue ?? "" })
  }

  /// The shape `base` followed by the first `count` cases: a subclass's keys behind its superclass's.
  func shape(after base: Unmanaged<Shape>, _ count: Int) throws -> Unmanaged<Shape> {
    let key = Combination(base: base.toOpaque(), count: count)
    if let shape = combinations[key] { return shape }
    let all = base.takeUnretainedValue().keys + keys[..<count].map { $0?.stringValue ?? "" }
    let shape = try ShapeRegistry.shape(keys: all)
    combinations[key] = shape
    return shape
  }

  /// Where the fields of `shape` are, by discriminator; filled in as keys are asked for.
  func fields(of shape: Unmanaged<Shape>?) -> FieldMap {
    let address = shape?.toOpaque()
    if let known = fieldMaps[address] { return known }
    let map = FieldMap.allocate(capacity: 256)
    map.initialize(repeating: shape == nil ? fieldMissing : fieldUnknown, count: 256)
    fieldMaps[address] = map
    return map
  }
  private var fieldMaps: [UnsafeMutableRawPointer?: FieldMap] = [:]

  private struct Combination: Hashable {
    var base: UnsafeMutableRawPointer
    var count: Int
  }
  private var combinations: [Combination: Unmanaged<Shape>] = [:]
}

/// The discriminator of a key whose type's table says `isByte`.
@inline(__always)
func discriminator<Key: CodingKey>(of key: Key) -> UInt8 {
  MemoryLayout<Key>.size == 0 ? 0 : unsafeBitCast(key, to: UInt8.self)
}
