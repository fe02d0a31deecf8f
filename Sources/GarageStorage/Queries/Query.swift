public import Foundation
internal import GarageCoding

/// A question for the objects of one type: which of them, in what order, and how many.
///
/// ```swift
/// let adults = try garage.query(Person.self)
///   .where(\.age >= 18 && \.name == .hasPrefix("S"))
///   .sorted(by: \.lastName, .descending)
///   .limit(20)
///   .retrieveAll()
/// ```
/// It is a value, to be kept and refined; nothing is read before one of its ends is called. Each end reads one state of
/// the store. Asked through a ``GarageReader`` or ``GarageWriter`` it reads what these see, and as long as they do.
///
/// Conditions are decided from the bytes of records where that is possible, so that only what is found is decoded;
/// ``explain()`` says what is read for a query, and how.
public struct Query<Root: Codable> {
  var reader: any GarageReading
  /// Whether an end for tasks may decode the objects away from the caller.
  var mayLeave = false
  /// Whether the task was cancelled that waits for the query; nil if none waits.
  var cancellation: Cancellation?
  var condition: Condition<Root>?
  var sortKeys: [SortKey] = []
  var maximumCount: Int?

  init(_ reader: any GarageReading) { self.reader = reader }

  /// The same query for those objects alone that also satisfy this condition.
  public func `where`(_ condition: Condition<Root>) -> Query {
    var query = self
    query.condition = query.condition.map { $0 && condition } ?? condition
    return query
  }

  /// The same query for those objects alone that also satisfy a predicate, which is asked of decoded objects.
  public func `where`(matching predicate: Predicate<Root>) -> Query {
    self.where(Condition(PredicateComparison(predicate)))
  }

  /// The same query in the order of a property. Called again, it puts those that are equal so far in the order of the next
  /// property.
  ///
  /// Text is in the order of Swift's `<`, which knows no language. Those still equal are in the order of their
  /// identifiers, which is also that of queries that are not sorted.
  public func sorted<Value: Comparable & Codable>(
    by property: KeyPath<Root, Value>, _ direction: SortDirection = .ascending
  ) -> Query {
    sorted(PropertySortKey(property, Value.self, direction, by: orderOfValues))
  }

  /// The same for a property that may be nil, which comes before every value.
  public func sorted<Value: Comparable & Codable>(
    by property: KeyPath<Root, Value?>, _ direction: SortDirection = .ascending
  ) -> Query {
    sorted(PropertySortKey(property, Value.self, direction, by: orderOfOptionals))
  }

  private func sorted(_ key: ObjectSortKey<Root>) -> Query {
    var query = self
    query.sortKeys.append(key)
    return query
  }

  /// The same query for the first `count` of what it finds, and no more than any limit before allows; 0 finds nothing.
  public func limit(_ count: Int) -> Query {
    var query = self
    query.maximumCount = Swift.min(Swift.max(0, count), maximumCount ?? .max)
    return query
  }
}

/// Whether a predicate holds, which only decoded objects can tell.
private final class PredicateComparison<Root: Codable>: ObjectComparison<Root> {
  private let predicate: Predicate<Root>

  init(_ predicate: Predicate<Root>) { self.predicate = predicate }

  override func text() -> String { "#Predicate" }
  override func holds(_ object: Root) throws -> Bool {
    try passingErrors { try predicate.evaluate(object) }
  }
}

extension GarageReading {
  /// A query for objects of a type; of a class, those of its subclasses too.
  public func query<T: Codable>(_ type: T.Type) -> Query<T> { Query(self) }
}

/// Which way a query is sorted.
public enum SortDirection: Sendable, Hashable, CaseIterable {
  /// The least first, nil before everything.
  case ascending
  /// The greatest first, nil behind everything.
  case descending
}

extension Query: CustomStringConvertible {
  /// The query, much as it was written.
  public var description: String {
    var text = "query(\(Root.self).self)"
    if let condition { text += ".where(\(condition))" }
    for key in sortKeys { text += ".sorted(by: \(key.text())\(key.isAscending ? "" : ", .descending"))" }
    if let maximumCount { text += ".limit(\(maximumCount))" }
    return text
  }
}
