internal import Synchronization

/// The values one of which a field has to have.
package struct OneOfConstants: Sendable {
  package let all: [FieldConstant]
  /// Whether nil is one of them.
  package let hasNull: Bool
  /// Nil for few values, which are compared one after another sooner, and for references, which are compared where they stand.
  let search: OneOfSearch?

  /// Up to so many, comparing with all takes no longer than a search.
  private static let walkedCount = 8

  package init(_ all: [FieldConstant]) {
    self.all = all
    var (hasNull, hasReference) = (false, false)
    for constant in all {
      switch constant.value {
      case .null: hasNull = true
      case .reference: hasReference = true
      case .bool, .number, .date, .text, .uuid, .data: break
      }
    }
    self.hasNull = hasNull
    search = all.count > OneOfConstants.walkedCount && !hasReference ? OneOfSearch(all) : nil
  }
}

extension OneOfConstants: Sequence {
  package func makeIterator() -> IndexingIterator<[FieldConstant]> { all.makeIterator() }
  package var underestimatedCount: Int { all.count }
}

extension FieldTest {
  /// Whether a field has one of these values.
  package static func isOneOf(_ constants: [FieldConstant]) -> FieldTest {
    .isOneOf(OneOfConstants(constants))
  }
}

/// Many values, found by their hashes and not one by one. Made ready with the first record that is asked: where an index
/// answers, none is.
final class OneOfSearch: Sendable {
  private let constants: [FieldConstant]
  private let table = AtomicLazyReference<OneOfTable>()

  init(_ constants: [FieldConstant]) { self.constants = constants }

  /// Whether one of them equals the value that stands at a place, which is not nil; nil where it takes the object.
  func contains(_ place: FieldPlace) throws -> Bool? {
    try (table.load() ?? table.storeIfNil(OneOfTable(constants))).contains(place)
  }
}

/// The values in sets. They hash as they are equal: text however it is composed, numbers of whatever kind, -0.0 as 0.0.
private final class OneOfTable: Sendable {
  /// The numbers, where all are integers of 64 bits: those of about the same size hash alike as numbers of any kind.
  private let integers: Set<Int64>
  private let others: Set<FieldValue>
  /// One value of each kind among them, except nil.
  private let kinds: [FieldValue]
  /// Whether there are integers of 64 bits, and nothing else but nil.
  private let isOfIntegers: Bool

  init(_ constants: [FieldConstant]) {
    let numbersAreIntegers = constants.allSatisfy { constant in
      if case .number = constant.value { constant.integer != nil } else { true }
    }
    var (integers, others, kinds) = (Set<Int64>(), Set<FieldValue>(), [FieldValue]())
    for constant in constants {
      let value = constant.value
      if case .null = value { continue }
      if !kinds.contains(where: { $0.isComparable(to: value) }) { kinds.append(value) }
      if numbersAreIntegers, let integer = constant.integer {
        integers.insert(integer)
      } else if !value.isNaN {
        // To NaN nothing is equal.
        others.insert(value)
      }
    }
    isOfIntegers = others.isEmpty && kinds.count == 1 && !integers.isEmpty
    (self.integers, self.others, self.kinds) = (integers, others, kinds)
  }

  @inline(__always)
  func contains(_ place: FieldPlace) throws -> Bool? {
    if isOfIntegers, let integer = place.narrowInteger { return integers.contains(integer) }
    return try containsAny(place)
  }

  @inline(never)
  private func containsAny(_ place: FieldPlace) throws -> Bool? {
    guard let value = try place.value() else { return kinds.isEmpty ? false : nil }
    if !value.isNaN, has(value) { return true }
    // Only the property's type knows what it makes of a value of another kind.
    return kinds.allSatisfy { $0.isComparable(to: value) } ? false : nil
  }

  private func has(_ value: FieldValue) -> Bool {
    guard !integers.isEmpty, case .number(let number) = value else { return others.contains(value) }
    switch number {
    case .integer(let integer): return integers.contains(integer)
    case .double(let double): return Int64(exactly: double).map { integers.contains($0) } ?? false
    // It is an integer that 64 bits do not hold.
    case .wide: return false
    // Seldom asked for among integers.
    case .decimal: return integers.contains { .integer($0) == number }
    }
  }
}
