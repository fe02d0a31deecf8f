/// A stack whose elements do not move, so that their addresses stay valid.
struct PlaceStack<Element> {
  private static var chunkSize: Int { 32 }
  private var chunks = RawStack<UnsafeMutablePointer<Element>>()
  private(set) var count = 0

  /// Adds an element. It must not hold anything that has to be released.
  @inline(__always)
  mutating func push(_ element: Element) -> UnsafeMutablePointer<Element> {
    let chunk = count / Self.chunkSize
    if chunk == chunks.count { chunks.append(.allocate(capacity: Self.chunkSize)) }
    let place = chunks[chunk] + count % Self.chunkSize
    place.initialize(to: element)
    count &+= 1
    return place
  }

  @inline(__always)
  mutating func pop() { count &-= 1 }

  /// The place of an element.
  @inline(__always)
  subscript(index: Int) -> UnsafeMutablePointer<Element> {
    chunks[index / Self.chunkSize] + index % Self.chunkSize
  }

  @inline(__always)
  mutating func truncate(to count: Int) { self.count = Swift.min(self.count, count) }
}
