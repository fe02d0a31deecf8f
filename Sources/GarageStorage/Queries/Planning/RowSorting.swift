internal import GarageCoding
internal import GarageDriver

/// Sorts matches by bytes that sort as the values do, and then by identifier. Bytes are compared at once, while values would
/// have to be taken apart for each comparison. For a query with a limit it holds not more than about twice as many rows as are
/// wanted.
///
/// It is not generic, and its properties are not checked for exclusive access: there is a row for each match, and no row is
/// read while another is written.
final class RowSorting {
  private struct Row {
    /// The place where its values begin. The key of its record stands behind them.
    var start: Int
    var keyStart: Int
    var end: Int
    /// The first bytes of the values, which decide most comparisons. During sorting, the first bytes in which they differ.
    var order: UInt64 = 0
    /// How many rows were noted before this one.
    var place = 0
  }

  private let kept: Int
  private let most: Int
  @exclusivity(unchecked) private var rows: [Row] = []
  /// The values of the next row are appended here.
  @exclusivity(unchecked) var bytes = OrderedBytes()
  /// The last row that would be kept, once there are enough. Rows behind it need not be noted.
  @exclusivity(unchecked) private var bound: Row?
  /// The values, and the identifier behind them, that all rows have to come after.
  private let floor: (bytes: [UInt8], valuesCount: Int)?

  /// - Parameters:
  ///   - limit: how many rows are wanted; nil for all.
  ///   - floor: the values and the identifier that all rows have to come after.
  init(limit: Int?, behind floor: (values: [UInt8], identifier: [UInt8])?) {
    kept = limit ?? .max
    most = kept > Int.max / 2 - 1024 ? Int.max : 2 * kept + 1024
    self.floor = floor.map { ($0.values + $0.identifier, $0.values.count) }
  }

  /// Ends a row. Its values were appended from `start` on.
  ///
  /// - Returns: whether the bound has changed, behind which rows need not be noted any more.
  func end(_ start: Int, key: RawSpan) -> Bool {
    let keyStart = bytes.count
    bytes.append(key)
    var row = Row(start: start, keyStart: keyStart, end: bytes.count)
    let isWanted = isBehindFloor(row) && bound.map { compare(row, $0) < 0 } ?? true
    guard isWanted else {
      bytes.truncate(to: start)
      return false
    }
    row.order = order(row, at: 0)
    row.place = rows.count
    rows.append(row)
    if rows.count < most { return false }
    sort()
    keep()
    return true
  }

  /// The key of the last row that would be kept.
  var boundKey: StorageKey? {
    bound.map { row in
      StorageKey(bytes.all.bytes.extracting(row.keyStart..<row.end))
    }
  }

  /// The keys of the rows in their order.
  func keys() -> KeyList {
    sort()
    var keys = KeyList()
    let all = bytes.all.bytes
    for row in rows.prefix(kept) { keys.append(all.extracting(row.keyStart..<row.end)) }
    return keys
  }

  /// For each row, in sorted order, how many rows were noted before it. Only for sorting without a limit.
  func places() -> [Int] {
    sort()
    return rows.map(\.place)
  }

  /// Removes all rows that are not kept, and their bytes.
  private func keep() {
    var others = OrderedBytes()
    let all = bytes.all.bytes
    rows.removeLast(rows.count - kept)
    for index in rows.indices {
      let row = rows[index]
      let start = others.count
      others.append(all.extracting(row.start..<row.end))
      rows[index] = Row(start: start, keyStart: start + row.keyStart - row.start, end: others.count)
    }
    bytes = others
    for index in rows.indices { rows[index].order = order(rows[index], at: 0) }
    bound = rows.last
  }

  private func sort() {
    guard let first = rows.first else { return }
    // Bytes that all rows begin with decide nothing.
    let differences = rows.reduce(0 as UInt64) { $0 | ($1.order ^ first.order) }
    let common = differences.leadingZeroBitCount / 8
    if common > 2 { for index in rows.indices { rows[index].order = order(rows[index], at: common) } }
    rows.sort { left, right in
      if left.order != right.order { return left.order < right.order }
      return compare(left, right) < 0
    }
    if common > 2 { for index in rows.indices { rows[index].order = order(rows[index], at: 0) } }
  }

  /// Eight bytes of the values as a number. Missing bytes count as zeros.
  @inline(__always)
  private func order(_ row: Row, at place: Int) -> UInt64 {
    let (start, end) = (row.start + place, row.keyStart)
    let all = bytes.all
    if end - start >= 8 {
      return UInt64(bigEndian: all.loadUnaligned(fromByteOffset: start, as: UInt64.self))
    }
    var order: UInt64 = 0
    for next in start..<start + 8 { order = order << 8 | UInt64(next < end ? all[next] : 0) }
    return order
  }

  /// The order of two rows: by values, none of which is the beginning of another, and then by identifier.
  private func compare(_ left: Row, _ right: Row) -> Int {
    let all = bytes.all.bytes
    let order = compareKeys(
      all.extracting(left.start..<left.keyStart), all.extracting(right.start..<right.keyStart))
    if order != 0 { return order }
    return compareKeys(
      all.extracting(left.keyStart + KeyLayout.identifierOffset..<left.end),
      all.extracting(right.keyStart + KeyLayout.identifierOffset..<right.end))
  }

  private func isBehindFloor(_ row: Row) -> Bool {
    guard let floor else { return true }
    let (all, bound) = (bytes.all.bytes, floor.bytes.span.bytes)
    let order = compareKeys(all.extracting(row.start..<row.keyStart), bound.extracting(..<floor.valuesCount))
    if order != 0 { return order > 0 }
    return compareKeys(
      all.extracting(row.keyStart + KeyLayout.identifierOffset..<row.end),
      bound.extracting(floor.valuesCount...)) > 0
  }
}

extension QueryRun {
  /// The keys sorted by the fields of their records.
  func keysByFields() throws -> KeyList {
    let sorting = RowSorting(
      limit: query.maximumCount, behind: start.map { (orderedBytes($0.values), $0.identifier) })
    // Most matches that come behind all wanted ones are recognised by their first value, which is tested as a condition.
    var boundQuestion: RecordQuestion?
    var isBehind: LentQuestion?
    defer { withExtendedLifetime(boundQuestion) {} }
    let fields = sortedFields
    try forEachUnsorted(keepsObjects: false) { key, record, known in
      if let isBehind, case .yes = try isBehind.answer(key, record) { return .continue }
      if try appendRow(fields, key, record, known, to: sorting) {
        boundQuestion = try sorting.boundKey.flatMap { try question(ofBehind: $0) }
        isBehind = boundQuestion.map { LentQuestion($0) }
      }
      return .continue
    }
    return sorting.keys()
  }

  /// Appends the row of a match.
  ///
  /// - Returns: as ``RowSorting/end(_:key:)``.
  @discardableResult
  func appendRow(
    _ fields: [SortedField], _ key: RawSpan, _ record: RawSpan, _ known: DecodedObject<Root>?,
    to sorting: RowSorting
  ) throws -> Bool {
    let start = sorting.bytes.count
    if try !appendStored(fields, key, record, to: &sorting.bytes) {
      try appendValues(key, record, known, to: &sorting.bytes)
    }
    return sorting.end(start, key: key)
  }

  /// The fields to sort by; empty if one of them is not in records.
  var sortedFields: [SortedField] {
    var fields: [SortedField] = []
    for (index, key) in query.sortKeys.enumerated() {
      guard let property = sortLookups[index] else { return [] }
      fields.append(SortedField(property, isAscending: key.isAscending, kind: key.kind))
    }
    return fields
  }

  private func appendStored(
    _ fields: [SortedField], _ key: RawSpan, _ record: RawSpan, to bytes: inout OrderedBytes
  ) throws -> Bool {
    if fields.isEmpty { return false }
    return try asking(key, record) { question, tag, identifier in
      try question.append(fields, tag: tag, keyIdentifier: identifier, record: record, to: &bytes)
    }
  }

  @inline(never)
  private func appendValues(
    _ key: RawSpan, _ record: RawSpan, _ known: DecodedObject<Root>?, to bytes: inout OrderedBytes
  ) throws {
    append(try sortValues(key, record, known?.object), to: &bytes)
  }

  private func append(_ values: [FieldValue], to bytes: inout OrderedBytes) {
    for (index, value) in values.enumerated() {
      let start = bytes.count
      bytes.append(value)
      if !query.sortKeys[index].isAscending { bytes.invert(from: start) }
    }
  }

  /// The values as bytes that sort in the order of the query.
  func orderedBytes(_ values: [FieldValue]) -> [UInt8] {
    var bytes = OrderedBytes()
    append(values, to: &bytes)
    return bytes.bytes
  }

  /// A question whether the first value to sort by comes behind that of this record; nil if that cannot be asked of bytes
  /// alone.
  private func question(ofBehind key: StorageKey) throws -> RecordQuestion? {
    guard !objectKeys.hidesIdentifiers, let property = sortLookups[0], let field = sortFields[0] else {
      return nil
    }
    let bytes = key.bytes
    let value = try access.transaction.withValue(for: key) { record -> FieldValue? in
      guard let record else { return nil }
      return try storedValue(bytes.span.bytes, record, property)
    }
    let first = query.sortKeys[0]
    guard let value, value != .null, first.orders(value) else { return nil }
    let bound = FieldConstant(value)
    let test: FieldTest =
      first.isAscending ? .isGreater(bound, orEqual: false) : .isLess(bound, orEqual: false)
    func question(_ field: StoredField) -> FieldQuestion {
      .of(FieldLookup(field.path), test, absentIsNull: field.absentIsNull)
    }
    return recordQuestion(question(field)) { first.field($0).map(question) ?? .ofObject() }
  }
}
