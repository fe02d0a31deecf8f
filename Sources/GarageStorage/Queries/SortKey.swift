internal import GarageCoding

/// A property that a query is sorted by.
struct SortKey<Root: Codable> {
  /// As it is written, for ``QueryPlan``.
  let text: () -> String
  let isAscending: Bool
  /// Finds out where the property stands in records, of the type itself or of a subclass.
  let field: (any Decodable.Type) -> StoredField?
  /// Whether the order of what stands in records is that of the property.
  let isOrderOfFields: Bool
  /// What an object has there, as a record would hold it.
  let value: (Root) throws -> FieldValue?
  /// The order of two objects: less than 0 where the left one is less.
  let order: (Root, Root) -> Int

  init<Value: Comparable & Codable>(_ property: KeyPath<Root, Value>, _ direction: SortDirection) {
    self.init(property, Value.self, direction) { SortKey.order($0[keyPath: property], $1[keyPath: property]) }
  }

  init<Value: Comparable & Codable>(_ property: KeyPath<Root, Value?>, _ direction: SortDirection) {
    self.init(property, Value.self, direction) { left, right in
      switch (left[keyPath: property], right[keyPath: property]) {
      case (nil, nil): 0
      case (nil, _): -1
      case (_, nil): 1
      case (let left?, let right?): SortKey.order(left, right)
      }
    }
  }

  private init<Property: Codable>(
    _ property: KeyPath<Root, Property>, _ type: Any.Type, _ direction: SortDirection,
    _ order: @escaping (Root, Root) -> Int
  ) {
    text = { nameOf(property) }
    isAscending = direction == .ascending
    field = { StoredField.of(property, in: $0) }
    if case .ordered = FieldComparability(type) { isOrderOfFields = true } else { isOrderOfFields = false }
    value = { try GraphEncoder.fieldValue(of: $0[keyPath: property]) }
    self.order = order
  }

  private static func order<Value: Comparable>(_ left: Value, _ right: Value) -> Int {
    left < right ? -1 : right < left ? 1 : 0
  }
}
