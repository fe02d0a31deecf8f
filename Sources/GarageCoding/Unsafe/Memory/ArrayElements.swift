/// Where the elements of an array stand, to be read there while somebody else has the array: in generic code that found out
/// their type, to have it oneself counts it up and down.
///
/// The memory of an array is part of the standard library's binary interface, as code of its clients goes into it: an object
/// whose count stands behind its header, and the elements behind the capacity. That this is so is looked at once; where it is
/// not, arrays are read as usual.
struct ArrayElements {
  private static let countOffset = 2 * MemoryLayout<Int>.size
  private static let elementsOffset = 4 * MemoryLayout<Int>.size

  /// Whether the arrays of this program look so. Kept where it is asked, because a global is looked up by a call.
  let areKnown = ArrayElements.areAsExpected

  /// Runs `body` with the elements of a value, of a generic type that was found to be an array of `Element`, whose
  /// alignment is at most an integer's.
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
      // Apple's systems have other forms beside, from Objective-C.
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
