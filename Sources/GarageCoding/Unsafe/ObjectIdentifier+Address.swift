extension ObjectIdentifier {
  /// The address of what it identifies, as a number: to choose a place by, or to be compared, and never to be followed.
  @inline(__always)
  var address: UInt { UInt(bitPattern: self) }
}
