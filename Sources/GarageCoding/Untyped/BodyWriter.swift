#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Writes a tree as a body. A map gets a shape only if it had one when it was read, and has no value under some of its keys:
/// among entries such a key could not be told from one that the map never had.
struct BodyWriter {
  /// A body and what stands in its record's tables.
  struct Body {
    var bytes: [UInt8]
    /// What its references name, in order.
    var references: [(RecordIdentity, ReferenceKind)]
    /// The references that the table had before, and new ones behind them.
    var shapes: [Permanent<Shape>]
  }

  /// The shapes that maps may have.
  enum Shapes {
    /// Any shapes, behind those of the record's table, because only this process reads the body.
    case any(behind: [Permanent<Shape>])
    /// Only shapes with these digests, whose texts are in the store. A key that was taken out of a map has no value in its
    /// shape.
    case stored(Set<UInt64>)
  }

  private let state: EncoderPointer
  /// The place of its first reference in the record's table.
  private let firstReference: Int
  private let shapes: Shapes
  private var references: [(RecordIdentity, ReferenceKind)] = []
  private var places: [RecordIdentity: [ReferenceKind: Int]] = [:]

  private init(_ state: EncoderPointer, firstReference: Int, _ shapes: Shapes) {
    self.state = state
    self.firstReference = firstReference
    self.shapes = shapes
  }

  /// The body of a tree.
  ///
  /// - Parameter firstReference: the place of its first reference in the record's table.
  static func body(of value: RecordValue, firstReference: Int = 0, _ shapes: Shapes) throws -> Body {
    try EncodingCore.withCore { core in
      core.state.beginRecord()
      let graph = core.graph
      var known: [Permanent<Shape>] = []
      if case .any(let ofRecord) = shapes {
        known = ofRecord
        for shape in ofRecord { _ = graph.pointee.index(of: shape) }
      }
      // In a damaged table a shape may stand twice. There is no place for others then.
      let areDistinct = graph.pointee.shapes.count == known.count
      var writer = BodyWriter(
        core.state, firstReference: firstReference, areDistinct ? shapes : .stored([]))
      try writer.write(value)
      let output = core.state.output
      return Body(
        bytes: Array(UnsafeBufferPointer(start: output.base, count: output.count)),
        references: writer.references,
        shapes: areDistinct ? Array(graph.pointee.shapes.all) : known)
    }
  }

  private mutating func write(_ value: RecordValue) throws {
    switch value {
    case .null: state.writeNull()
    case .bool(let value): state.write(value)
    case .integer(let value): state.write(integer: value)
    case .wideInteger(let value): state.write(integer: value)
    case .unsignedInteger(let value): state.write(integer: value)
    case .float(let value): state.write(value)
    case .double(let value): state.write(value)
    case .date(let value): state.write(date: value.timeIntervalSinceReferenceDate)
    case .uuid(let value): state.append(BodyTag.uuid, value.uuid)
    case .decimal(let value): state.write(decimal: value)
    case .data(let value): try value.withUnsafeBytes { try state.write(data: $0) }
    case .string(let value): try state.write(value)
    case .array(let elements): try write(elements)
    case .map(let fields): try write(fields)
    case .reference(let identity, let kind): state.writeReference(index: place(of: identity, kind))
    case .versioned(let version, let value): try write(value, version)
    case .withSyncStatus(let status, let value):
      // A null has none.
      if value != .null { writePrefix(status, version: 0) }
      try write(value)
    }
  }

  /// If a version stands inside another one, the inner one is the value's.
  private mutating func write(_ value: RecordValue, _ version: Int) throws {
    if case .versioned = value { return try write(value) }
    writePrefix(nil, version: version)
    try write(value)
  }

  private func writePrefix(_ status: SyncStatus?, version: Int) {
    state.append(atMost: InlinePrefix.maximumByteCount) {
      InlinePrefix.write(status, version: version, to: $0)
    }
  }

  private mutating func write(_ fields: RecordFields) throws {
    let serial = try state.openFrame()
    defer { state.leaveFrame(serial) }
    try state.requestMap()
    let shape = try shape(of: fields)
    if let shape {
      state.frame.shape = shape
      for (place, key) in shape.object.keys.enumerated() {
        // Of a key that stands there twice, first as a superclass's, the last one counts.
        if let value = fields[key], shape.object.positions[key] == place {
          try write(value)
        } else {
          state.append(BodyTag.absent)
        }
      }
    }
    for (key, value) in fields where shape?.object.positions[key] == nil {
      state.beginEntry(key)
      try write(value)
    }
    try state.closeFrame()
  }

  /// The shape that a map needs, if it does and may have it.
  private func shape(of fields: RecordFields) throws -> Permanent<Shape>? {
    // The places of a shape are found by text. Both fields are found by their keys.
    if fields.hasTwins { return nil }
    func shape(_ keys: [String]) throws -> Permanent<Shape>? {
      guard keys.contains(where: { fields[$0] == nil }) else { return nil }
      let shape = try ShapeRegistry.shape(keys: keys)
      return shape.object.hasTwins ? nil : shape
    }
    switch shapes {
    case .any: return try shape(fields.shapedKeys)
    case .stored(let digests):
      return try shape(fields.readKeys).flatMap { digests.contains($0.object.digest) ? $0 : nil }
    }
  }

  private mutating func write(_ elements: [RecordValue]) throws {
    if try writePacked(elements) { return }
    let serial = try state.openFrame()
    defer { state.leaveFrame(serial) }
    try state.requestArray()
    for element in elements {
      try state.beginElement(serial: serial)
      try write(element)
    }
    try state.closeFrame()
  }

  /// Writes elements of one kind without a tag for each. False where they are not of one kind.
  private func writePacked(_ elements: [RecordValue]) throws -> Bool {
    func pack<T>(_ value: (RecordValue) -> T?) throws -> Bool {
      var packed: [T] = []
      packed.reserveCapacity(elements.count)
      for element in elements {
        guard let value = value(element) else { return false }
        packed.append(value)
      }
      try withUnsafePointer(to: packed) {
        try state.writePacked(at: UnsafeRawPointer($0), state.types.facts(of: [T].self).1)
      }
      return true
    }
    switch elements.first {
    case .string: return try pack { $0.stringValue }
    case .bool: return try pack { $0.boolValue }
    case .date: return try pack { $0.dateValue }
    case .double: return try pack { if case .double(let value) = $0 { value } else { nil } }
    case .float: return try pack { if case .float(let value) = $0 { value } else { nil } }
    case .integer, .wideInteger:
      func integer<T: FixedWidthInteger>(_ element: RecordValue, _: T.Type) -> T? {
        switch element {
        case .integer(let value): T(exactly: value)
        case .wideInteger(let value): T(exactly: value)
        default: nil
        }
      }
      if try pack({ integer($0, UInt8.self) }) { return true }
      if try pack({ integer($0, Int64.self) }) { return true }
      return try pack { integer($0, UInt64.self) }
    default: return false
    }
  }

  /// The place in the record's table, where each is once.
  private mutating func place(of identity: RecordIdentity, _ kind: ReferenceKind) -> Int {
    if let place = places[identity]?[kind] { return place }
    let place = firstReference + references.count
    references.append((identity, kind))
    places[identity, default: [:]][kind] = place
    return place
  }
}
