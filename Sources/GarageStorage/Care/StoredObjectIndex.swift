package import GarageCoding
internal import GarageDriver

/// How many objects are kept under a type's name, and where in the order of their keys each stands, to show a part of very
/// many. It has the key of every 512th.
package struct StoredObjectIndex: Sendable {
  fileprivate static let interval = 512

  fileprivate let tag: UInt64
  fileprivate var anchors: [StorageKey] = []
  /// How many there are.
  package fileprivate(set) var count = 0
}

extension GarageReading {
  /// Goes through the keys of the objects that are kept under a type's name.
  ///
  /// - Throws: ``GarageError/storage(_:)``.
  package func objectIndex(ofTypeNamed name: String) throws -> StoredObjectIndex {
    try withRepeatableReadAccess { access in
      var index = StoredObjectIndex(tag: try access.tag(listedAs: name))
      try access.transaction.scanKeys(KeyLayout.records(tag: index.tag), .forward) { key in
        if KeyLayout.isRecord(key) {
          if index.count % StoredObjectIndex.interval == 0 { index.anchors.append(StorageKey(key)) }
          index.count += 1
        }
        return .continue
      }
      return index
    }
  }

  /// The identifiers of a part of the objects, in the order of their keys. Where the store was changed since the index was made,
  /// the part may begin a little before or behind.
  ///
  /// - Parameter onDamage: is told of records that have to be asked for their identifier, and cannot be read.
  /// - Throws: ``GarageError/storage(_:)``, and what `onDamage` throws.
  package func identifiers(
    in index: StoredObjectIndex, from offset: Int, limit: Int,
    onDamage: (GarageError) throws -> Void = { throw $0 }
  ) throws -> [Identifier] {
    if offset < 0 || limit <= 0 || offset >= index.count { return [] }
    return try withRepeatableReadAccess { access in
      var range = KeyLayout.records(tag: index.tag)
      let (anchor, rest) = offset.quotientAndRemainder(dividingBy: StoredObjectIndex.interval)
      range.lowerBound = index.anchors[anchor].bytes
      var (skipped, keys) = (0, [StorageKey]())
      try access.transaction.scanKeys(range, .forward) { key in
        if !KeyLayout.isRecord(key) { return .continue }
        if skipped < rest { skipped += 1 } else { keys.append(StorageKey(key)) }
        return keys.count < limit ? .continue : .stop
      }
      return try access.identifiers(ofRecords: keys, onDamage: onDamage)
    }
  }
}
