public import Foundation
public import GarageStorage

/// What Storez 5 wrote into `UserDefaults`: data under the key's name, which are JSON, an array of the one value, or
/// a keyed archive.
extension KeyMigration {
  /// Takes over what Storez wrote for this key.
  ///
  /// Looks under the name that Storez gave the key, which had no grandparent's name in it.
  ///
  /// - Parameters:
  ///   - key: the key to set.
  ///   - defaults: the `UserDefaults` that the `UserDefaultsStore` worked on.
  public init<N: Namespace, V: Codable>(fromStorez key: Key<N, V>, in defaults: UserDefaults) {
    self.init(to: key, fromFirstOf: storezNames(of: key), in: defaults) { try storezValue($0, for: key) }
  }

  /// Takes over what Storez wrote for a key of your own, under its ``KeyType/stringValue``.
  ///
  /// - Parameters:
  ///   - key: the key to set.
  ///   - defaults: the `UserDefaults` that the `UserDefaultsStore` worked on.
  public init<K: KeyType>(fromStorez key: K, in defaults: UserDefaults) where K.ValueType: Codable {
    self.init(to: key, fromFirstOf: [key.stringValue], in: defaults) { try storezValue($0, for: key) }
  }

  /// Takes over what Storez wrote for this key, whose type was `UserDefaultsConvertible`.
  ///
  /// - Parameters:
  ///   - key: the key to set.
  ///   - defaults: the `UserDefaults` that the `UserDefaultsStore` worked on.
  ///   - convert: makes the value of the object that stood for it: what `decode` did. Where it returns nil the entry
  ///     is left where it is.
  public init<N: Namespace, V: Codable, Underlying: NSObject>(
    fromStorez key: Key<N, V>, in defaults: UserDefaults, _ convert: @escaping (Underlying) throws -> V?
  ) {
    self.init(to: key, fromFirstOf: storezNames(of: key), in: defaults) { entry in
      guard let data = entry as? Data, let object = unarchived(data) as? Underlying else {
        throw unreadable(entry, key, "it is no archive of a \(Underlying.self)")
      }
      return try convert(object)
    }
  }
}

/// The names that Storez may have given a key. It put a colon before the name of one without namespace.
private func storezNames<N: Namespace, V>(of key: Key<N, V>) -> [String] {
  let namespace = [N.Parent.id, N.id].filter { !$0.isEmpty }.joined(separator: ":")
  return namespace.isEmpty ? [":\(key.id)", key.id] : ["\(namespace):\(key.id)"]
}

private func storezValue<K: KeyType>(_ entry: Any, for key: K) throws -> K.ValueType?
where K.ValueType: Codable {
  guard let data = entry as? Data else {
    throw unreadable(entry, key, "it is a \(type(of: entry)) and no data")
  }
  do {
    return try JSONDecoder().decode([K.ValueType].self, from: data).first
  } catch let jsonError {
    guard let object = unarchived(data) else {
      throw unreadable(entry, key, "it is no JSON of a \(K.ValueType.self), and no archive (\(jsonError))")
    }
    do { return try KeyMigration.value(ofPropertyList: object) } catch {
      throw unreadable(entry, key, "it is an archived \(type(of: object)) and no \(K.ValueType.self)")
    }
  }
}

/// The root of a keyed archive of the types that Storez's users could store as they are.
private func unarchived(_ data: Data) -> Any? {
  let classes: [AnyClass] = [
    NSString.self, NSNumber.self, NSDate.self, NSData.self, NSURL.self, NSArray.self, NSDictionary.self,
  ]
  return (try? NSKeyedUnarchiver.unarchivedObject(ofClasses: classes, from: data)) ?? nil
}

private func unreadable(_ entry: Any, _ key: some KeyType, _ reason: String) -> GarageError {
  .failedToMigrate(entry: "Storez's \(key.stringValue)", key: key.stringValue, reason: reason)
}
