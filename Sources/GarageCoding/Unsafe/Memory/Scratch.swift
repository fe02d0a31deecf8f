/// Room for one value on its way from a function that is not generic to one that is.
///
/// The one reads a value of a kind into it, the other takes the value out as the type of that kind. Both have to speak
/// of one type: the kind tells it (``TypeFacts``). What was put has to be taken before the next value is put.
struct Scratch {
  private static let byteCount = 64
  private let memory = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: 16)

  @inline(__always)
  func put<T>(as type: T.Type, _ value: T) {
    assert(MemoryLayout<T>.size <= Scratch.byteCount && MemoryLayout<T>.alignment <= 16)
    memory.initializeMemory(as: type, to: value)
  }

  /// The same of an array, a set or a dictionary of the standard library, all of which are one reference: by the bits of
  /// that, since generic code has to ask for the collection's type to move it.
  @inline(__always)
  func put<Collection: Swift.Collection>(collection: Collection) {
    #if canImport(ObjectiveC)
      // There a collection may be of another form, from Objective-C.
      put(as: Collection.self, collection)
    #else
      let reference = Reinterpretation.bits(of: collection, as: AnyObject.self)
      memory.storeBytes(of: Unmanaged.passRetained(reference).toOpaque(), as: UnsafeMutableRawPointer.self)
    #endif
  }

  @inline(__always)
  func take<T>(as type: T.Type) -> T { memory.assumingMemoryBound(to: type).move() }

  /// Where it is: an address from which nothing is to be read.
  var address: UnsafeRawPointer { UnsafeRawPointer(memory) }
}
