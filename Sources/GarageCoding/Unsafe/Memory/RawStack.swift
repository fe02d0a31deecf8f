internal import CGarage

/// A growing array at a fixed place, without an object around it. The coders' states are plain data; their growing parts need
/// neither reference counts nor checks for exclusive access.
///
/// Copies share their elements, so there must be one owner, which lives for ever or calls ``deallocate()``.
struct RawStack<Element> {
  private(set) var base: UnsafeMutablePointer<Element>
  private(set) var count = 0
  private var capacity = 32

  init() { base = .allocate(capacity: 32) }

  func deallocate() {
    base.deinitialize(count: count)
    base.deallocate()
  }

  var isEmpty: Bool { count == 0 }

  /// The size of its memory, in bytes.
  var byteCapacity: Int { capacity * MemoryLayout<Element>.stride }

  subscript(index: Int) -> Element {
    @inline(__always) unsafeAddress { UnsafePointer(base + index) }
    @inline(__always) nonmutating unsafeMutableAddress { base + index }
  }

  /// The elements, valid until the next change.
  var all: UnsafeMutableBufferPointer<Element> { UnsafeMutableBufferPointer(start: base, count: count) }

  @inline(__always)
  mutating func append(_ element: Element) {
    if count == capacity { grow(by: 1) }
    (base + count).initialize(to: element)
    count &+= 1
  }

  @inline(__always)
  mutating func removeLast() -> Element {
    count &-= 1
    return (base + count).move()
  }

  @inline(__always)
  mutating func truncate(to count: Int) {
    if count < self.count {
      (base + count).deinitialize(count: self.count &- count)
      self.count = count
    }
  }

  /// Removes everything, and gives back memory for more than `limit` elements.
  @inline(__always)
  mutating func removeAll(keeping limit: Int = .max) {
    truncate(to: 0)
    if capacity > limit { shrink(to: limit) }
  }

  @inline(never)
  private mutating func shrink(to limit: Int) {
    base.deallocate()
    capacity = Swift.min(limit, 32)
    base = .allocate(capacity: capacity)
  }

  @inline(never)
  private mutating func grow(by additional: Int) {
    capacity = Swift.max(capacity * 2, count + additional)
    let larger = UnsafeMutablePointer<Element>.allocate(capacity: capacity)
    garage_use_large_pages(larger, capacity * MemoryLayout<Element>.stride)
    larger.moveInitialize(from: base, count: count)
    base.deallocate()
    base = larger
  }
}

extension RawStack {
  @inline(__always)
  mutating func reserve(_ additional: Int) {
    if capacity &- count < additional { grow(by: additional) }
  }
}

extension RawStack<UInt8> {
  @inline(__always)
  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress else { return }
    reserve(bytes.count)
    UnsafeMutableRawPointer(base + count).copyMemory(from: source, byteCount: bytes.count)
    count &+= bytes.count
  }
}
