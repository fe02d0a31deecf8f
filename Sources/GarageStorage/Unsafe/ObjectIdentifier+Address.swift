extension ObjectIdentifier {
  /// The address of the identified object, as a number. It may be used to choose a place or to compare, and never to access the
  /// object.
  @inline(__always)
  var address: UInt { UInt(bitPattern: self) }
}
