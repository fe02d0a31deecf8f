#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A scalar that stands in a record, without the Swift type that it was written from.
///
/// Values are ordered by kind, in the order of the cases, and inside of a kind as Swift orders them: text by its
/// composed form, numbers of all widths in one order, with NaN before them all.
package enum FieldValue: Sendable {
  /// Nil, or a field that is not there.
  case null
  case bool(Bool)
  case number(FieldNumber)
  /// Seconds since 2001-01-01 00:00 UTC.
  case date(Double)
  case text(String)
  /// 16 bytes.
  case uuid([UInt8])
  case data([UInt8])
  /// What a reference leads to.
  case reference(RecordIdentity)

  /// Which of the cases it is, in their order.
  private var rank: Int {
    switch self {
    case .null: 0
    case .bool: 1
    case .number: 2
    case .date: 3
    case .text: 4
    case .uuid: 5
    case .data: 6
    case .reference: 7
    }
  }

  /// Whether two values are of one kind, so that they can be ordered.
  package func isComparable(to other: FieldValue) -> Bool { rank == other.rank }
}

extension FieldValue: Comparable {
  package static func == (left: FieldValue, right: FieldValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let left), .bool(let right)): left == right
    case (.number(let left), .number(let right)): left == right
    case (.date(let left), .date(let right)): left == right || left.isNaN && right.isNaN
    case (.text(let left), .text(let right)): left == right
    case (.uuid(let left), .uuid(let right)), (.data(let left), .data(let right)): left == right
    case (.reference(let left), .reference(let right)): left == right
    default: false
    }
  }

  package static func < (left: FieldValue, right: FieldValue) -> Bool {
    switch (left, right) {
    case (.bool(let left), .bool(let right)): !left && right
    case (.number(let left), .number(let right)): left < right
    case (.date(let left), .date(let right)): left < right || left.isNaN && !right.isNaN
    case (.text(let left), .text(let right)): left < right
    case (.uuid(let left), .uuid(let right)), (.data(let left), .data(let right)):
      left.lexicographicallyPrecedes(right)
    case (.reference(let left), .reference(let right)):
      left.tag < right.tag
        || left.tag == right.tag
          && left.identifier.bytes.lexicographicallyPrecedes(right.identifier.bytes)
    default: left.rank < right.rank
    }
  }
}

extension FieldValue: Hashable {
  package func hash(into hasher: inout Hasher) {
    hasher.combine(rank)
    switch self {
    case .null: break
    case .bool(let value): hasher.combine(value)
    case .number(let value): hasher.combine(value)
    case .date(let value): hasher.combine(value.isNaN ? .nan : value)
    case .text(let value): hasher.combine(value)
    case .uuid(let bytes), .data(let bytes): hasher.combine(bytes)
    case .reference(let identity): hasher.combine(identity)
    }
  }
}

extension FieldValue {
  /// Whether it is NaN, which compares with nothing. A decimal is not: `Decimal.nan` is equal to itself, and less than
  /// all others.
  package var isNaN: Bool {
    switch self {
    case .number(.double(let number)): number.isNaN
    case .date(let seconds): seconds.isNaN
    default: false
    }
  }
}
