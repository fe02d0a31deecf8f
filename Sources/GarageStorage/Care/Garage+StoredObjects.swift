#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif
public import GarageCoding
internal import GarageDriver

// Looking into a store without the Swift types of what is in it.

extension GarageReading {
  /// The identifiers of the objects that are kept under a type's name, in their order, a page of them.
  ///
  /// Reads no records, unless the garage hides identifiers or they are long. The name of a class hierarchy is that of its
  /// topmost class that is `Codable` and `Identifiable`, as in ``typeNames()``.
  ///
  /// - Parameters:
  ///   - name: a name that ``typeNames()`` gave.
  ///   - last: the last identifier of the page before; nil for the first page.
  ///   - limit: how many there are at most.
  /// - Throws: ``GarageError/storage(_:)``, and ``GarageError/corruptRecord(type:identifier:reason:)`` where a damaged record
  ///   has to be asked for its identifier.
  public func identifiers(ofTypeNamed name: String, after last: Identifier? = nil, limit: Int) throws
    -> [Identifier]
  {
    if limit <= 0 { return [] }
    return try withRepeatableReadAccess { access in
      let tag = try access.tag(listedAs: name)
      var range = KeyLayout.records(tag: tag)
      if let last { range.lowerBound = try access.garage.objectKeys.record(tag: tag, last).bytes + [0] }
      var keys: [StorageKey] = []
      try access.transaction.scanKeys(range, .forward) { key in
        if KeyLayout.isRecord(key) { keys.append(StorageKey(key)) }
        return keys.count < limit ? .continue : .stop
      }
      return try keys.map { try access.identity(ofRecord: $0).identifier }
    }
  }

  /// The same, but records that have to be asked for their identifier and cannot be read are reported and passed over. So a
  /// page with fewer than `limit` is the last one.
  ///
  /// - Throws: ``GarageError/storage(_:)``, and what `onDamage` throws.
  package func identifiers(
    ofTypeNamed name: String, after last: Identifier? = nil, limit: Int,
    onDamage: (GarageError) throws -> Void
  ) throws -> [Identifier] {
    let (found, damages) = try withRepeatableReadAccess { access in
      let tag = try access.tag(listedAs: name)
      var range = KeyLayout.records(tag: tag)
      if let last { range.lowerBound = try access.garage.objectKeys.record(tag: tag, last).bytes + [0] }
      var (found, damages): ([Identifier], [GarageError]) = ([], [])
      while found.count < limit {
        let wanted = limit - found.count
        var keys: [StorageKey] = []
        try access.transaction.scanKeys(range, .forward) { key in
          if KeyLayout.isRecord(key) { keys.append(StorageKey(key)) }
          return keys.count < wanted ? .continue : .stop
        }
        found += try access.identifiers(ofRecords: keys) { damages.append($0) }
        guard keys.count == wanted, let end = keys.last else { break }
        range.lowerBound = end.bytes + [0]
      }
      return (found, damages)
    }
    // Once, however often that ran.
    try damages.forEach(onDamage)
    return found
  }

  /// Visits all of them so, until `visit` says no. Each that is damaged is told of once.
  ///
  /// - Throws: as ``identifiers(ofTypeNamed:after:limit:onDamage:)``, and the errors of `visit`.
  package func forEachIdentifier(
    ofTypeNamed name: String, onDamage: (GarageError) throws -> Void,
    _ visit: (Identifier) throws -> Bool
  ) throws {
    let pageCount = 1000
    var last: Identifier?
    while true {
      let page = try identifiers(ofTypeNamed: name, after: last, limit: pageCount, onDamage: onDamage)
      for identifier in page where try !visit(identifier) { return }
      // Behind the last one there may be damaged ones, which were told of.
      if page.count < pageCount { return }
      last = page.last
    }
  }

  /// The object that is kept under a type's name with this identifier, as the store has it; nil where there is none.
  ///
  /// - Throws: ``GarageError/corruptRecord(type:identifier:reason:)``, ``GarageError/storage(_:)``.
  public func storedObject(ofTypeNamed name: String, identifier: Identifier) throws -> StoredObject? {
    try withRepeatableReadAccess { access in
      try access.storedObject(access.garage.objectKeys.record(tag: access.tag(listedAs: name), identifier))
    }
  }

  /// The object that a reference in a ``StoredObject`` leads to, as the store has it; nil where there is none.
  ///
  /// - Throws: as ``storedObject(ofTypeNamed:identifier:)``.
  public func storedObject(_ identity: RecordIdentity) throws -> StoredObject? {
    try withRepeatableReadAccess { access in
      try access.storedObject(access.garage.objectKeys.record(tag: identity.tag, identity.identifier))
    }
  }

  /// The name of the type that an identity names; nil where the store has none for it.
  ///
  /// - Throws: ``GarageError/damagedText(digest:)``, ``GarageError/storage(_:)``.
  public func typeName(of identity: RecordIdentity) throws -> String? {
    try withRepeatableReadAccess { try $0.name(ofTag: identity.tag) }
  }

  /// The name under which the type of an identity is listed: its own or, if that is gone or damaged, its digest.
  ///
  /// - Throws: ``GarageError/storage(_:)``.
  package func listedTypeName(of identity: RecordIdentity) throws -> String {
    try withRepeatableReadAccess { try $0.listedName(ofTag: identity.tag) }
  }

  /// The identity of the object with this identifier whose type is listed under this name, whether or not there is one.
  ///
  /// - Throws: ``GarageError/storage(_:)``.
  package func identity(_ identifier: Identifier, listedAs name: String) throws -> RecordIdentity {
    try withRepeatableReadAccess { RecordIdentity(tag: try $0.tag(listedAs: name), identifier: identifier) }
  }

  /// The values of all typed keys, in the order of their keys, as the store has them.
  ///
  /// - Throws: ``GarageError/corruptValue(key:reason:)``, ``GarageError/storage(_:)``.
  public func storedKeyValues() throws -> [StoredKeyValue] { try storedKeyValues { throw $0 } }

  /// The same, but damaged ones are reported and passed over.
  ///
  /// - Throws: ``GarageError/storage(_:)``, and what `onDamage` throws.
  package func storedKeyValues(onDamage: (GarageError) throws -> Void) throws -> [StoredKeyValue] {
    try withRepeatableReadAccess { access in
      var values: [StoredKeyValue] = []
      let isSealed = access.garage.objectKeys.isSealed
      try access.transaction.forEachEntry(in: KeyLayout.allValues, isSealed: isSealed) { key, value in
        let name = KeyName.text(ofKey: key)
        guard let value else {
          return try onDamage(
            .corruptValue(key: name, reason: "its seal does not open: it was damaged, or put here by others"))
        }
        do {
          let content = try RecordValue(
            valueUnder: KeyLayout.checked(key), value, shapeText: access.shapeText)
          values.append(
            StoredKeyValue(name: name, byteCount: key.byteCount + value.byteCount, value: content))
        } catch let damage as ValueDamage {
          try onDamage(GarageError(damage, key: name))
        }
      }
      return values
    }
  }
}

extension ReadAccess {
  /// The identifiers of records, except those that have to be asked for it and cannot be read.
  func identifiers(ofRecords keys: [StorageKey], onDamage: (GarageError) throws -> Void) throws
    -> [Identifier]
  {
    try identities(ofRecords: keys, onDamage: onDamage).map(\.identifier)
  }

  /// The identities of records; what is wrong with those that have to be asked for theirs, and cannot be read.
  func identities(ofRecords keys: [StorageKey], onDamage: (GarageError) throws -> Void) throws
    -> [RecordIdentity]
  {
    try keys.compactMap { key in
      do { return try identity(ofRecord: key) } catch {
        guard let damage = translated(error) as? GarageError, damage.isOfOneRecord else { throw error }
        try onDamage(damage)
        return nil
      }
    }
  }

  /// The text of the shape with that digest; nil where the store has none.
  func shapeText(_ digest: UInt64) throws -> [UInt8]? {
    try garage.texts.text(TextName(kind: .shape, digest: digest), in: transaction)
  }

  /// The name of the type with that tag; nil where the store has none.
  func name(ofTag tag: UInt64) throws -> String? {
    let text = try garage.texts.text(TextName(kind: .tag, digest: tag), in: transaction)
    return text.map { String(decoding: $0, as: UTF8.self) }
  }

  /// The name that people see for the type with that tag: its own or, if that is gone or damaged, its digest, 16 hexadecimal
  /// digits.
  func listedName(ofTag tag: UInt64) throws -> String {
    do { return try name(ofTag: tag) ?? hexadecimal(tag) } catch GarageError.damagedText {
      return hexadecimal(tag)
    }
  }

  /// The tag of the type that is listed under a name, which may be a digest: ``listedName(ofTag:)``.
  func tag(listedAs name: String) throws -> UInt64 {
    let tag = TypeTag(name: name).digest
    guard name.utf8.count == 16, let digest = UInt64(name, radix: 16), hexadecimal(digest) == name,
      try listedName(ofTag: digest) == name
    else { return tag }
    return digest
  }

  fileprivate func storedObject(_ key: StorageKey) throws -> StoredObject? {
    let bytes = key.bytes.span.bytes
    let tag = KeyLayout.tag(inRecordKey: bytes)
    let typeName = try listedName(ofTag: tag)
    return try transaction.withValue(for: bytes) { record -> StoredObject? in
      guard let record else { return nil }
      let content = try garage.objectKeys.withIdentifier(of: bytes, record, typeName: typeName) {
        try RecordContent(
          tag: tag, keyIdentifier: $0, record: record, typeName: typeName, shapeText: shapeText)
      }
      let summary = content.header
      let concrete = try summary.concreteTag.map { try listedName(ofTag: $0) }
      return StoredObject(
        type: concrete ?? typeName, identifier: try identity(ofRecord: key).identifier,
        modificationDate: Date(timeIntervalSince1970: Double(summary.modificationTime) / 1000),
        syncStatus: summary.syncStatus, typeVersion: summary.typeVersion,
        byteCount: bytes.byteCount + record.byteCount, value: content.value)
    }
  }
}

extension GarageError {
  /// Whether one record is the reason of the error, and others can be read.
  fileprivate var isOfOneRecord: Bool {
    switch self {
    case .corruptRecord, .newerRecordFormat: true
    case .storage(let failure): failure.isOfOneValue
    default: false
    }
  }
}

/// A type of which there are objects in a store, by the name that the store has for it.
public struct StoredType: Sendable, Hashable {
  /// The name: its tag. Of a class hierarchy that of its topmost class that is `Codable` and `Identifiable`.
  public var name: String
  /// How many objects there are.
  public var objectCount: Int
  /// The bytes of their keys and records. What the engine adds is not in it.
  public var byteCount: Int
}

extension GarageReading {
  /// The types that there are objects of, in the order of their names. Goes through all records, and looks into none.
  ///
  /// A type whose name is gone from the store, or damaged, is listed by its digest, 16 hexadecimal digits, which stands for the
  /// name in the calls here. ``Garage/statistics(progress:)`` tells more, and takes longer.
  ///
  /// - Throws: ``GarageError/storage(_:)``.
  public func storedTypes() throws -> [StoredType] {
    try withRepeatableReadAccess { access in
      // Keys stand together by tag.
      var types: [(tag: UInt64, count: Int, byteCount: Int)] = []
      let isSealed = access.garage.objectKeys.isSealed
      try access.transaction.forEachEntry(in: KeyLayout.allRecords, isSealed: isSealed) { key, record in
        guard KeyLayout.isRecord(key) else { return }
        let tag = KeyLayout.tag(inRecordKey: key)
        if types.last?.tag != tag { types.append((tag, 0, 0)) }
        types[types.count - 1].count += 1
        types[types.count - 1].byteCount += key.byteCount + (record?.byteCount ?? 0)
      }
      return try types.map {
        StoredType(
          name: try access.listedName(ofTag: $0.tag), objectCount: $0.count, byteCount: $0.byteCount)
      }.sorted { $0.name < $1.name }
    }
  }

  /// The names of the types that there are objects of, in their order. Looks at one key of each type.
  ///
  /// - Throws: ``GarageError/storage(_:)``.
  package func storedTypeNames() throws -> [String] {
    try withRepeatableReadAccess { access in
      var names: [String] = []
      var range = KeyLayout.allRecords
      while true {
        var found: UInt64?
        try access.transaction.scanKeys(range, .forward) { key in
          if KeyLayout.isRecord(key) { found = KeyLayout.tag(inRecordKey: key) }
          return found == nil ? .continue : .stop
        }
        guard let tag = found else { break }
        names.append(try access.listedName(ofTag: tag))
        guard let end = KeyLayout.records(tag: tag).upperBound else { break }
        range.lowerBound = end
      }
      return names.sorted()
    }
  }
}

extension GarageReading {
  /// How many typed keys have a value.
  ///
  /// - Throws: ``GarageError/storage(_:)``.
  public func storedKeyCount() throws -> Int {
    try withRepeatableReadAccess { access in
      var count = 0
      try access.transaction.scanKeys(KeyLayout.allValues, .forward) { _ in
        count += 1
        return .continue
      }
      return count
    }
  }

  /// The identifier that people write as this text, of an object that is kept under a type's name; nil where there is no
  /// such object.
  ///
  /// - Throws: ``GarageError/storage(_:)``.
  public func identifier(describedAs text: String, ofTypeNamed name: String) throws -> Identifier? {
    try withRepeatableReadAccess { access in
      let tag = try access.tag(listedAs: name)
      return try Identifier.all(describedAs: text).first {
        try access.transaction.contains(access.garage.objectKeys.record(tag: tag, $0))
      }
    }
  }

  /// The identity of the object that is kept under a type's name, with the identifier that people write as this text; nil
  /// where there is no such object.
  ///
  /// - Throws: ``GarageError/storage(_:)``.
  public func identity(describedAs text: String, ofTypeNamed name: String) throws -> RecordIdentity? {
    try withRepeatableReadAccess { access in
      let tag = try access.tag(listedAs: name)
      return try Identifier.all(describedAs: text).first {
        try access.transaction.contains(access.garage.objectKeys.record(tag: tag, $0))
      }.map { RecordIdentity(tag: tag, identifier: $0) }
    }
  }
}

extension RecordIdentity {
  /// The identity of the object that is kept under a type's name with this identifier, whether or not there is one.
  ///
  /// - Parameters:
  ///   - name: the name that the store has for the type: ``GarageReading/typeNames()``.
  ///   - identifier: the object's identifier.
  public init(typeNamed name: String, _ identifier: Identifier) {
    self.init(tag: TypeTag(name: name).digest, identifier: identifier)
  }
}
