internal import GarageCoding

/// A type that declares the properties by which its objects are to be found fast, or whose values no two objects may share.
///
/// ```swift
/// extension Person: Indexed {
///   static var indexes: [Index<Person>] {
///     [Index(\.age), Index(\.email, .unique), Index(\.lastName, \.firstName), Index(each: \.tags)]
///   }
/// }
/// ```
/// A garage makes the indexes when it first meets the type. From then on they are part of the store, and every program that
/// writes to it keeps them up to date. The results of queries do not depend on them (`Docs/Queries.md`).
public protocol Indexed {
  /// The type whose properties the indexes name. It is the type itself by default. A class that is not final has to say so:
  /// `typealias IndexedType = Person`.
  associatedtype IndexedType: Codable = Self

  /// The indexes, at most 64. The indexes of a class cover its subclasses.
  static var indexes: [Index<IndexedType>] { get }
}

/// A declaration of an index of one property of a type, or of several properties in an order.
///
/// Queries can also use an index by its first properties alone: `Index(\.lastName, \.firstName)` finds objects by their last
/// name, and by both names.
public struct Index<Root: Codable>: Sendable {
  /// One of the properties, and how to find the field that it is stored in.
  struct Part: @unchecked Sendable {
    // Unchecked because of the key path, which has captured no values, and of the closures, which capture nothing else.
    let text: String
    let keyPath: AnyKeyPath
    let field: () -> StoredField?
    let isCollection: Bool
    let isDictionary: Bool
    /// Whether it is certain that the field never holds text.
    let hasNoText: Bool
    /// The reason why the property has no field that could be indexed.
    let absence: () -> FieldAbsence
    /// The field of the property in records of a subclass.
    let fieldInSubclass: (any Decodable.Type) -> StoredField?
  }

  let name: String?
  let parts: [Part]
  let isEach: Bool
  let options: [IndexOption]

  private init(_ name: String?, _ parts: [Part], isEach: Bool = false, _ options: [IndexOption]) {
    self.name = name
    self.parts = parts
    self.isEach = isEach
    self.options = options
  }

  private static func part<Value: Codable>(
    _ property: KeyPath<Root, Value>, each element: Any.Type? = nil
  ) -> Part {
    Part(
      text: nameOf(property), keyPath: property,
      field: { StoredField.ofIndexed(property) },
      isCollection: FieldAbsence.isCollection(Value.self),
      isDictionary: FieldAbsence.isDictionary(Value.self),
      hasNoText: FieldComparability.hasNoText(element ?? Value.self),
      absence: {
        FieldAbsence(of: property, scalar: element ?? Value.self, isEach: element != nil)
      },
      fieldInSubclass: {
        StoredField.of(property, in: $0) ?? StoredField.ofOnlyScalar(property, in: $0)
      })
  }

  /// An index of one property. The property is a number, a date, text, a truth value, a `UUID`, `URL` or `Data`, an enum with raw
  /// values, a reference, a type of your own that has one of these and nothing else, or an optional of one of these.
  public init<Value: Codable>(_ property: KeyPath<Root, Value>, _ options: IndexOption...) {
    self.init(nil, [Index.part(property)], options)
  }

  /// An index of two properties. Its entries are sorted by the first one, and those with the same value by the second one.
  public init<First: Codable, Second: Codable>(
    _ first: KeyPath<Root, First>, _ second: KeyPath<Root, Second>, _ options: IndexOption...
  ) {
    self.init(nil, [Index.part(first), Index.part(second)], options)
  }

  /// An index of three properties. Its entries are sorted by the first one, then by the second one, then by the third one.
  public init<First: Codable, Second: Codable, Third: Codable>(
    _ first: KeyPath<Root, First>, _ second: KeyPath<Root, Second>, _ third: KeyPath<Root, Third>,
    _ options: IndexOption...
  ) {
    self.init(nil, [Index.part(first), Index.part(second), Index.part(third)], options)
  }

  /// An index of one property under a name of its own.
  ///
  /// The field of the property is found in the same way as without a name. There is one exception: if no object of the type can
  /// be made up to find the field, because the type refuses all values that it does not know, `name` has to be the field's
  /// coding key, with points between nested keys: `"address.zip"`.
  public init<Value: Codable>(
    _ name: String, _ property: KeyPath<Root, Value>, _ options: IndexOption...
  ) {
    self.init(name, [Index.part(property)], options)
  }

  /// An index of two properties under a name of its own.
  public init<First: Codable, Second: Codable>(
    _ name: String, _ first: KeyPath<Root, First>, _ second: KeyPath<Root, Second>, _ options: IndexOption...
  ) {
    self.init(name, [Index.part(first), Index.part(second)], options)
  }

  /// An index of each element of a collection, for `\.tags == .contains("swift")`.
  public init<Value: Codable & Sequence>(
    each property: KeyPath<Root, Value>, _ options: IndexOption...
  ) where Value.Element: Codable {
    self.init(nil, [Index.part(property, each: Value.Element.self)], isEach: true, options)
  }

  /// Does the same for an optional collection.
  public init<Value: Codable & Sequence>(
    each property: KeyPath<Root, Value?>, _ options: IndexOption...
  ) where Value.Element: Codable {
    self.init(nil, [Index.part(property, each: Value.Element.self)], isEach: true, options)
  }
}

/// An option that changes what an index does.
public struct IndexOption: Sendable, Hashable {
  private enum Kind { case unique, caseInsensitive, readable, hashed }
  private let kind: Kind

  /// No two objects may have the same values, or, in an index of each element, an element in common. Objects that have nil as
  /// one of the values are not compared. NaN counts as equal to itself.
  public static let unique = IndexOption(kind: .unique)
  /// Upper and lower case of text count as equal, as they do for `.caseInsensitive` in a condition. Only such conditions can use
  /// the index.
  public static let caseInsensitive = IndexOption(kind: .caseInsensitive)
  /// The values may stand in the index as they are, also in a sealed storage, where everybody who has the file can then read
  /// them. A sealed storage refuses an index that is neither readable nor ``hashed``.
  public static let readable = IndexOption(kind: .readable)
  /// The index holds a keyed hash in place of the values. It can only find equal values. This cannot be combined with
  /// ``readable``.
  public static let hashed = IndexOption(kind: .hashed)
}
