/// The fields of records that an index is made of: it makes the bytes that records are indexed by (``OrderedBytes``).
///
/// Belongs to one thread.
package final class IndexedFields {
  /// One field.
  package struct Component: Hashable, Sendable {
    package var path: FieldPath
    /// Older names of the only key of the path, the preferred one first.
    package var olderKeys: [String]
    /// Whether no difference is made between upper and lower case.
    package var ignoresCase: Bool

    package init(path: FieldPath, olderKeys: [String] = [], ignoresCase: Bool = false) {
      self.path = path
      self.olderKeys = olderKeys
      self.ignoresCase = ignoresCase
    }
  }

  /// Which kinds of values there are in each of the fields (`OrderedBytes.Kind`), as bits, and whether some are absent.
  package struct Kinds: Hashable, Sendable {
    package var bits = SIMD4<UInt32>()

    package init() {}

    /// More fields than these an index does not have.
    package static let maximumCount = 4
    private static let absent: UInt32 = 1 << 31

    package mutating func note(_ kind: UInt8, in field: Int) { note(1 << UInt32(kind), field) }
    package mutating func noteAbsent(in field: Int) {
      note(Kinds.absent | 1 << UInt32(OrderedBytes.Kind.null), field)
    }

    // All four at once: if one were written by itself, the next read of all four would have to wait for it.
    private mutating func note(_ mask: UInt32, _ field: Int) {
      let isField = SIMD4<UInt32>(0, 1, 2, 3) .== SIMD4(repeating: UInt32(truncatingIfNeeded: field))
      bits |= SIMD4<UInt32>().replacing(with: mask, where: isField)
    }
    package mutating func formUnion(_ other: Kinds) { bits |= other.bits }
    package func isSuperset(of other: Kinds) -> Bool { bits | other.bits == bits }

    package func has(_ kind: UInt8, in field: Int) -> Bool { bits[field] & 1 << UInt32(kind) != 0 }
    /// Whether the field is absent in some records, or nil: an object may have a default there.
    package func hasAbsent(in field: Int) -> Bool {
      bits[field] & (Kinds.absent | 1 << UInt32(OrderedBytes.Kind.null)) != 0
    }
    /// Whether all there is in a field are values of a kind, where that is known, and nil.
    package func hasOnly(_ kind: UInt8?, in field: Int) -> Bool {
      (OrderedBytes.Kind.false...OrderedBytes.Kind.other).allSatisfy {
        OrderedBytes.Kind.isOne($0, of: kind) || !has($0, in: field)
      }
    }
    /// Whether some field cannot be told without decoding an object, or is no scalar.
    package var hasOther: Bool { hasAny(1 << UInt32(OrderedBytes.Kind.other)) }
    package var hasNull: Bool { hasAny(1 << UInt32(OrderedBytes.Kind.null)) }
    package var hasAbsent: Bool { hasAny(Kinds.absent) }

    private func hasAny(_ mask: UInt32) -> Bool { bits & SIMD4(repeating: mask) != SIMD4() }

    /// With all kinds set.
    package static var all: Kinds {
      var kinds = Kinds()
      kinds.bits = SIMD4(repeating: .max)
      return kinds
    }
  }

  private let components: [(lookup: FieldLookup, older: [FieldLookup], ignoresCase: Bool)]
  /// Where each field stood last: a copy of what its lookup knows, which is read without counting references.
  @exclusivity(unchecked) private var near: [FieldLookup.Near?]
  /// The version that the type of the record's object must have had.
  private let typeVersion: Int

  package init(_ components: [Component], typeVersion: Int) {
    self.components = components.map { component in
      (
        FieldLookup(component.path), component.olderKeys.map { FieldLookup(FieldPath([$0])) },
        component.ignoresCase
      )
    }
    self.typeVersion = typeVersion
    near = components.map { _ in nil }
  }

  /// Appends what a record has in all fields.
  ///
  /// - Throws: `DamagedBytes`, as `FieldRecord.with` translates it.
  package func append(_ record: FieldRecord, to bytes: inout OrderedBytes) throws -> Kinds {
    var kinds = Kinds()
    if record.typeVersion != typeVersion {
      for field in components.indices {
        bytes.appendOther()
        kinds.note(OrderedBytes.Kind.other, in: field)
      }
      return kinds
    }
    for field in near.indices {
      let start = bytes.count
      if let near = near[field], case .value(let place) = try near.find(record) {
        if place.isNull { bytes.append(.null) } else { try bytes.append(place) }
        kinds.note(bytes[start], in: field)
        continue
      }
      switch try place(components[field].lookup, components[field].older, record) {
      case .undecided: bytes.appendOther()
      case .absent:
        bytes.append(.null)
        kinds.noteAbsent(in: field)
      case .value(let place):
        if components[field].ignoresCase, case .text(let text)? = try place.value() {
          bytes.append(.text(text.lowercased()))
        } else if place.isNull {
          bytes.append(.null)
        } else {
          try bytes.append(place)
        }
      }
      kinds.note(bytes[start], in: field)
      // Without difference of case all texts have to be made anew.
      if !components[field].ignoresCase {
        near[field] = components[field].lookup.near
        // A field that is absent under this name may stand under an older one.
        if !components[field].older.isEmpty { near[field]?.forgetAbsence() }
      }
    }
    return kinds
  }

  /// Appends a whole entry of an index, of a record whose fields stand where they stood last and hold numbers, dates, short ASCII
  /// text, a yes or no, or nothing, as most do: all in one piece, since to ask for room byte by byte takes longer than to write them.
  ///
  /// - Parameters:
  ///   - prefix: what stands before the values.
  ///   - identifier: what stands behind them, and behind it how many bytes they have.
  /// - Returns: the kinds of the values, and how many bytes they have; nil, and nothing is appended, where they are of other kinds.
  /// - Throws: as ``append(_:to:)``.
  @inline(__always)
  package func appendPlainEntry(
    behind prefix: OrderedBytes.EntryPrefix, _ record: FieldRecord, identifier: RawSpan,
    to bytes: inout OrderedBytes
  ) throws -> (kinds: Kinds, valuesCount: Int)? {
    guard record.typeVersion == typeVersion, record.concreteTag == nil else { return nil }
    var kinds = Kinds()
    var writer = bytes.beginPlainEntry(prefix, fieldCount: near.count, identifierCount: identifier.byteCount)
    for field in near.indices {
      guard let near = near[field] else { return nil }
      switch try near.find(record) {
      case .value(let place):
        guard let kind = writer.append(place) else { return nil }
        kinds.note(kind, in: field)
      case .absent:
        _ = writer.append(OrderedBytes.Kind.null)
        kinds.noteAbsent(in: field)
      case .undecided: return nil
      }
    }
    guard let valuesCount = writer.end(identifier) else { return nil }
    bytes.endPlainEntry(writer)
    return (kinds, valuesCount)
  }

  /// Whether all fields stand in a record under their own names, and none under an older one or not at all.
  ///
  /// - Throws: as ``append(_:to:)``.
  package func haveOwnNames(in record: FieldRecord) throws -> Bool {
    try components.allSatisfy { component in
      if case .absent = try component.lookup.place(in: record) { return false }
      return true
    }
  }

  /// Visits each element of the only field; nil stands for one whose value is unknown.
  ///
  /// - Returns: whether the collection itself is absent.
  package func forEachElement(_ record: FieldRecord, _ visit: (FieldValue?) throws -> Void) throws -> Bool {
    guard record.typeVersion == typeVersion else {
      try visit(nil)
      return false
    }
    switch try place(components[0].lookup, components[0].older, record) {
    case .undecided: try visit(nil)
    case .absent:
      try visit(.null)
      return true
    case .value(let place):
      if place.isNull {
        try visit(.null)
        return true
      }
      let isArray = try place.forEachElement { element in
        if components[0].ignoresCase, case .text(let text)? = element {
          try visit(.text(text.lowercased()))
        } else {
          try visit(element)
        }
        return true
      }
      if !isArray { try visit(nil) }
    }
    return false
  }

  /// What a record has in one of the fields; nil where that is unknown.
  package func value(_ index: Int, _ record: FieldRecord) throws -> FieldValue? {
    guard record.typeVersion == typeVersion else { return nil }
    return switch try place(components[index].lookup, components[index].older, record) {
    case .undecided: nil
    case .absent: .null
    case .value(let place): try place.value()
    }
  }

  @inline(__always)
  private func place(
    _ lookup: FieldLookup, _ older: [FieldLookup], _ record: FieldRecord
  ) throws -> FieldLookup.Place {
    let found = try lookup.place(in: record)
    if older.isEmpty { return found }
    guard case .absent = found else { return found }
    for lookup in older {
      let found = try lookup.place(in: record)
      if case .absent = found { continue }
      return found
    }
    return .absent
  }
}
