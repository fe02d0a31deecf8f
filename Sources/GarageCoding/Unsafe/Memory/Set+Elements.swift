extension Set {
  /// A set of the elements of an array. Of equal elements the first one stays. In code that does not know their type, that is
  /// several times as fast as inserting one after another, because each insertion looks up the types of the set's parts.
  ///
  /// It does the same as a literal, whose initializer takes a variable number of elements. Such a function is compiled as one
  /// that takes an array, which is part of the binary interface.
  init(elements: [Element]) {
    let make: (Element...) -> Set = Set.init(arrayLiteral:)
    self = unsafeBitCast(make, to: (([Element]) -> Set).self)(elements)
  }
}
