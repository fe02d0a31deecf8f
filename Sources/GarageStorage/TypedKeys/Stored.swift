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
/// A type that gets its garage in `init` declares `@Stored<Key<Appearance, Theme>> var theme: Theme`, and sets `_theme =
/// Stored(.theme, in: garage)` there.
///
/// A property cannot throw. If its value cannot be read, the property gives the key's default; if it cannot be written, the
/// stored value stays. The error goes to ``Garage/propertyErrorHandler``, so neither happens silently. An assignment never
/// overwrites a value that cannot be read, so that `count += 1` does not turn a damaged value into the default plus one. If
/// errors matter, use the verbs that throw: `$theme.get()` and the others.
///
/// Each access is a transaction of its own. Inside a closure of ``Garage/write(retrying:_:)`` an assignment fails: use the
/// closure's writer there.
@propertyWrapper
public struct Stored<K: KeyType> where K.ValueType: Codable {
  /// The key.
  public let key: K
  /// The garage that keeps the key's value.
  public let garage: Garage

  /// A property that is the value of a key.
  public init(_ key: K, in garage: Garage) {
    self.key = key
    self.garage = garage
  }

  /// The value of the key; its default if the value cannot be read, which is reported.
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

  /// The wrapper itself, for the verbs that throw.
  public var projectedValue: Stored<K> { self }

  /// The value of the key; its default if nothing is stored.
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

  /// Removes the stored value, also one that cannot be read.
  ///
  /// - Throws: as ``GarageWriting/remove(_:)``.
  public func remove() throws { try garage.remove(key) }
}

// For tasks.
extension Stored {
  /// The value of the key; its default if nothing is stored.
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

  /// Removes the stored value, also one that cannot be read.
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
  /// Called with the errors of ``Stored`` properties, which cannot throw them, on the thread that used the property. If it is
  /// nil, which is the default, each error is written to standard error as one line.
  public var propertyErrorHandler: (@Sendable (any Error) -> Void)? {
    get { propertyErrors.withLock { $0 } }
    set { propertyErrors.withLock { $0 = newValue } }
  }

  fileprivate func report(_ error: any Error) {
    if let handler = propertyErrorHandler { return handler(error) }
    // A property cannot throw. Without this line, the default would be taken for the stored value.
    FileHandle.standardError.write(Data("Garage: \(error)\n".utf8))
  }
}
