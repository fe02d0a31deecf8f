/// The place of the entries of a dictionary, or of the elements of a set, in its memory, to be read there. Through an iterator
/// or an index, each would be copied, its references counted, and its type looked up.
///
/// On Linux the standard library keeps them in one object: counts, then pointers to the keys and to the values, then one bit
/// for each place that tells whether the place is taken (`NativeDictionary.swift`, `HashTable.swift`). That is not guaranteed,
/// so it is checked once. If the check fails, entries are copied to arrays and read from these.
struct HashStorage {
  let keys: UnsafeRawPointer
  /// The values. For a set they are the same as the keys.
  let values: UnsafeRawPointer
  let count: Int
  /// One bit for each place, which tells whether the place is taken; nil if the first `count` places are.
  private let taken: UnsafePointer<UInt>?

  /// Runs `body` with a dictionary's entries.
  @inline(__always)
  static func with<Key, Value, R>(_ dictionary: [Key: Value], _ body: (HashStorage) throws -> R) rethrows -> R
  {
    if let object = Layout.object(dictionary) {
      return try keeping(dictionary) {
        try body(HashStorage(Layout.ofDictionaries, object, dictionary.count))
      }
    }
    return try withCopies(Array(dictionary.keys), Array(dictionary.values), body)
  }

  /// Runs `body` with a set's elements.
  @inline(__always)
  static func with<Element, R>(_ set: Set<Element>, _ body: (HashStorage) throws -> R) rethrows -> R {
    if let object = Layout.object(set) {
      return try keeping(set) { try body(HashStorage(Layout.ofSets, object, set.count)) }
    }
    let elements = Array(set)
    return try withCopies(elements, elements, body)
  }

  /// Runs `body` while the collection is held. It is held by its object, because generic code would have to look up the
  /// collection's type.
  @inline(__always)
  private static func keeping<Collection: Swift.Collection, R>(
    _ collection: Collection, _ body: () throws -> R
  ) rethrows -> R {
    let object = Reinterpretation.bits(of: collection, as: AnyObject.self)
    defer { withExtendedLifetime(object) {} }
    return try body()
  }

  private static func withCopies<Key, Value, R>(
    _ keys: [Key], _ values: [Value], _ body: (HashStorage) throws -> R
  ) rethrows -> R {
    try keys.withUnsafeBytes { keyBytes in
      try values.withUnsafeBytes { valueBytes in
        guard let keyBase = keyBytes.baseAddress, let valueBase = valueBytes.baseAddress else {
          return try body(HashStorage())
        }
        return try body(HashStorage(keys: keyBase, values: valueBase, count: keys.count, taken: nil))
      }
    }
  }

  /// Runs `body` for each taken place.
  @inline(__always)
  func forEachPlace(_ body: (Int) throws -> Void) rethrows {
    guard let taken else {
      for place in 0..<count { try body(place) }
      return
    }
    var left = count
    var word = 0
    while left > 0 {
      // Behind the last place all bits are set, but the loop ends before them.
      var bits = taken[word]
      while bits != 0 && left > 0 {
        try body(word &* UInt.bitWidth &+ bits.trailingZeroBitCount)
        bits &= bits &- 1
        left &-= 1
      }
      word &+= 1
    }
  }
}

extension HashStorage {
  private init() { self.init(keys: Self.nothing, values: Self.nothing, count: 0, taken: nil) }

  nonisolated(unsafe) private static let nothing = UnsafeRawPointer(
    UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1))

  private init(_ layout: Layout, _ object: UnsafeRawPointer, _ count: Int) {
    keys = object.load(fromByteOffset: layout.keys, as: UnsafeRawPointer.self)
    values = object.load(fromByteOffset: layout.values, as: UnsafeRawPointer.self)
    taken = UnsafePointer((object + layout.taken).assumingMemoryBound(to: UInt.self))
    self.count = count
  }

  /// The offsets in the object, in bytes.
  private struct Layout {
    var keys: Int
    var values: Int
    var taken: Int

    static let ofDictionaries = Layout(keys: 48, values: 56, taken: 64)
    static let ofSets = Layout(keys: 48, values: 48, taken: 56)

    /// The object of a collection; nil if its layout is unknown, or if there may be no object.
    @inline(__always)
    static func object<Collection: Swift.Collection>(_ collection: Collection) -> UnsafeRawPointer? {
      guard areAsExpected, MemoryLayout<Collection>.size == MemoryLayout<UnsafeRawPointer>.size,
        !collection.isEmpty
      else { return nil }
      return Reinterpretation.bits(of: collection, as: UnsafeRawPointer.self)
    }

    /// Apple's systems also have other forms of collections, from Objective-C.
    private static let areAsExpected: Bool = {
      #if canImport(ObjectiveC)
        return false
      #else
        guard MemoryLayout<[Int: UInt16]>.size == 8, MemoryLayout<Int>.size == 8 else { return false }
        return [1, 3, 7, 60, 200].allSatisfy { count in
          let dictionary = Dictionary(uniqueKeysWithValues: (0..<count).map { ($0 &* 77, UInt16($0)) })
          let set = Set(dictionary.keys)
          let expected = dictionary.keys.sorted()
          return ofDictionaries.numbers(dictionary, count) == expected
            && ofSets.numbers(set, count) == expected
            && ofDictionaries.areInOrder(dictionary)
        }
      #endif
    }()

    /// The keys, as far as everything is in the expected place.
    private func numbers(_ collection: some Collection, _ count: Int) -> [Int] {
      withExtendedLifetime(collection) {
        let object = Reinterpretation.bits(of: collection, as: UnsafeRawPointer.self)
        guard object.load(fromByteOffset: 16, as: Int.self) == count,
          case let scale = object.load(fromByteOffset: 32, as: Int8.self), 0...20 ~= scale
        else { return [] }
        let placeCount = 1 << Int(scale)
        let keysAt = object.load(fromByteOffset: keys, as: UnsafeRawPointer.self) - object
        let byteCount = taken + (placeCount + 63) / 64 * 8
        guard count < placeCount, keysAt >= byteCount, keysAt < byteCount + 16 else { return [] }
        var numbers: [Int] = []
        HashStorage(self, object, count).forEachPlace { place in
          if place < placeCount {
            numbers.append((object + keysAt).load(fromByteOffset: place * 8, as: Int.self))
          }
        }
        return numbers.sorted()
      }
    }

    /// Whether the values stand in the same order as their keys.
    private func areInOrder(_ dictionary: [Int: UInt16]) -> Bool {
      withExtendedLifetime(dictionary) {
        let storage = HashStorage(
          self, Reinterpretation.bits(of: dictionary, as: UnsafeRawPointer.self), dictionary.count)
        var isInOrder = true
        storage.forEachPlace { place in
          let key = storage.keys.load(fromByteOffset: place * 8, as: Int.self)
          isInOrder =
            isInOrder && storage.values.load(fromByteOffset: place * 2, as: UInt16.self) == dictionary[key]
        }
        return isInOrder
      }
    }
  }
}
