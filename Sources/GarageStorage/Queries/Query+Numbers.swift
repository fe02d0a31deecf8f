internal import GarageCoding
internal import GarageDriver

// Numbers that are added up or compared as they stand in records and entries: to make a value of a generic type of each takes
// longer than to find it.

/// What is told of integers without holding them.
struct IntegerTotals {
  private(set) var count = 0
  /// It would take 2⁶³ of them to exceed it.
  private(set) var sum: Int128 = 0
  private(set) var least = Int64.max
  private(set) var most = Int64.min

  @inline(__always)
  mutating func add(_ number: Int64) {
    count &+= 1
    sum &+= Int128(number)
    if number < least { least = number }
    if number > most { most = number }
  }
}

extension Query {
  /// Hands on one property of each object found, in an order of which nothing is to depend. What stands in records as a number is
  /// handed on as that, and nil not at all.
  ///
  /// - Parameters:
  ///   - entries: gets what is told of all of them, where the entries of an index tell it; says whether that is enough.
  ///   - other: gets what is not told by bytes alone.
  func forEachNumber<Value: Codable>(
    _ property: KeyPath<Root, Value>, entries: (IntegerTotals) -> Bool, integer: (Int64) -> Void,
    double: (Double) -> Void, other: (consuming Value) throws -> Void
  ) throws {
    try unlessLimited.run { run in
      let column = try run.column(property)
      let (integers, isOfDoubles) = (column.integers, column.isOfDoubles)
      if let integers, let totals = try run.totals(of: column, integers), entries(totals) { return }
      try run.forEachMatch(keepsObjects: false) { key, record, known in
        if known == nil, let integers {
          switch try column.integer(run, key, record) {
          case .value(let number) where integers.contains(number):
            integer(number)
            return .continue
          case .null where column.isOptional: return .continue
          case .value, .null, .unknown: break
          }
        } else if known == nil, isOfDoubles {
          switch try column.double(run, key, record) {
          case .value(let number):
            double(number)
            return .continue
          case .null where column.isOptional: return .continue
          case .null, .unknown: break
          }
        }
        try column.visit(run, key, record, known, other)
        return .continue
      }
    }
  }
}

extension Query {
  /// The least or greatest value of a property of integers of up to 64 bits, or of doubles, among the objects found: nil within
  /// where none is found, and nil of any other type. NaN does not count.
  @usableFromInline
  func extremeOfNumbers<Property: Codable, Value: Comparable & Codable>(
    _ property: KeyPath<Root, Property>, _ direction: SortDirection, _ value: (Property) -> Value?
  ) throws -> Value?? {
    if Value.self == Double.self {
      return .some(try extremeOfDoubles(property, direction) { value($0) as? Double } as? Value)
    }
    guard let type = Value.self as? any FixedWidthInteger.Type, type.bitWidth <= 64 else { return nil }
    var (least, most) = (Int128.max, Int128.min)
    func take(_ number: Int128) { (least, most) = (Swift.min(least, number), Swift.max(most, number)) }
    try forEachNumber(property) { totals in
      if totals.count > 0 { (least, most) = (Int128(totals.least), Int128(totals.most)) }
      return true
    } integer: {
      take(Int128($0))
    } double: { _ in
    } other: {
      if let number = value($0) as? any FixedWidthInteger { take(Int128(number)) }
    }
    if least > most { return .some(nil) }
    let found = direction == .ascending ? least : most
    func exactly<N: FixedWidthInteger>(_: N.Type) -> N? { N(exactly: found) }
    return .some(exactly(type) as? Value)
  }

  private func extremeOfDoubles<Property: Codable>(
    _ property: KeyPath<Root, Property>, _ direction: SortDirection, _ value: (Property) -> Double?
  ) throws -> Double? {
    let isLeast = direction == .ascending
    var best: Double?
    func take(_ number: Double) {
      // What is not equal to itself compares with nothing.
      guard number == number else { return }
      if let other = best, isLeast ? number >= other : number <= other { return }
      best = number
    }
    try forEachNumber(property) { _ in
      false
    } integer: { _ in
    } double: {
      take($0)
    } other: {
      if let number = value($0) { take(number) }
    }
    return best
  }
}

// MARK: - From entries

extension QueryRun {
  /// What is told of the integers that a property has in all that is found, where the entries of an index tell it: of one that
  /// leads to nothing else, or of any where all objects are found.
  ///
  /// - Parameter integers: those that its type holds.
  fileprivate func totals<Value: Codable>(
    of column: QueryColumn<Root, Value>, _ integers: ClosedRange<Int64>
  ) throws -> IntegerTotals? {
    guard query.maximumCount == nil, query.sortKeys.isEmpty, !isOfClass, !way.isUnsaved,
      let field = column.storedField?.comparable
    else { return nil }
    let index: (item: IndexCatalog.Item, ranges: [StorageKeyRange])?
    if let plan = way.plan {
      guard plan.scans.count == 1, plan.others.isEmpty, way.tags.count == 1,
        plan.scans[0].stretches.allSatisfy(\.isExact)
      else { return nil }
      let scan = plan.scans[0]
      index = (scan.item, scan.stretches.map { range(scan.item, way.tags[0], $0) })
    } else {
      index = try filter == nil ? wholeIndex(of: field, column) : nil
    }
    guard let (item, ranges) = index, let place = place(of: field, in: item, column) else { return nil }
    var entries = EntryIntegers(access.transaction, place: place, integers, takesNil: column.isOptional)
    for range in ranges where try !entries.add(range) { return nil }
    return entries.totals
  }

  /// An index of all objects that has a field, with the fewest others before it.
  private func wholeIndex<Value: Codable>(
    of field: StoredField, _ column: QueryColumn<Root, Value>
  ) throws -> (item: IndexCatalog.Item, ranges: [StorageKeyRange])? {
    let tags = try access.presentTags(of: facts)
    guard tags.count == 1, let catalog = try access.garage.indexing.catalog(in: access),
      access.unsavedChanges?.hasChange(in: KeyLayout.allRecords) != true
    else { return nil }
    var found: (item: IndexCatalog.Item, place: Int)?
    for item in catalog.ready[facts.tag] ?? [] where item.definition.tag == tags[0] {
      guard item.definition.tells(facts),
        let place = place(of: field, in: item, column)
      else { continue }
      if found.map({ place < $0.place }) ?? true { found = (item, place) }
    }
    return found.map { ($0.item, [KeyLayout.entries(tag: tags[0], index: $0.item.id)]) }
  }

  /// Where an index has a field that has numbers alone, and nil where the property may be that; nil where it does not.
  private func place<Value: Codable>(
    of field: StoredField, in item: IndexCatalog.Item, _ column: QueryColumn<Root, Value>
  ) -> Int? {
    let definition = item.definition
    if definition.isEach || definition.isHashed || definition.isOfReferences { return nil }
    guard let place = definition.components.firstIndex(where: { $0.path == field.path }),
      field.absentIsNull && column.isOptional || !item.kinds.hasAbsent(in: place)
    else { return nil }
    let others = OrderedBytes.Kind.false...OrderedBytes.Kind.other
    return others.allSatisfy { $0 == OrderedBytes.Kind.number || !item.kinds.has($0, in: place) }
      ? place : nil
  }
}

/// Reads the integers that entries of an index have in one of its fields. No part of a generic type: its closure is called with
/// every entry.
private struct EntryIntegers {
  private(set) var totals = IntegerTotals()
  private let transaction: any ReadTransaction
  private let place: Int
  private let integers: ClosedRange<Int64>
  private let takesNil: Bool

  init(
    _ transaction: any ReadTransaction, place: Int, _ integers: ClosedRange<Int64>, takesNil: Bool
  ) {
    (self.transaction, self.place) = (transaction, place)
    (self.integers, self.takesNil) = (integers, takesNil)
  }

  /// Adds those in a range; false where an entry does not tell.
  mutating func add(_ range: StorageKeyRange) throws -> Bool {
    var (totals, isTold) = (totals, true)
    try transaction.scanKeys(range, .forward) { entry in
      isTold = add(entry, to: &totals)
      return isTold ? .continue : .stop
    }
    self.totals = totals
    return isTold
  }

  private func add(_ entry: RawSpan, to totals: inout IntegerTotals) -> Bool {
    // What is longer may be cut.
    guard entry.byteCount > KeyLayout.indexPrefixByteCount,
      entry.byteCount <= KeyLayout.indexPrefixByteCount + OrderedBytes.cutByteCount
    else { return false }
    switch OrderedBytes.integer(place, among: entry.extracting(KeyLayout.indexPrefixByteCount...)) {
    case .value(let number):
      guard integers.contains(number) else { return false }
      totals.add(number)
    case .null: return takesNil
    case .unknown: return false
    }
    return true
  }
}
