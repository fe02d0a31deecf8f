internal import GarageCoding
internal import GarageDriver

/// Compares what records have in a field that was only named with what their objects have in the property.
struct IndexCheck: @unchecked Sendable {
  // @unchecked: a key path without captured values, and a closure that has nothing else.
  /// The first record that says otherwise, by its key.
  let firstMismatch: (ReadAccess) throws -> StorageKey?

  init<Root: Codable>(_ type: Root.Type, _ part: Index<Root>.Part, _ definition: IndexDefinition) {
    let keyPath = part.keyPath
    firstMismatch = { access in
      let facts = try RecordTypeFacts.of(Root.self)
      let fields = IndexedFields(definition.components, typeVersion: definition.typeVersion)
      let (session, source) = access.makeSessionAndSource()
      func isMismatch(_ key: RawSpan, _ record: RawSpan) throws -> Bool? {
        guard let object = try access.decode(Root.self, key, record, typeName: facts.name, session),
          let value = object[keyPath: keyPath] as? any Encodable
        else { return nil }
        let expected = try GraphEncoder.fieldValue(of: value)
        let stored = try access.garage.objectKeys.withIdentifier(of: key, record, typeName: facts.name) {
          try FieldRecord.with(
            tag: facts.tag, keyIdentifier: $0, record: record, typeName: facts.name, source
          ) { try fields.value(0, $0) }
        }
        return stored.map { $0 != expected } ?? false
      }
      var mismatch: StorageKey?
      var (count, failureCount) = (0, 0)
      try access.transaction.scan(KeyLayout.records(tag: facts.tag), .forward) { key, record in
        do {
          guard let isOther = try isMismatch(key, record) else { return .continue }
          if isOther { mismatch = StorageKey(key) }
          count += 1
        } catch {
          // What is wrong with an object is told when it is retrieved.
          if isFailureOfStore(error) { throw error }
          failureCount += 1
        }
        return mismatch != nil || count == 16 || failureCount == 64 ? .stop : .continue
      }
      return mismatch
    }
  }
}
