internal import GarageCoding

/// A property that a query is sorted by. Only subclasses are made; not generic, for the reason of ``ConditionNode``.
class SortKey {
  let isAscending: Bool
  /// Whether the order of what stands in records is that of the property.
  let isOrderOfFields: Bool

  init(_ type: Any.Type, _ direction: SortDirection) {
    isAscending = direction == .ascending
    if case .ordered = FieldComparability(type) { isOrderOfFields = true } else { isOrderOfFields = false }
  }

  /// As it is written, for ``QueryPlan``.
  func text() -> String { "" }
  /// Finds out where the property stands in records, of the type itself or of a subclass.
  func field(_ type: any Decodable.Type) -> StoredField? { nil }
}

/// What objects of a type can be asked, too.
class ObjectSortKey<Root: Codable>: SortKey {
  /// What an object has there, as a record would hold it.
  func value(_ object: Root) throws -> FieldValue? { nil }
  /// The order of two objects: less than 0 where the left one is less.
  func order(_ left: Root, _ right: Root) -> Int { 0 }
}

final class PropertySortKey<Root: Codable, Value: Comparable & Codable>: ObjectSortKey<Root> {
  private let property: KeyPath<Root, Value>

  init(_ property: KeyPath<Root, Value>, _ direction: SortDirection) {
    self.property = property
    super.init(Value.self, direction)
  }

  override func text() -> String { nameOf(property) }
  override func field(_ type: any Decodable.Type) -> StoredField? { StoredField.of(property, in: type) }
  override func value(_ object: Root) throws -> FieldValue? {
    try GraphEncoder.fieldValue(of: object[keyPath: property])
  }
  override func order(_ left: Root, _ right: Root) -> Int {
    orderOf(left[keyPath: property], right[keyPath: property])
  }
}

/// The same of a property that may be nil, which comes before every value.
final class OptionalSortKey<Root: Codable, Value: Comparable & Codable>: ObjectSortKey<Root> {
  private let property: KeyPath<Root, Value?>

  init(_ property: KeyPath<Root, Value?>, _ direction: SortDirection) {
    self.property = property
    super.init(Value.self, direction)
  }

  override func text() -> String { nameOf(property) }
  override func field(_ type: any Decodable.Type) -> StoredField? { StoredField.of(property, in: type) }
  override func value(_ object: Root) throws -> FieldValue? {
    try GraphEncoder.fieldValue(of: object[keyPath: property])
  }
  override func order(_ left: Root, _ right: Root) -> Int {
    switch (left[keyPath: property], right[keyPath: property]) {
    case (nil, nil): 0
    case (nil, _): -1
    case (_, nil): 1
    case (let left?, let right?): orderOf(left, right)
    }
  }
}

private func orderOf<Value: Comparable>(_ left: Value, _ right: Value) -> Int {
  left < right ? -1 : right < left ? 1 : 0
}
