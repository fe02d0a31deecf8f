public import Foundation

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
  /// Moves one entry. Returns the entry's name if the entry may be removed once the move is committed.
  let move: (WriteAccess) throws -> String?
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
    move = { access in
      for oldKey in oldKeys {
        guard let oldValue = defaults.object(forKey: oldKey) else { continue }
        // The key was set after the entry was written, or by an earlier migration that ended before it removed the entry.
        if try access.contains(key) { return oldKey }
        guard let value = try passingErrors({ try processor(oldValue) }), !isNil(value) else { return nil }
        try access.change(key, to: value)
        return oldKey
      }
      return nil
    }
  }
}

extension GarageWriting {
  /// Moves entries of `UserDefaults` into the garage, all in one transaction.
  ///
  /// Missing entries are skipped. A key that already has a value keeps it. The old entries are removed after everything is
  /// committed; while changes stay unsaved, that is at ``Garage/save()``. Migrating again does nothing, so the call may stand
  /// at the beginning of a program.
  ///
  /// - Throws: ``GarageError/failedToMigrate(entry:key:reason:)``, the errors of the processors, and as ``set(_:value:)``.
  ///   Nothing is moved or removed then.
  public func migrate(_ migrations: [KeyMigration]) throws {
    try withWriteAccess { try $0.migrate(migrations) }
  }
}

extension WriteAccess {
  func migrate(_ migrations: [KeyMigration]) throws {
    for migration in migrations {
      guard let entry = try migration.move(self) else { continue }
      let defaults = migration.defaults
      pending.hooks.afterCommit { defaults.removeObject(forKey: entry) }
    }
  }
}
