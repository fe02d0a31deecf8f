extension Set {
  /// A set of the elements of an array. Of equal elements the first one stays. In code that does not know their type, that is
  /// several times as fast as inserting one after another, because each insertion looks up the types of the set's parts.
  init(elements: [Element]) {
    // A reference to the initializer captures the type of the elements. The compiler warns of that unless the type is known to be
    // usable on any actor, which `Element` does not say of itself. Nothing is called on another actor here, so this says it in
    // its place. `SendableMetatype` exists at compile time only: both types of types are a type and its table for `Hashable`.
    let type = unsafeBitCast(Element.self as any Hashable.Type, to: AnySendablyHashable.self)
    self = Self.make(of: elements, type)
  }

  private typealias AnySendablyHashable = any (Hashable & SendableMetatype).Type

  /// Does the same as a literal, whose initializer takes a variable number of elements. Such a function is compiled as one that
  /// takes an array, which is part of the binary interface.
  ///
  /// - Parameter type: the type of the elements, once more.
  private static func make<Member: Hashable & SendableMetatype>(
    of elements: [Element], _ type: Member.Type
  ) -> Set {
    let make: (Member...) -> Set<Member> = Set<Member>.init(arrayLiteral:)
    return unsafeBitCast(make, to: (([Element]) -> Set).self)(elements)
  }
}
