/// Casts that the compiler cannot check in generic code, because it does not know that two types are the same. Asking the
/// runtime for each value takes longer than reading the value from a record.
enum Sameness {
  /// A value of a known type, as the generic type that was found to be the same.
  @inline(__always)
  static func generic<Known, T>(_ value: consuming Known, as type: T.Type) -> T {
    assert(T.self == Known.self, "\(Known.self) was taken for \(T.self)")
    return unsafeBitCast(value, to: type)
  }

  /// A value of a generic type, as the known type that was found to be the same.
  @inline(__always)
  static func known<T, Known>(_ value: T, as type: Known.Type) -> Known {
    assert(T.self == Known.self, "\(T.self) was taken for \(Known.self)")
    return unsafeBitCast(value, to: type)
  }
}
