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
/// A garage makes the indexes when it first meets the type. From then on they are part of the store, and are kept up by every
/// writer. Nothing else changes: a query has the same results with and without them (`Docs/Queries.md`).
public protocol Indexed {
  /// The type whose properties are named: the type itself. A class that is not final gives its own name.
  associatedtype IndexedType: Codable = Self

  /// The indexes, at most 64. The indexes of a class cover its subclasses.
  static var indexes: [Index<IndexedType>] { get }
}

/// A declaration of an index of one property of a type, or of several in a row.
///
/// Queries may use the first of several properties alone: `Index(\.lastName, \.firstName)` finds objects by last names, and by
/// both.
public struct Index<Root: Codable>: Sendable {
  /// A property, and its place in records.
  struct Part: @unchecked Sendable {
    // @unchecked: a key path without captured values, and a closure that captures nothing else.
    let text: String
    let keyPath: AnyKeyPath
    let field: () -> StoredField?
    let isCollection: Bool
    let isDictionary: Bool
    /// Whether it is known that no text is stored in the field.
    let hasNoText: Bool
    /// The reason why there is no field.
    let absence: () -> FieldAbsence
    /// The place of the field in records of a subclass.
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

  /// An index of one property: a number, a date, text, a truth value, a `UUID`, `URL`, `Data`, an enum with raw values, a
  /// reference, a type of your own that has one of these and nothing else, or an optional of these.
  public init<Value: Codable>(_ property: KeyPath<Root, Value>, _ options: IndexOption...) {
    self.init(nil, [Index.part(property)], options)
  }

  /// An index of two properties, by the first and then by the second.
  public init<First: Codable, Second: Codable>(
    _ first: KeyPath<Root, First>, _ second: KeyPath<Root, Second>, _ options: IndexOption...
  ) {
    self.init(nil, [Index.part(first), Index.part(second)], options)
  }

  /// An index of three properties, by the first, then by the second, then by the third.
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

/// Changes what an index does.
public struct IndexOption: Sendable, Hashable {
  private enum Kind { case unique, caseInsensitive, readable, hashed }
  private let kind: Kind

  /// No two objects have the same values. Objects with a nil among the values do not count, and NaN is a value. For an index of
  /// each element: no two objects have an element in common.
  public static let unique = IndexOption(kind: .unique)
  /// Upper and lower case of text count as equal, as for `.caseInsensitive` in a condition. The index serves only such
  /// conditions.
  public static let caseInsensitive = IndexOption(kind: .caseInsensitive)
  /// In a sealed storage: anybody who has the file can read the values. A sealed storage refuses an index that is neither this
  /// nor ``hashed``.
  public static let readable = IndexOption(kind: .readable)
  /// A keyed hash stands in place of the values. Such an index finds equal values only. Not together with ``readable``.
  public static let hashed = IndexOption(kind: .hashed)
}
