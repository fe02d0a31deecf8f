internal import GarageCoding

/// A property that a query is sorted by. Only subclasses are made; not generic, for the reason of ``ConditionNode``.
class SortKey {
  let isAscending: Bool
  /// Whether the order of what stands in records is that of the property.
  let isOrderOfFields: Bool
  /// The kind of its values (`OrderedBytes.Kind`); nil where it is not known. Records may also hold dates as text or as numbers, and
  /// numbers as text, and these are in no order with those stored as what they are.
  let kind: UInt8?

  init(_ type: Any.Type, _ direction: SortDirection) {
    isAscending = direction == .ascending
    isOrderOfFields = FieldComparability.isOrdered(type)
    kind = isOrderOfFields ? FieldComparability.orderedKind(type) : nil
  }

  /// Whether a stored value has its place among the others.
  func orders(_ value: FieldValue) -> Bool {
    if case .null = value { return true }
    return OrderedBytes.Kind.isOne(OrderedBytes.kind(of: value), of: kind)
  }

  /// As it is written, for ``QueryPlan``.
  func text() -> String { "" }
  /// Whether that is the property's name.
  var isNamed: Bool { !text().contains("<computed") }
  /// The property, where the order of what stands in records is its order.
  var orderedProperty: AnyKeyPath? { nil }
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

final class PropertySortKey<Root: Codable, Property: Codable>: ObjectSortKey<Root> {
  private let property: KeyPath<Root, Property>
  private let order: (Property, Property) -> Int

  /// - Parameter type: what the property is of, but for being optional.
  init(
    _ property: KeyPath<Root, Property>, _ type: Any.Type, _ direction: SortDirection,
    by order: @escaping (Property, Property) -> Int
  ) {
    (self.property, self.order) = (property, order)
    super.init(type, direction)
  }

  override func text() -> String { nameOf(property) }
  override var orderedProperty: AnyKeyPath? { isOrderOfFields ? property : nil }
  override func field(_ type: any Decodable.Type) -> StoredField? {
    StoredField.of(property, in: type)?.comparable
  }
  override func value(_ object: Root) throws -> FieldValue? {
    try GraphEncoder.fieldValue(of: object[keyPath: property])
  }
  override func order(_ left: Root, _ right: Root) -> Int {
    order(left[keyPath: property], right[keyPath: property])
  }
}

/// The order of two values: less than 0 where the left one is less. Values that are not equal to themselves, such as NaN, come
/// before all others: by `<` alone they would have no place.
func orderOfValues<Value: Comparable>(_ left: Value, _ right: Value) -> Int {
  if left < right { return -1 }
  if right < left { return 1 }
  if left == right { return 0 }
  return (left == left ? 1 : 0) - (right == right ? 1 : 0)
}

/// The same where there may be none, which comes before every value.
func orderOfOptionals<Value: Comparable>(_ left: Value?, _ right: Value?) -> Int {
  switch (left, right) {
  case (nil, nil): 0
  case (nil, _): -1
  case (_, nil): 1
  case (let left?, let right?): orderOfValues(left, right)
  }
}
