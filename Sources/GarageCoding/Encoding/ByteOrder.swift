/// Puts elements in the order of their bytes. The bytes of all elements stand in one piece of memory, and only their places are
/// sorted. Belongs to one coder, which uses it again and again, so that its memory stays.
struct ByteOrder {
  struct Element {
    /// The first eight bytes as a number, zeros behind them: that mostly tells the order.
    fileprivate var prefix: UInt64
    fileprivate var start: Int
    fileprivate var byteCount: Int
    /// The place of the element in its collection.
    let place: Int
  }

  private var bytes = RawStack<UInt8>()
  /// In order once they are sorted.
  private(set) var elements = RawStack<Element>()

  var count: Int { elements.count }

  mutating func removeAll() {
    bytes.removeAll(keeping: 1 << 16)
    elements.removeAll(keeping: 1 << 12)
  }

  @inline(__always)
  mutating func append(_ element: UnsafeRawBufferPointer, at place: Int) {
    let start = bytes.count
    bytes.append(element)
    var prefix: UInt64 = 0
    if element.count >= 8, let base = element.baseAddress {
      prefix = UInt64(bigEndian: base.loadUnaligned(as: UInt64.self))
    } else {
      for index in 0..<element.count { prefix |= UInt64(element[index]) << UInt64(56 - 8 * index) }
    }
    elements.append(Element(prefix: prefix, start: start, byteCount: element.count, place: place))
  }

  /// Adds an element by the composed form of its text. Returns whether the text was composed already.
  mutating func append(_ text: String, at place: Int) -> Bool {
    let isComposed = text.utf8.withContiguousStorageIfAvailable { utf8 in
      let utf8 = UnsafeRawBufferPointer(utf8)
      guard isSurelyComposed(utf8) else { return false }
      append(utf8, at: place)
      return true
    }
    if isComposed == true { return true }
    var composed = composed(text)
    composed.withUTF8 { append(UnsafeRawBufferPointer($0), at: place) }
    return composed.utf8.elementsEqual(text.utf8)
  }

  /// The bytes of an element, until the next change.
  @inline(__always)
  func bytes(of element: Element) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: bytes.base + element.start, count: element.byteCount)
  }

  @inline(__always)
  private func precedes(_ a: Element, _ b: Element) -> Bool {
    a.prefix != b.prefix ? a.prefix < b.prefix : compareBytes(bytes(of: a), bytes(of: b)) < 0
  }

  private func areEqual(_ a: Element, _ b: Element) -> Bool {
    a.prefix == b.prefix && compareBytes(bytes(of: a), bytes(of: b)) == 0
  }

  /// Returns whether there are elements whose bytes are the same; the order among these is arbitrary.
  mutating func sortWithoutTies() -> Bool {
    putInOrder()
    return elements.all.indices.dropFirst().contains { areEqual(elements[$0 - 1], elements[$0]) }
  }

  /// - Parameter tieBytes: gets the places of elements whose bytes are the same, and gives other bytes to order these by.
  /// - Returns: whether there were any.
  mutating func sort(_ tieBytes: ([Int]) throws -> [[UInt8]]) rethrows -> Bool {
    let hasTies = sortWithoutTies()
    if hasTies { try settleTies(tieBytes) }
    return hasTies
  }

  private func putInOrder() {
    let elements = elements.all
    if elements.count < 12 {
      for index in elements.indices.dropFirst() {
        let element = elements[index]
        var target = index
        while target > 0, precedes(element, elements[target - 1]) {
          elements[target] = elements[target - 1]
          target -= 1
        }
        elements[target] = element
      }
    } else {
      var sorted = elements
      sorted.sort { precedes($0, $1) }
    }
  }

  private func settleTies(_ tieBytes: ([Int]) throws -> [[UInt8]]) rethrows {
    let elements = elements.all
    var start = 0
    while start < elements.count {
      var end = start + 1
      while end < elements.count, areEqual(elements[start], elements[end]) { end += 1 }
      if end - start > 1 {
        // In the order of their places, which is that of the collection.
        let run = elements[start..<end].sorted { $0.place < $1.place }
        let keys = try tieBytes(run.map(\.place))
        let sorted = run.indices.sorted { keys[$0].lexicographicallyPrecedes(keys[$1]) }
        for (index, source) in zip(start..<end, sorted) { elements[index] = run[source] }
      }
      start = end
    }
  }
}

extension EncoderPointer {
  /// Runs `body` with an order that is empty.
  @inline(__always)
  func withOrder<R>(_ body: (UnsafeMutablePointer<ByteOrder>) throws -> R) rethrows -> R {
    let order = withCore { $0.takeOrder() }
    defer { withCore { $0.giveBack(order) } }
    return try body(order)
  }
}
