/// What the compiler cannot know in generic code: that a type is the one that it was found to be. To ask the runtime for each
/// value takes longer than to read it from a record.
enum Sameness {
  /// A value of a known type, as the generic type that was found to be the same one.
  @inline(__always)
  static func generic<Known, T>(_ value: consuming Known, as type: T.Type) -> T {
    assert(T.self == Known.self, "\(Known.self) was taken for \(T.self)")
    return unsafeBitCast(value, to: type)
  }

  /// A value of a generic type, as the type that it was found to be.
  @inline(__always)
  static func known<T, Known>(_ value: T, as type: Known.Type) -> Known {
    assert(T.self == Known.self, "\(T.self) was taken for \(Known.self)")
    return unsafeBitCast(value, to: type)
  }
}
