/// A group of keys. Groups nest to any depth.
///
/// ```swift
/// enum Settings: Namespace { static let id = "settings" }
/// enum Appearance: Namespace {
///   typealias Parent = Settings
///   static let id = "appearance"
/// }
/// ```
/// No values of a namespace are made, so an enum without cases serves best.
public protocol Namespace {
  /// The namespace around this one. ``GlobalNamespace`` by default.
  associatedtype Parent: Namespace = parent
  /// The same, as Storez spells it. Declare only one of the two.
  associatedtype parent: Namespace = GlobalNamespace

  /// The namespace's name in its parent. It is stored. An empty name adds nothing to the names of the keys.
  static var id: String { get }

  /// Runs before a commit that changes keys in this namespace or in the namespaces inside it: once for each commit, at its end,
  /// inside its transaction. An error that it throws prevents the commit, and is thrown by the call that wanted to commit.
  ///
  /// It may read the garage, which shows the last commit, but cannot change it. If the storage asks for another try, it runs
  /// again.
  static func preCommitHook() throws

  /// Runs after a commit that changed keys in this namespace or in the namespaces inside it: once for each commit, on the
  /// thread that committed. It may read and change the garage.
  static func postCommitHook()
}

extension Namespace {
  /// Does nothing.
  public static func preCommitHook() throws {}

  /// Does nothing.
  public static func postCommitHook() {}

  /// The parent; nil if there is none. A namespace that is its own parent has none.
  static var outer: (any Namespace.Type)? {
    isOutermost ? nil : Parent.self
  }

  /// Whether there is no parent.
  @inlinable
  static var isOutermost: Bool { Parent.self == GlobalNamespace.self || Parent.self == Self.self }

  /// The names from the outermost namespace to this one, in the order of ``Key/stringValue``.
  static var path: [String] {
    var path: [String] = []
    var next: (any Namespace.Type)? = Self.self
    while let namespace = next {
      if !namespace.id.isEmpty { path.append(namespace.id) }
      next = namespace.outer
    }
    return path.reversed()
  }
}

/// The namespace of keys that are in no other. It has no name.
public enum GlobalNamespace: Namespace {
  /// Itself, because no namespace is around it.
  public typealias Parent = GlobalNamespace
  /// The same, as Storez spells it.
  public typealias parent = GlobalNamespace

  /// Empty.
  public static var id: String { "" }
}
