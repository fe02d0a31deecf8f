/// What a coder knows about one `CodingKey` type: whether one byte tells its keys apart, and their texts.
///
/// It belongs to one coder, which one thread uses at a time, and lives as long as the process.
final class KeyTable {
  /// The keys met so far, by discriminator.
  @exclusivity(unchecked) private(set) var keys: [(any CodingKey)?]

  /// The key type.
  let type: any CodingKey.Type

  private init(_ type: any CodingKey.Type, isByte: Bool) {
    self.type = type
    keys = isByte ? Array(repeating: nil, count: 256) : []
    texts = isByte ? Array(repeating: UnsafeRawBufferPointer(start: nil, count: 0), count: 256) : []
  }

  /// Makes the table of a key type. It is never freed, because containers that user code keeps may still refer to it.
  static func make<Key: CodingKey>(_: Key.Type) -> KeyTablePointer {
    let isByte = MemoryLayout<Key>.size <= 1 && isEnum(Key.self)
    return KeyTablePointer(
      keeping: KeyTableHead(isByte: isByte, table: Permanent(keeping: KeyTable(Key.self, isByte: isByte))))
  }

  private static func isEnum(_ type: Any.Type) -> Bool { TypeAddress(type).kindWord == 0x201 }

  /// The texts of the keys, which are kept for good, and the discriminators of the keys in the order in which they were met.
  @exclusivity(unchecked) private(set) var texts: [UnsafeRawBufferPointer]
  @exclusivity(unchecked) private(set) var noted: [UInt8] = []

  func note(_ key: any CodingKey, _ discriminator: UInt8) {
    if keys[Int(discriminator)] != nil { return }
    keys[Int(discriminator)] = key
    texts[Int(discriminator)] = .keeping(Array(key.stringValue.utf8))
    noted.append(discriminator)
  }

  /// What is said where a key has no value, by discriminator; those that were wanted.
  @exclusivity(unchecked) var missingTexts: [String?] = []

  /// The arrays of one key that were asked for, by discriminator. They are kept for good.
  @exclusivity(unchecked) var arrays: [KeptArray?] = []

  /// The last array of several keys that was asked for, and the discriminators of these keys.
  @exclusivity(unchecked) var lastArray: KeptArray?
  @exclusivity(unchecked) var lastKeys: [UInt8] = []

  /// The discriminators of the keys of a shape, kept for good; nil if one of the keys was not met yet, or stands there twice.
  func discriminators(of shape: Permanent<Shape>) -> UnsafeBufferPointer<UInt8>? {
    if let known = listed[shape.address] { return known }
    let all = shape.object.keys.map { text in
      var text = text
      return text.withUTF8 { discriminator(of: UnsafeRawBufferPointer($0)) }
    }
    guard shape.object.earlierPositions.isEmpty, all.allSatisfy({ $0 >= 0 }) else { return nil }
    let kept = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: all.count)
    _ = kept.initialize(from: all.map { UInt8($0) })
    listed[shape.address] = UnsafeBufferPointer(kept)
    return UnsafeBufferPointer(kept)
  }
  private var listed: [UnsafeMutableRawPointer: UnsafeBufferPointer<UInt8>] = [:]

  /// The discriminator of the key with this text; -1 if no such key was met.
  func discriminator(of text: UnsafeRawBufferPointer) -> Int {
    for discriminator in noted {
      let known = texts[Int(discriminator)]
      if known.count == text.count, compareBytes(known, text) == 0 { return Int(discriminator) }
    }
    return -1
  }

  /// The shape of the first `count` cases, all of which must have been noted.
  func prefixShape(_ count: Int) throws -> Permanent<Shape> {
    try ShapeRegistry.shape(keys: keys[..<count].map { $0?.stringValue ?? "" })
  }

  /// The shape `base` followed by the first `count` cases: the keys of a subclass behind those of its superclass.
  func shape(after base: Permanent<Shape>, _ count: Int) throws -> Permanent<Shape> {
    let key = Combination(base: base.address, count: count)
    if let shape = combinations[key] { return shape }
    let all = base.object.keys + keys[..<count].map { $0?.stringValue ?? "" }
    let shape = try ShapeRegistry.shape(keys: all)
    combinations[key] = shape
    return shape
  }

  /// The positions of the fields of `shape`, by discriminator. They are filled in as keys are asked for.
  func fields(of shape: Permanent<Shape>?) -> FieldMap {
    let address = shape?.address
    if let known = fieldMaps[address] { return known }
    let map = FieldMap(repeating: shape == nil ? FieldMap.missing : FieldMap.unknown)
    fieldMaps[address] = map
    return map
  }
  private var fieldMaps: [UnsafeMutableRawPointer?: FieldMap] = [:]

  private struct Combination: Hashable {
    var base: UnsafeMutableRawPointer
    var count: Int
  }
  private var combinations: [Combination: Permanent<Shape>] = [:]
}
