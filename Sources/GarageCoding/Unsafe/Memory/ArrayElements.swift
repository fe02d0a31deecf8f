/// The place of the elements of an array, to be read there while somebody else holds the array. Generic code that finds out the
/// type of the elements and takes the array itself would count its references up and down.
///
/// The layout of an array's memory is part of the standard library's binary interface, because code that uses it is compiled
/// into clients: an object with the count behind its header, and the elements behind the capacity. That this is so is checked
/// once. If the check fails, arrays are read in the usual way.
struct ArrayElements {
  private static let countOffset = 2 * MemoryLayout<Int>.size
  private static let elementsOffset = 4 * MemoryLayout<Int>.size

  /// Whether the arrays of this program have that layout. Stored beside its use, because looking up a global takes a call.
  let areKnown = ArrayElements.areAsExpected

  /// Runs `body` with the elements of a value. The value is of a generic type that was found to be an array of `Element`. The
  /// alignment of `Element` is at most an integer's.
  @inline(__always)
  func with<T, Element, R>(
    _ value: T, of type: Element.Type, _ body: (UnsafeBufferPointer<Element>) throws -> R
  ) rethrows -> R {
    assert(T.self == [Element].self, "\(T.self) was taken for an array of \(type)")
    if areKnown {
      return try body(Self.elements(Reinterpretation.bits(of: value, as: UnsafeRawPointer.self)))
    }
    return try Reinterpretation.same(value, as: [Element].self).withUnsafeBufferPointer(body)
  }

  @inline(__always)
  private static func elements<Element>(_ object: UnsafeRawPointer) -> UnsafeBufferPointer<Element> {
    UnsafeBufferPointer(
      start: (object + elementsOffset).assumingMemoryBound(to: Element.self),
      count: object.load(fromByteOffset: countOffset, as: Int.self))
  }

  private static let areAsExpected: Bool = {
    #if canImport(ObjectiveC)
      // Apple's systems also have other forms of arrays, from Objective-C.
      return false
    #else
      func isAsExpected<Element: Equatable>(_ array: [Element]) -> Bool {
        array.withUnsafeBufferPointer { expected in
          let found: UnsafeBufferPointer<Element> = elements(
            Reinterpretation.bits(of: array, as: UnsafeRawPointer.self))
          return found.count == expected.count
            && (expected.isEmpty || found.baseAddress == expected.baseAddress)
        }
      }
      return MemoryLayout<[Int]>.size == MemoryLayout<UnsafeRawPointer>.size
        && [0, 1, 2, 5, 100].allSatisfy {
          isAsExpected(Array(0..<$0)) && isAsExpected((0..<$0).map { "\($0)" })
            && isAsExpected((0..<$0).map { UInt8($0) })
        }
    #endif
  }()
}
