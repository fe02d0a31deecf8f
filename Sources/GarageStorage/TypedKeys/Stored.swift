internal import Foundation
internal import Synchronization

/// A property that is the value of a typed key: reading it reads the garage, assigning it sets the key.
///
/// ```swift
/// final class Editor {
///   @Stored(.theme, in: garage) var theme
/// }
/// editor.theme = .dark
/// try editor.$theme.set(.light)
/// ```
/// Types that get their garage when they are made declare `@Stored<Key<Appearance, Theme>> var theme: Theme`, and set
/// `_theme = Stored(.theme, in: garage)` in `init`.
///
/// A property cannot throw. Where its value cannot be read it is the key's default, and where it cannot be written
/// it stays as it is stored; the error goes to ``Garage/propertyErrorHandler``, so that neither happens silently.
/// And an assignment never overwrites a value that cannot be read, so that `count += 1` does not turn a damaged
/// value into the default plus one. Where errors matter, use the verbs that throw: `$theme.get()` and its like.
///
/// Each access is a transaction of its own. Inside a closure of ``Garage/write(retrying:_:)`` use its writer: there
/// an assignment fails.
@propertyWrapper
public struct Stored<K: KeyType> where K.ValueType: Codable {
  /// The key.
  public let key: K
  /// Where its value is kept.
  public let garage: Garage

  /// A property that is the value of a key.
  public init(_ key: K, in garage: Garage) {
    self.key = key
    self.garage = garage
  }

  /// The value of the key; its default where the value cannot be read, which is reported.
  public var wrappedValue: K.ValueType {
    get {
      do { return try get() } catch {
        garage.report(error)
        return key.defaultValue
      }
    }
    nonmutating set {
      do {
        try garage.withWriteAccess { access in
          let old = try access.reading.value(of: key) ?? key.defaultValue
          try access.change(key, from: old, to: newValue)
        }
      } catch { garage.report(error) }
    }
  }

  /// Itself, for the verbs that throw.
  public var projectedValue: Stored<K> { self }

  /// The value of the key; its default where nothing is stored.
  ///
  /// - Throws: as ``GarageReading/get(_:)``.
  public func get() throws -> K.ValueType { try garage.get(key) }

  /// Sets the key, whatever is stored.
  ///
  /// - Throws: as ``GarageWriting/set(_:value:)``.
  public func set(_ value: K.ValueType) throws { try garage.set(key, value: value) }

  /// Reads, changes and sets the value in one transaction.
  ///
  /// - Throws: as ``GarageWriting/update(_:_:)``.
  @discardableResult
  public func update<R>(_ body: (inout K.ValueType) throws -> R) throws -> R { try garage.update(key, body) }

  /// Removes what is stored, also what cannot be read.
  ///
  /// - Throws: as ``GarageWriting/remove(_:)``.
  public func remove() throws { try garage.remove(key) }
}

// For tasks.
extension Stored {
  /// The value of the key; its default where nothing is stored.
  ///
  /// - Throws: as ``Garage/get(_:)``.
  nonisolated(nonsending)
    public func get() async throws -> K.ValueType
  {
    try await garage.get(key)
  }

  /// Sets the key, whatever is stored.
  ///
  /// - Throws: as ``Garage/set(_:value:)``.
  nonisolated(nonsending)
    public func set(_ value: K.ValueType) async throws
  {
    try await garage.set(key, value: value)
  }

  /// Reads, changes and sets the value, as if in one transaction.
  ///
  /// - Throws: as ``Garage/update(_:_:)``.
  @discardableResult
  nonisolated(nonsending)
    public func update<R>(_ body: (inout K.ValueType) throws -> R) async throws -> R
  {
    try await garage.update(key, body)
  }

  /// Removes what is stored, also what cannot be read.
  ///
  /// - Throws: as ``Garage/remove(_:)``.
  nonisolated(nonsending)
    public func remove() async throws
  {
    try await garage.remove(key)
  }
}

extension Stored: Sendable where K: Sendable {}

extension Garage {
  /// Is told the errors of ``Stored`` properties, which cannot throw them, on the thread that used the property.
  /// Nil, as it is in the beginning, writes them to standard error, one line each.
  public var propertyErrorHandler: (@Sendable (any Error) -> Void)? {
    get { propertyErrors.withLock { $0 } }
    set { propertyErrors.withLock { $0 = newValue } }
  }

  fileprivate func report(_ error: any Error) {
    if let handler = propertyErrorHandler { return handler(error) }
    // A property cannot throw, and without a word the default would be taken for the stored value.
    FileHandle.standardError.write(Data("Garage: \(error)\n".utf8))
  }
}
