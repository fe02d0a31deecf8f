/// The values of a leaf. Small ones stand in one array, each large one in an array of its own. So copying or shifting the
/// leaf's bytes does not move the large ones.
struct ValueList {
  /// The largest value that stands among others, in bytes.
  static let maximumSmallByteCount = 1024

  /// The small values, with an empty one in the place of each large value.
  private(set) var small = ByteList()
  /// The large values, with nil in the place of each small one. Empty while every value is small.
  private var large: [[UInt8]?] = []

  init() {}

  /// An empty list with room for as many small values as `list` has.
  init(reservingAs list: ValueList) { small = ByteList(reservingAs: list.small) }

  /// The value at `index` if it is a large one.
  func large(at index: Int) -> [UInt8]? { large.isEmpty ? nil : large[index] }

  subscript(index: Int) -> TreeBytes {
    if let bytes = large(at: index) { return TreeBytes(storage: bytes, range: bytes.indices) }
    return TreeBytes(storage: small.bytes, range: small.range(at: index))
  }

  /// The value at `index`, in this list.
  func bytes(at index: Int) -> UnsafeRawBufferPointer {
    if let bytes = large(at: index) { return bytes.withUnsafeBytes { $0 } }
    return small.bytes(at: index)
  }

  /// Puts a value in the place of a small one of equal length. Returns false if that one is not small, or not as long.
  mutating func overwrite(_ value: RawSpan, prefix: UInt8?, at index: Int) -> Bool {
    // An empty small value may stand for a large one.
    prefix == nil && value.byteCount > 0 && small.overwrite(value, at: index)
  }

  /// How many bytes of the leaf's array the first `index` values take.
  func start(of index: Int) -> Int { small.start(of: index) }

  /// Puts a value at `index`: before the value that is there if `isNew`, and otherwise in its place.
  mutating func put(_ value: RawSpan, prefix: UInt8?, at index: Int, isNew: Bool) {
    let isLarge = value.byteCount + (prefix == nil ? 0 : 1) > Self.maximumSmallByteCount
    if isLarge, large.isEmpty { large = Array(repeating: nil, count: small.count) }
    if isNew, isLarge || !large.isEmpty { large.insert(nil, at: index) }
    if !large.isEmpty { large[index] = isLarge ? [UInt8](value, prefix: prefix) : nil }

    let rest = isLarge ? RawSpan() : value
    let restPrefix = isLarge ? nil : prefix
    if isNew {
      small.insert(rest, prefix: restPrefix, at: index)
    } else {
      small.replace(at: index, with: rest, prefix: restPrefix)
    }
  }

  /// Appends the values of entries to a list that has `count` values.
  mutating func append(_ entries: AscendingEntries, behind count: Int) {
    if large.isEmpty, entries.haveSmallValues { return small.appendValues(of: entries) }
    for index in entries.indices {
      put(entries.value(index).bytes, prefix: entries.prefix, at: count + index, isNew: true)
    }
  }

  mutating func remove(_ indices: Range<Int>) {
    small.remove(indices)
    if !large.isEmpty { large.removeSubrange(indices) }
    dropNeedlessList()
  }

  mutating func append(_ other: ValueList) {
    if !large.isEmpty || !other.large.isEmpty {
      large = paddedLarge + other.paddedLarge
    }
    small.append(other.small)
  }

  /// Appends some values of another list.
  mutating func append(_ other: ValueList, _ indices: Range<Int>) {
    if !large.isEmpty || !other.large.isEmpty {
      large = paddedLarge + other.paddedLarge[indices]
      dropNeedlessList()
    }
    small.append(other.small, indices)
  }

  /// Removes the values from `index` on and returns them.
  mutating func splitOff(from index: Int) -> ValueList {
    var rest = ValueList()
    rest.small = small.splitOff(from: index)
    if !large.isEmpty {
      rest.large = Array(large[index...])
      large.removeSubrange(index...)
      rest.dropNeedlessList()
      dropNeedlessList()
    }
    return rest
  }

  private var paddedLarge: [[UInt8]?] {
    large.isEmpty ? Array(repeating: nil, count: small.count) : large
  }

  private mutating func dropNeedlessList() {
    if large.allSatisfy({ $0 == nil }) { large = [] }
  }
}
