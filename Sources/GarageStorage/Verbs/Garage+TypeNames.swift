internal import GarageDriver

extension GarageReading {
  /// The names under which objects are parked in the store, with the number of objects under each.
  ///
  /// ```swift
  /// try garage.typeNames()      // ["MyApp.Customer": 412, "MyApp.Order": 9120]
  /// ```
  /// A type's name is its `TypeTagged.typeTag`, by default the names of its module, of the types around it and of itself. A
  /// type that was renamed or moved to another module has a new name, and its objects are not found under that. They are listed
  /// here under the old name. ``Garage/migrateAll(fromOldClassName:to:)``, `TypeTagged.typeTag` and `TypeTagged.formerTypeTags`
  /// take that name. See `Docs/Evolution.md`, "Where did my objects go?".
  ///
  /// Objects of a class hierarchy are counted under the name of its topmost class that is `Codable` and `Identifiable`. If the
  /// text of a name is missing from the store, its digest is given, as 16 hexadecimal digits. Takes time in proportion to the
  /// number of all objects, and reads none of them.
  ///
  /// - Throws: ``GarageError/damagedText(digest:)`` if a name is damaged, ``GarageError/storage(_:)``.
  public func typeNames() throws -> [String: Int] {
    try withRepeatableReadAccess { try $0.countsByTypeName() }
  }
}

extension ReadAccess {
  fileprivate func countsByTypeName() throws -> [String: Int] {
    // Keys with the same tag stand together.
    var counts: [(tag: UInt64, count: Int)] = []
    try transaction.scanKeys(KeyLayout.allRecords, .forward) { key in
      guard KeyLayout.isRecord(key) else { return .continue }
      let tag = KeyLayout.tag(inRecordKey: key)
      if counts.last?.tag != tag { counts.append((tag, 0)) }
      counts[counts.count - 1].count += 1
      return .continue
    }
    var byName: [String: Int] = [:]
    for (tag, count) in counts {
      let text = try garage.texts.text(TextName(kind: .tag, digest: tag), in: transaction)
      let name = text.map { String(decoding: $0, as: UTF8.self) } ?? hexadecimal(tag)
      byName[name, default: 0] += count
    }
    return byName
  }
}
