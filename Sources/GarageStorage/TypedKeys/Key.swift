/// A key: its name in a namespace, the type of its value, and the value that it has while none is set.
///
/// ```swift
/// extension KeyType where Self == Key<Appearance, Theme> {
///   static var theme: Self { Key(id: "theme", defaultValue: .light) }
/// }
/// try garage.get(.theme)               // .light
/// try garage.set(.theme, value: .dark)
/// ```
public struct Key<NamespaceType: Namespace, ValueType>: KeyType {
  /// Changes a value that is about to be set.
  public typealias ChangeBlock = @Sendable (ValueType) -> ValueType

  /// The key's name in its namespace. It is stored.
  public var id: String
  /// What `get` returns while nothing is stored.
  public var defaultValue: ValueType
  /// Changes each value before it is set.
  public var changeBlock: ChangeBlock?

  /// A key.
  ///
  /// - Parameters:
  ///   - id: the key's name in its namespace.
  ///   - defaultValue: what `get` returns while nothing is stored.
  ///   - changeBlock: returns the value to be set in place of its argument.
  @inlinable
  public init(id: String, defaultValue: ValueType, changeBlock: ChangeBlock? = nil) {
    self.id = id
    self.defaultValue = defaultValue
    self.changeBlock = changeBlock
  }

  /// The names of all namespaces around the key, the outermost first, and the key's own name, joined by colons. Empty names are
  /// left out. Example: `settings:appearance:theme`.
  public var stringValue: String {
    (NamespaceType.path + (id.isEmpty ? [] : [id])).joined(separator: ":")
  }

  /// The result of ``changeBlock`` for `newValue`; `newValue` if there is none.
  public func processChange(_ oldValue: ValueType, newValue: ValueType) -> ValueType {
    changeBlock?(newValue) ?? newValue
  }

  /// Whether there is a ``changeBlock``.
  @inlinable
  public var observesChanges: Bool { changeBlock != nil }

  /// Writes ``stringValue``.
  @inlinable
  public func writeStringValue(to name: inout KeyName) {
    name.appendPath(of: NamespaceType.self)
    name.appendPart(id)
  }
}

extension Key: Sendable where ValueType: Sendable {}
