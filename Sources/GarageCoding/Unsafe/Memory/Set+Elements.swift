extension Set {
  /// A set of the elements of an array, of which of equal ones the first stays. In code that does not know their type it is
  /// some times as fast as to insert one after the other, where each asks for the types of the set's own parts.
  ///
  /// That is what a literal does, whose initializer takes a variable number of elements. Such a function is compiled as one
  /// that takes an array, which is part of the binary interface.
  init(elements: [Element]) {
    let make: (Element...) -> Set = Set.init(arrayLiteral:)
    self = unsafeBitCast(make, to: (([Element]) -> Set).self)(elements)
  }
}
