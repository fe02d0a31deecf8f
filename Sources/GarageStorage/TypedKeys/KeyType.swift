/// What names a value: where it is kept, of which type it is, and what it is when nothing was set.
///
/// ``Key`` is one. Make your own for keys that do something when they change:
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
/// Of two keys in one namespace with the same ``stringValue`` there is one value.
///
/// Setting a value goes in this order: the old value is read, ``processChange(_:newValue:)``,
/// ``willChange(_:newValue:)``, the value is written, ``Namespace/preCommitHook()``, the commit,
/// ``Namespace/postCommitHook()``, ``didChange(_:newValue:)``. The first three run inside the transaction, where
/// the garage shows the last commit and cannot be changed, and again where the storage asks for another try. The
/// last two run after the commit and not at all when it fails; while changes stay unsaved they wait for
/// ``Garage/save()``, and run on the thread that calls it.
public protocol KeyType {
  /// The namespace that the key is in.
  associatedtype NamespaceType: Namespace
  /// The type of the value. It has to be `Codable` to be kept.
  associatedtype ValueType

  /// The key's name in its namespace. It is stored.
  var stringValue: String { get }
  /// What `get` returns while nothing is stored.
  var defaultValue: ValueType { get }

  /// Called before the new value is written. Does nothing unless you say so.
  func willChange(_ oldValue: ValueType, newValue: ValueType)
  /// Returns what is written in place of `newValue`: the same unless you say so.
  func processChange(_ oldValue: ValueType, newValue: ValueType) -> ValueType
  /// Called after the commit. Does nothing unless you say so.
  func didChange(_ oldValue: ValueType, newValue: ValueType)

  /// Whether the three functions are called: true unless you say so. Where it is false, setting a value need not
  /// read the old one.
  var observesChanges: Bool { get }

  /// Writes ``stringValue``. For the library, which spares itself a string; there is no need to implement it.
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
