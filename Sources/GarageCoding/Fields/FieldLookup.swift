/// Finds one field in record after record: it remembers where the shapes that it met have their keys.
///
/// Belongs to one thread.
package final class FieldLookup {
  package let path: FieldPath
  // No access overlaps another, because it belongs to one thread, and calls nothing during an access.
  @exclusivity(unchecked) private var steps: [Step]
  /// For a path of one key: the shape met last, and the key's first place in it.
  @exclusivity(unchecked) private(set) var near: Near?

  /// Where a shape has a key.
  struct Near: BitwiseCopyable {
    let digest: UInt64
    /// Less than 0 where the shape does not have the key.
    let place: Int
    /// How many keys the shape has. 0 where an object without a value there may have it elsewhere: under the same key once
    /// more, or under another one.
    private(set) var keyCount: Int

    mutating func forgetAbsence() { keyCount = 0 }
  }

  /// Where a field stands.
  package enum Place {
    /// There is no value under its key, or a nil on the way to it.
    case absent
    /// Its value begins here.
    case value(FieldPlace)
    /// It cannot be told without decoding the object: the way leads through another record, or through a value that is
    /// no map or was written in another version of its type.
    case undecided
  }

  private struct Step {
    let key: String
    let utf8: [UInt8]
    /// Whether an entry may have the key in other bytes.
    let mayBeComposedOtherwise: Bool
    /// The shape met last, and the places of the key in it, the one that counts first; none before there was a shape.
    var digest: UInt64 = 0
    var isLearnt = false
    var place: Int?
    var otherPlaces: [Int] = []
    var keyCount = 0

    init(_ key: String) {
      self.key = key
      utf8 = Array(key.utf8)
      mayBeComposedOtherwise = utf8.withUnsafeBytes { GarageCoding.mayBeComposedOtherwise($0) }
    }
  }

  package init(_ path: FieldPath) {
    self.path = path
    steps = []
  }

  /// Where the field stands in a record.
  ///
  /// - Throws: `DamagedBytes`, to which the caller adds the name of the record.
  @inline(__always)
  package func place(in record: FieldRecord) throws -> Place {
    if let near {
      switch try near.find(record) {
      case .value(let found): return .value(found)
      case .absent: return .absent
      case .undecided: break
      }
    }
    return try placeByPath(in: record)
  }

  @inline(never)
  private func placeByPath(in record: FieldRecord) throws -> Place {
    // Made only now, because for a query that an index answers no field is looked up.
    if steps.count != path.keys.count { steps = path.keys.map { Step($0) } }
    let base = record.parsed.base
    var at = record.parsed.body.lowerBound
    var end = record.parsed.body.upperBound
    for index in steps.indices {
      at = InlinePrefix.skipSyncStatus(base, at, end: end)
      guard at < end else { throw DamagedBytes(reason: "a value begins behind the end", offset: at) }
      switch base.byte(at: at) {
      case BodyTag.null, BodyTag.absent: return .absent
      case BodyTag.mapSmall, BodyTag.mapLarge: break
      default: return .undecided
      }
      guard
        let header = try ContainerHeader.read(
          base, at, end: end, small: BodyTag.mapSmall, large: BodyTag.mapLarge),
        let found = try value(of: index, base, header, record)
      else { return .absent }
      (at, end) = (found, header.end)
    }
    at = InlinePrefix.skipSyncStatus(base, at, end: end)
    let next = try BodyScanner.skipValue(base, at, end: end)
    return .value(FieldPlace(in: record.parsed, start: at, end: next))
  }

  /// Where a map has the value of a step's key.
  @inline(__always)
  private func value(
    of step: Int, _ base: UnsafeRawPointer, _ header: ContainerHeader, _ record: FieldRecord
  ) throws -> Int? {
    var at = header.content
    if header.second > 0 {
      guard let shapes = record.parsed.shapes else {
        throw DamagedBytes(reason: "shape \(header.second - 1) is not in the record's table", offset: at)
      }
      let digest = try ShapeTable.digest(base, shapes, at: header.second - 1)
      if !steps[step].isLearnt || steps[step].digest != digest { try learn(digest, step, record) }
      // Most keys stand once, and have a value.
      if let place = steps[step].place {
        if let found = try FieldLookup.field(place, base, header) { return found }
        for place in steps[step].otherPlaces {
          if let found = try FieldLookup.field(place, base, header) { return found }
        }
      }
      for _ in 0..<steps[step].keyCount { at = try BodyScanner.skipValue(base, at, end: header.end) }
    }
    return try entry(steps[step].utf8, steps[step].mayBeComposedOtherwise, base, at, header.end)
  }

  /// Where the value of the shape's key with that place is; nil where it is absent.
  @inline(__always)
  private static func field(_ place: Int, _ base: UnsafeRawPointer, _ header: ContainerHeader) throws
    -> Int?
  {
    var at = header.content
    for _ in 0..<place { at = try BodyScanner.skipValue(base, at, end: header.end) }
    guard at < header.end else { throw DamagedBytes(reason: "a map ends before its fields", offset: at) }
    return base.byte(at: at) == BodyTag.absent ? nil : at
  }

  private func learn(_ digest: UInt64, _ step: Int, _ record: FieldRecord) throws {
    let shape = try record.shape(digest).object
    let key = steps[step].key
    let places = (shape.positions[key].map { [$0] } ?? []) + (shape.earlierPositions[key] ?? [])
    steps[step].place = places.first
    steps[step].otherPlaces = Array(places.dropFirst())
    steps[step].isLearnt = true
    steps[step].keyCount = shape.keys.count
    steps[step].digest = digest
    if steps.count == 1 {
      near = Near(
        digest: digest, place: places.first ?? -1, keyCount: places.count > 1 ? 0 : shape.keys.count)
    }
  }

  /// Where the entry with that key has its value: entries are sorted by their keys. One whose key is composed otherwise is the
  /// one where none has the same bytes.
  private func entry(
    _ wanted: [UInt8], _ mayBeComposedOtherwise: Bool, _ base: UnsafeRawPointer, _ start: Int, _ end: Int
  ) throws -> Int? {
    try wanted.withUnsafeBytes { wanted in
      var at = start
      var equivalent: Int?
      while at < end {
        let range = try BodyScanner.readKey(base, &at, end: end)
        let key = UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count)
        let order = compareBytes(key, wanted)
        if order == 0 { return at }
        if mayBeComposedOtherwise {
          if equivalent == nil, isSameText(key, wanted) { equivalent = at }
        } else if order > 0 {
          return nil
        }
        at = try BodyScanner.skipValue(base, at, end: end)
      }
      return equivalent
    }
  }
}

extension FieldLookup.Near {
  /// Where the field stands in a record's outermost map; undecided where the map is of another shape, or the field may have
  /// its value elsewhere in it.
  @inline(__always)
  func find(_ record: borrowing FieldRecord) throws -> FieldLookup.Place {
    // Made here, where it is used: memory that was just written word by word is not read well by larger pieces.
    let (start, end) = try extent(record.parsed.base, record.parsed.body, record.parsed.shapes)
    if start >= 0 { return .value(FieldPlace(in: record.parsed, start: start, end: end)) }
    return end == 0 ? .absent : .undecided
  }

  /// Where its value stands. Less than 0 where it does not stand there; with an end of 0 where it stands nowhere.
  private func extent(
    _ base: UnsafeRawPointer, _ body: Range<Int>, _ shapes: Range<Int>?
  ) throws -> (start: Int, end: Int) {
    guard let shapes,
      let header = try ContainerHeader.read(
        base, body.lowerBound, end: body.upperBound, small: BodyTag.mapSmall, large: BodyTag.mapLarge),
      header.second > 0, try ShapeTable.digest(base, shapes, at: header.second - 1) == digest
    else { return (-1, -1) }
    var at = header.content
    if place >= 0 {
      for _ in 0..<place { at = try BodyScanner.skipValue(base, at, end: header.end) }
      guard at < header.end else { throw DamagedBytes(reason: "a map ends before its fields", offset: at) }
      if base.byte(at: at) != BodyTag.absent {
        let start = InlinePrefix.skipSyncStatus(base, at, end: header.end)
        return (start, try BodyScanner.skipValue(base, start, end: header.end))
      }
    }
    // Behind the fields there may be entries, one of which may have the key.
    guard keyCount > 0 else { return (-1, -1) }
    for _ in max(place, 0)..<keyCount { at = try BodyScanner.skipValue(base, at, end: header.end) }
    return (-1, at == header.end ? 0 : -1)
  }

  /// Where the field stands in a record, as ``find(_:)`` says; undecided where that takes another look.
  @inline(__always)
  func find(_ record: PlainRecord) -> FieldLookup.Place {
    guard record.isOfShape(digest), place >= 0 else { return .undecided }
    let start = record.start(ofValue: place)
    guard start < record.end else { return .undecided }
    switch record.base.byte(at: start) {
    case BodyTag.absent: return isAbsent(record, from: start) ? .absent : .undecided
    case BodyTag.syncStatus: return .undecided
    default: break
    }
    let end = record.endOfValue(start)
    return end <= record.end ? .value(FieldPlace(in: record, start: start, end: end)) : .undecided
  }

  /// Whether the record ends with the values of its shape, without entries behind them. Those from `start` on may be absent.
  @inline(never)
  private func isAbsent(_ record: PlainRecord, from start: Int) -> Bool {
    keyCount > 0 && record.skip(keyCount - place, from: start) == record.end
  }
}
