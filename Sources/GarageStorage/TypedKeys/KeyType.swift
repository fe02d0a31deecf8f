/// Names a value: where it is kept, its type, and its default while nothing is set.
///
/// ``Key`` is such a type. Make your own for keys that do something when they change:
///
/// ```swift
/// struct NotifyingKey<N: Namespace, V>: KeyType {
///   typealias NamespaceType = N
///   typealias ValueType = V
///   var stringValue: String
///   var defaultValue: V
///
///   func didChange(_ oldValue: V, newValue: V) {
///     NotificationCenter.default.post(name: Notification.Name(stringValue), object: nil)
///   }
/// }
/// ```
/// Two keys in one namespace with the same ``stringValue`` share one value.
///
/// A value is set in these steps: the old value is read; ``processChange(_:newValue:)``; ``willChange(_:newValue:)``; the value
/// is written; ``Namespace/preCommitHook()``; the commit; ``Namespace/postCommitHook()``; ``didChange(_:newValue:)``. The first
/// three functions run inside the transaction, where the garage shows the last commit and cannot be changed. They run again if
/// the storage asks for another try. The last two run after the commit, and not at all if it fails. While changes stay unsaved,
/// they wait for ``Garage/save()``, and run on the thread that calls it.
public protocol KeyType {
  /// The namespace that the key is in.
  associatedtype NamespaceType: Namespace
  /// The type of the value. It has to be `Codable` to be kept.
  associatedtype ValueType

  /// The key's name in its namespace. It is stored.
  var stringValue: String { get }
  /// What `get` returns while nothing is stored.
  var defaultValue: ValueType { get }

  /// Called before the new value is written. The default does nothing.
  func willChange(_ oldValue: ValueType, newValue: ValueType)
  /// Returns the value to be written in place of `newValue`. The default returns `newValue`.
  func processChange(_ oldValue: ValueType, newValue: ValueType) -> ValueType
  /// Called after the commit. The default does nothing.
  func didChange(_ oldValue: ValueType, newValue: ValueType)

  /// Whether the three functions are called; the default is true. If it is false, setting a value need not read the old one.
  var observesChanges: Bool { get }

  /// Writes ``stringValue``. It lets the library do without a string. You need not implement it.
  func writeStringValue(to name: inout KeyName)
}

extension KeyType {
  /// Does nothing.
  public func willChange(_ oldValue: ValueType, newValue: ValueType) {}
  /// Returns `newValue`.
  public func processChange(_ oldValue: ValueType, newValue: ValueType) -> ValueType { newValue }
  /// Does nothing.
  public func didChange(_ oldValue: ValueType, newValue: ValueType) {}
  /// True.
  public var observesChanges: Bool { true }
  /// Writes ``stringValue``.
  @inlinable
  public func writeStringValue(to name: inout KeyName) { name.append(stringValue) }
}
