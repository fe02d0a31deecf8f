extension ReferringField {
  /// Whether a stored object refers to something else by a property than its record does at a path. A text or a number may decide
  /// where a property stands, which objects that are made up do not show.
  static func isDenied<Root: Decodable, Value: Encodable>(
    _ path: [String], _ keyPath: KeyPath<Root, Value>, _ type: any Decodable.Type
  ) -> Bool {
    guard let valueType = Value.self as? any Decodable.Type else { return false }
    func references(_ value: some Encodable) -> Set<RecordIdentity>? {
      try? GraphEncoder().references(in: value)
    }
    func references<T: Decodable>(of stored: RecordValue, as type: T.Type) -> Set<RecordIdentity>? {
      guard let value = (try? StoredDecoder.decode(type, stored)) as? any Encodable else { return nil }
      return references(value)
    }
    func objects<T: Decodable>(_ type: T.Type) -> [(object: Any, record: RecordValue)] {
      TypeSurvey.objects(of: type, mostReads: 5_000).map { (object: $0.object, record: $0.record) }
    }
    let version = TypeFacts.of(type).object.evolution?.version ?? 0
    return objects(type).contains { object, record in
      // An object that a type has where the record has none, it does not refer to.
      guard let object = object as? Root, let content = record.content(ofVersion: version),
        case .some(let stored?) = content.found(at: path[...]), stored != .null,
        let found = references(of: stored, as: valueType)
      else { return false }
      return found != references(object[keyPath: keyPath])
    }
  }
}
