/// Room for one value on its way from a function that is not generic to one that is.
///
/// The first function reads a value of some kind into it, and the second takes the value out as the type of that kind. Both
/// must use the same type, which the kind determines (``TypeFacts``). A value that was put has to be taken before the next one
/// is put.
struct Scratch {
  private static let byteCount = 64
  private let memory = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: 16)

  @inline(__always)
  func put<T>(as type: T.Type, _ value: T) {
    assert(MemoryLayout<T>.size <= Scratch.byteCount && MemoryLayout<T>.alignment <= 16)
    memory.initializeMemory(as: type, to: value)
  }

  /// Puts an array, a set or a dictionary of the standard library, each of which is one reference. The bits of the reference
  /// are copied, because to move the collection generic code would look up its type.
  @inline(__always)
  func put<Collection: Swift.Collection>(collection: Collection) {
    #if canImport(ObjectiveC)
      // There, a collection may have another form, from Objective-C.
      put(as: Collection.self, collection)
    #else
      let reference = Reinterpretation.bits(of: collection, as: AnyObject.self)
      memory.storeBytes(of: Unmanaged.passRetained(reference).toOpaque(), as: UnsafeMutableRawPointer.self)
    #endif
  }

  @inline(__always)
  func take<T>(as type: T.Type) -> T { memory.assumingMemoryBound(to: type).move() }

  /// The address of the room. Nothing may be read from it.
  var address: UnsafeRawPointer { UnsafeRawPointer(memory) }
}
