#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// A value of another library's JSON, as far as it is known without the property that holds it.
package indirect enum ForeignValue {
  case null
  case bool(Bool)
  case integer(Int128)
  case double(Double)
  case decimal(Decimal)
  case string(String)
  case date(Date)
  case array([ForeignValue])
  case map([(key: String, value: ForeignValue)])
  /// An object with a record of its own, and its type.
  case reference(RecordIdentity, Any.Type)
  /// An object that stands inline, with its sync status.
  case inline(ForeignValue, SyncStatus)
}

extension ForeignValue {
  /// The map of a mapped object that stands inline. It names the object's class, because its property may have the type of a
  /// superclass.
  package func naming(_ type: any MappableObject.Type) throws -> ForeignValue {
    guard case .map(let fields) = self, _getSuperclass(type) is any MappableObject.Type else { return self }
    return .map([(key: MappingPlan.classKey, value: .string(try TypeTag.of(type).name))] + fields)
  }
}

extension ForeignValue {
  /// The objects that an object of a mapped class with this value needs to be decoded. They are not all of them, but those that
  /// are certain to be read: in properties that hold an object or an array of objects.
  package func neededObjects(of type: any MappableObject.Type) -> [RecordIdentity] {
    // Fields that an upgrade removes are not read.
    guard case .map(let fields) = self, !(type is any Evolving.Type) else { return [] }
    let keys = MappingPlan.of(type).keysOfObjects
    if keys.isEmpty { return [] }
    var found: [RecordIdentity] = []
    for field in fields where keys.contains(field.key) { field.value.collectReferences(into: &found) }
    return found
  }

  private func collectReferences(into found: inout [RecordIdentity]) {
    switch self {
    case .reference(let identity, _): found.append(identity)
    case .array(let elements): for element in elements { element.collectReferences(into: &found) }
    default: break
    }
  }
}

extension ForeignValue: Encodable {
  package func encode(to encoder: any Encoder) throws {
    switch self {
    case .array(let elements):
      var container = encoder.unkeyedContainer()
      for element in elements { try container.encode(element) }
    case .map(let fields):
      var container = encoder.container(keyedBy: MappedKey.self)
      for field in fields { try container.encode(field.value, forKey: MappedKey(stringValue: field.key)) }
    case .reference(let identity, let type):
      try (encoder as? ValueEncoder)?.writeOwn { $0.writeReference(to: identity, of: type, .eager) }
    case .inline(let value, let status):
      try (encoder as? ValueEncoder)?.writeOwn { state in
        state.append(atMost: InlinePrefix.maximumByteCount) {
          InlinePrefix.write(status, version: 0, to: $0)
        }
        try state.writeByOwnCode(value)
      }
    default:
      var container = encoder.singleValueContainer()
      try encode(to: &container)
    }
  }

  private func encode(to container: inout any SingleValueEncodingContainer) throws {
    switch self {
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .double(let value): try container.encode(value)
    case .decimal(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .date(let value): try container.encode(value)
    case .null, .array, .map, .reference, .inline: try container.encodeNil()
    }
  }
}

/// The value of a record, and the records that its texts may refer to.
private struct ForeignRoot: Encodable {
  let value: ForeignValue
  let hints: [(RecordIdentity, Any.Type)]

  func encode(to encoder: any Encoder) throws {
    try value.encode(to: encoder)
    guard let state = (encoder as? ValueEncoder)?.state else { return }
    for (identity, type) in hints {
      let entry = state.graph.noteIdentity(identity, state.types.facts(of: type).0)
      _ = state.graph.referenceIndex(of: entry, .eager)
    }
  }
}

extension GraphEncoder {
  /// The record of an object that another library wrote, of version 0 of its type: that library knew of no versions.
  ///
  /// - Parameters:
  ///   - value: the value that it wrote.
  ///   - syncStatus: the object's status, for objects of `Syncable` types only.
  ///   - hints: records whose identifiers stand in `value` as text. By them the decoder finds the order in which to decode long
  ///     chains. It does no harm if there are too many.
  ///   - type: the object's type.
  ///   - identity: the object's identity.
  package func record(
    of value: ForeignValue, syncStatus: SyncStatus?, referringTo hints: [(RecordIdentity, Any.Type)],
    as type: Any.Type, _ identity: RecordIdentity
  ) throws -> [UInt8] {
    let graph = try EncodingCore.withCore(userInfo: userInfo) { core in
      let facts = core.state.types.facts(of: type).0
      let root = ForeignRoot(value: value, hints: hints)
      identity.identifier.bytes.withUnsafeBytes {
        _ = core.graph.pointee.enqueue(tag: identity.tag, $0, .root(0), facts)
      }
      return try encodeRecords(
        core, rootCount: 1, time: 0, including: { $0 == 0 }, status: { _, _ in syncStatus }
      ) { _ in try core.body(of: root) }
    }
    guard let place = graph.records.first?.value else { return [] }
    let record = Array(graph.bytes[place])
    let facts = TypeFacts.of(type).object
    if facts.version == 0 { return record }
    let keyIdentifier = identity.identifier.keyBytes
    return try RecordSummary.record(
      record.span.bytes, ofVersion: 0, tag: identity.tag, keyIdentifier: keyIdentifier.span.bytes,
      typeName: facts.name)
  }
}
