internal import GarageCoding
internal import GarageDriver

extension ReadAccess {
  /// Where no object of a type could be made up to find its fields, because it takes only what looks as it expects, reads two
  /// that are there, so that others can be made of them.
  ///
  /// - Returns: whether fields may be found now that were not before.
  func takeFieldSample<T: Codable>(_ type: T.Type, _ facts: RecordTypeFacts) throws -> Bool {
    guard FieldSample.isWanted(for: type) else { return false }
    var found: [RecordValue] = []
    for tag in try presentTags(of: facts) {
      for direction in [ScanDirection.forward, .backward] {
        var (isFound, rest) = (false, 16)
        try transaction.scan(KeyLayout.records(tag: tag), direction) { key, record in
          // What is large, damaged, of another class or of an older version is no sample; who decodes it says what is wrong.
          if record.byteCount < ReadAccess.mostSampledBytes, let content = try? content(of: key, record),
            content.header.concreteTag.map({ facts.ownTags.contains($0) }) ?? true,
            content.header.typeVersion == facts.ofCoder.currentVersion
          {
            found.append(content.value)
            isFound = true
          }
          rest -= 1
          return isFound || rest == 0 ? .stop : .continue
        }
      }
    }
    var room = 32
    found = try found.map { try withTargets($0, &room, depth: 0) }
    guard let first = found.first else { return false }
    FieldSample.note(FieldSample(first, found.dropFirst().last { $0 != first }), of: type)
    return true
  }

  private static var mostSampledBytes: Int { 1 << 20 }

  /// The same with the objects that it refers to in place of the references, as they are made up in their place, too.
  ///
  /// - Parameter room: how many may be read.
  private func withTargets(_ value: RecordValue, _ room: inout Int, depth: Int) throws -> RecordValue {
    switch value {
    case .reference(let identity, _):
      guard room > 0, depth < 3 else { return value }
      room -= 1
      let key = try garage.objectKeys.record(tag: identity.tag, identity.identifier).bytes
      let target = try transaction.withValue(for: key.span.bytes) { record -> RecordValue? in
        guard let record, record.byteCount < ReadAccess.mostSampledBytes else { return nil }
        return try? content(of: key.span.bytes, record).value
      }
      return try target.map { try withTargets($0, &room, depth: depth + 1) } ?? value
    case .array(let elements):
      return .array(try elements.map { try withTargets($0, &room, depth: depth) })
    case .map(let fields):
      var found = fields
      for (key, value) in fields { found[key] = try withTargets(value, &room, depth: depth) }
      return .map(found)
    case .versioned(let version, let inner):
      return .versioned(version, try withTargets(inner, &room, depth: depth))
    case .withSyncStatus(let status, let inner):
      return .withSyncStatus(status, try withTargets(inner, &room, depth: depth))
    default: return value
    }
  }
}
