public import Foundation
public import GarageStorage

/// Entries that Storez 5 wrote into `UserDefaults`: data under the key's name, which are JSON (an array of one value) or a
/// keyed archive.
extension KeyMigration {
  /// Takes over the entry that Storez wrote for this key.
  ///
  /// Looks under the names that Storez gave the key, which had no grandparent's name in them.
  ///
  /// - Parameters:
  ///   - key: the key to set.
  ///   - defaults: the `UserDefaults` that the `UserDefaultsStore` worked on.
  public init<N: Namespace, V: Codable>(fromStorez key: Key<N, V>, in defaults: UserDefaults) {
    self.init(to: key, fromFirstOf: storezNames(of: key), in: defaults) { try storezValue($0, for: key) }
  }

  /// Takes over the entry that Storez wrote for a key of your own, under its ``KeyType/stringValue``.
  ///
  /// - Parameters:
  ///   - key: the key to set.
  ///   - defaults: the `UserDefaults` that the `UserDefaultsStore` worked on.
  public init<K: KeyType>(fromStorez key: K, in defaults: UserDefaults) where K.ValueType: Codable {
    self.init(to: key, fromFirstOf: [key.stringValue], in: defaults) { try storezValue($0, for: key) }
  }

  /// Takes over the entry that Storez wrote for this key, whose type was `UserDefaultsConvertible`.
  ///
  /// - Parameters:
  ///   - key: the key to set.
  ///   - defaults: the `UserDefaults` that the `UserDefaultsStore` worked on.
  ///   - convert: makes the value from the object that stood for it, as `decode` did. If it returns nil, the entry stays where
  ///     it is. `Underlying` is a class of Foundation, or one of yours with `NSSecureCoding`. If that class had another name
  ///     when the entry was written, declare it with `NSKeyedUnarchiver.setClass(_:forClassName:)`.
  public init<N: Namespace, V: Codable, Underlying: NSObject>(
    fromStorez key: Key<N, V>, in defaults: UserDefaults, _ convert: @escaping (Underlying) throws -> V?
  ) {
    self.init(to: key, fromFirstOf: storezNames(of: key), in: defaults) { entry in
      let object: Underlying
      do { object = try storezObject(entry) } catch let error as KeyedArchive.Fault {
        throw unreadable(entry, key, "\(error), where one of a \(Underlying.self) is expected")
      }
      return try convert(object)
    }
  }
}

/// The names that Storez may have given a key. Storez put a colon before the name of a key without a namespace.
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
    guard let archive = KeyedArchive(data) else {
      throw unreadable(entry, key, "it is no JSON of a \(K.ValueType.self), and no archive (\(jsonError))")
    }
    let object: NSObject
    do { object = try archive.rootObject() } catch { throw unreadable(entry, key, "\(error)") }
    if let value = object as? K.ValueType { return value }
    do { return try KeyMigration.value(ofPropertyList: propertyList(of: object)) } catch {
      throw unreadable(entry, key, "it is an archived \(type(of: object)) and no \(K.ValueType.self)")
    }
  }
}

/// The object in the form of a property list from which a `Codable` type can be decoded.
private func propertyList(of object: Any) -> Any {
  switch object {
  case let uuid as NSUUID: uuid.uuidString
  case let url as NSURL: ["relative": (url as URL).absoluteString]
  case let set as NSSet: set.allObjects.map { propertyList(of: $0) }
  case let set as NSOrderedSet: set.array.map { propertyList(of: $0) }
  case let array as NSArray: array.map { propertyList(of: $0) }
  case let dictionary as NSDictionary:
    // On Apple's platforms, keys that differ only in their Unicode composition are two keys there and one here.
    Dictionary(
      dictionary.map { ("\($0.key)", propertyList(of: $0.value)) }, uniquingKeysWith: { first, _ in first })
  default: object
  }
}

/// The object in an archive that Storez made of a `UserDefaultsConvertible` value.
///
/// - Throws: ``KeyedArchive/Fault``.
private func storezObject<Underlying: NSObject>(_ entry: Any) throws -> Underlying {
  guard let data = entry as? Data, let archive = KeyedArchive(data) else {
    throw KeyedArchive.Fault(description: "it is no archive")
  }
  if let underlying = Underlying.self as? any NSSecureCoding.Type, let name = try archive.rootClass(),
    archivedClass(name) is Underlying.Type, !KeyedArchive.readsItself.contains(name)
  {
    return try unarchived(data, archive, underlying)
  }
  let object = try archive.rootObject()
  guard let object = object as? Underlying ?? (object as? any NSMutableCopying)?.mutableCopy() as? Underlying
  else {
    throw KeyedArchive.Fault(description: "it is an archive of a \(type(of: object))")
  }
  return object
}

/// An object of the user's own class, made once all classes in the archive are known to exist.
private func unarchived<Underlying: NSObject>(
  _ data: Data, _ archive: KeyedArchive, _ type: any NSSecureCoding.Type
) throws -> Underlying {
  for name in try archive.checkedClasses().sorted() where !KeyedArchive.readsItself.contains(name) {
    guard let known = archivedClass(name) as? any NSSecureCoding.Type, known.supportsSecureCoding else {
      throw KeyedArchive.Fault(
        description: "it is an archive with a \(name), which is no class with secure coding")
    }
  }
  #if canImport(Darwin)
    let classes: [AnyClass] = [
      Underlying.self, NSString.self, NSNumber.self, NSDate.self, NSData.self, NSURL.self, NSUUID.self,
      NSArray.self,
      NSDictionary.self, NSSet.self, NSOrderedSet.self,
    ]
    let root = try? NSKeyedUnarchiver.unarchivedObject(ofClasses: classes, from: data)
  #else
    archive.makesOthers = { [unowned archive] name, fields, depth in
      let coder = KeyedArchiveCoder(archive, fields, depth: depth)
      guard let known = archivedClass(name) as? any NSSecureCoding.Type,
        let object = known.init(coder: coder) as? NSObject
      else { throw KeyedArchive.Fault(description: "it is an archive with a \(name) that cannot be read") }
      return object
    }
    let root = try archive.rootObject()
  #endif
  guard let object = root as? Underlying else { throw KeyedArchive.Fault.damaged }
  return object
}

/// The class that has this name in an archive.
private func archivedClass(_ name: String) -> AnyClass? {
  NSKeyedUnarchiver.class(forClassName: name) ?? NSClassFromString(name)
}

private func unreadable(_ entry: Any, _ key: some KeyType, _ reason: String) -> GarageError {
  .failedToMigrate(entry: "Storez's \(key.stringValue)", key: key.stringValue, reason: reason)
}
