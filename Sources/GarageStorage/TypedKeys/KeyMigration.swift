public import Foundation
internal import GarageDriver

/// An entry of `UserDefaults` that is to become the value of a typed key.
///
/// ```swift
/// try garage.migrate([
///   KeyMigration(to: .launchCount, from: "LaunchCount", in: .standard),
///   KeyMigration(to: .city, from: "CityId", in: .standard) { old in
///     (old as? String).flatMap { database.city($0) }
///   },
/// ])
/// ```
public struct KeyMigration {
  /// An entry that may be removed once its move is committed.
  struct Move {
    let entry: String
    /// The key that it moves to, as it stands in the store.
    let key: StorageKey
    /// Sets the key; nil if that has a value already.
    let set: ((WriteAccess) throws -> Void)?
  }

  /// Finds out what is to be moved, and changes nothing: nil if nothing is. `isSet` tells whether an earlier migration of the same
  /// call sets the key.
  let plan: (_ access: WriteAccess, _ isSet: (StorageKey) -> Bool) throws -> Move?
  let defaults: UserDefaults

  /// Takes over an entry, converted by `processor`.
  ///
  /// - Parameters:
  ///   - key: the key to set.
  ///   - oldKey: the name of the entry.
  ///   - defaults: the defaults with the entry.
  ///   - processor: converts the entry's value to the key's value. If it returns nil, the entry stays where it is.
  public init<K: KeyType>(
    to key: K, from oldKey: String, in defaults: UserDefaults,
    processor: @escaping (_ oldValue: Any) throws -> K.ValueType?
  ) where K.ValueType: Codable {
    self.init(to: key, fromFirstOf: [oldKey], in: defaults, processor: processor)
  }

  /// Takes over an entry that holds the property-list form of a value of the key's type: numbers, text, dates, data, raw values
  /// of enums, arrays and dictionaries of these.
  ///
  /// - Parameters:
  ///   - key: the key to set.
  ///   - oldKey: the name of the entry.
  ///   - defaults: the defaults with the entry.
  public init<K: KeyType>(to key: K, from oldKey: String, in defaults: UserDefaults)
  where K.ValueType: Codable {
    self.init(to: key, from: oldKey, in: defaults) { oldValue in
      do {
        return try KeyMigration.value(ofPropertyList: oldValue)
      } catch {
        throw GarageError.failedToMigrate(
          entry: oldKey, key: key.stringValue,
          reason: "it is a \(type(of: oldValue)), which does not decode as \(K.ValueType.self)")
      }
    }
  }

  /// Decodes a value from a property list.
  package static func value<V: Decodable>(ofPropertyList object: Any) throws -> V? {
    if let value = object as? V { return value }
    guard PropertyListSerialization.propertyList([object], isValidFor: .binary) else {
      throw CocoaError(.propertyListWriteInvalid)
    }
    let data = try PropertyListSerialization.data(fromPropertyList: [object], format: .binary, options: 0)
    return try PropertyListDecoder().decode([V].self, from: data).first
  }

  /// Takes over the first of these entries that exists.
  package init<K: KeyType>(
    to key: K, fromFirstOf oldKeys: [String], in defaults: UserDefaults,
    processor: @escaping (Any) throws -> K.ValueType?
  ) where K.ValueType: Codable {
    self.defaults = defaults
    plan = { access, isSet in
      let name = try KeyName.with(key) { bytes, _ in StorageKey(bytes) }
      for oldKey in oldKeys {
        guard let oldValue = defaults.object(forKey: oldKey) else { continue }
        // The key was set after the entry was written, or by an earlier migration that ended before it removed the entry.
        if try isSet(name) || access.contains(key) { return Move(entry: oldKey, key: name, set: nil) }
        guard let value = try passingErrors({ try processor(oldValue) }), !isNil(value) else { return nil }
        return Move(entry: oldKey, key: name) { try $0.change(key, to: value) }
      }
      return nil
    }
  }
}

extension GarageWriting {
  /// Moves entries of `UserDefaults` into the garage, all in one transaction.
  ///
  /// Missing entries are skipped. A key that already has a value keeps it. The old entries are removed after everything is
  /// committed; while changes stay unsaved, that is at ``Garage/save()``, but at once if the key's value is saved already.
  /// Migrating again does nothing, so the call may stand at the beginning of a program.
  ///
  /// - Throws: ``GarageError/failedToMigrate(entry:key:reason:)``, the errors of the processors, and as ``set(_:value:)``.
  ///   Nothing is moved or removed then.
  public func migrate(_ migrations: [KeyMigration]) throws {
    try withWriteAccess { try $0.migrate(migrations) }
  }
}

extension WriteAccess {
  func migrate(_ migrations: [KeyMigration]) throws {
    var moves: [(move: KeyMigration.Move, defaults: UserDefaults)] = []
    var keys: Set<StorageKey> = []
    // All entries are converted before the first key is set: inside a transaction the caller may catch an error, and commit.
    for migration in migrations {
      guard let move = try migration.plan(self, { keys.contains($0) }) else { continue }
      keys.insert(move.key)
      moves.append((move, migration.defaults))
    }
    var hasSet = false
    for (move, defaults) in moves {
      if let set = move.set {
        if hasSet { try forbiddingCommit { try set(self) } } else { try set(self) }
        hasSet = true
      }
      if move.set == nil, try hasSavedValue(move.key) {
        // No commit would come for the sake of this entry.
        defaults.removeObject(forKey: move.entry)
      } else {
        pending.hooks.afterCommit { defaults.removeObject(forKey: move.entry) }
      }
    }
  }

  /// Whether changes stay unsaved, and a key has a value that is none of them.
  private func hasSavedValue(_ key: StorageKey) throws -> Bool {
    guard let overlay else { return false }
    let bytes = key.bytes.span.bytes
    return try overlay.changes.change(of: bytes) == nil && overlay.base.contains(bytes)
  }
}
