/// A group of keys. Groups nest to any depth.
///
/// ```swift
/// enum Settings: Namespace { static let id = "settings" }
/// enum Appearance: Namespace {
///   typealias Parent = Settings
///   static let id = "appearance"
/// }
/// ```
/// Nothing makes values of a namespace: an enum without cases serves best.
public protocol Namespace {
  /// The namespace that this one is part of; ``GlobalNamespace`` unless told otherwise.
  associatedtype Parent: Namespace = parent
  /// The same in Storez's spelling. Say one of them.
  associatedtype parent: Namespace = GlobalNamespace

  /// The namespace's name in its parent. It is stored. One without text adds nothing to the keys in it.
  static var id: String { get }

  /// Runs before a commit that changes keys in this namespace or in those below it: once for each commit, at its
  /// end, inside its transaction. What it throws prevents the commit, and comes out of the call that wanted it.
  ///
  /// It may read the garage, which shows the last commit, and cannot change it. Where the storage asks for
  /// another try, it runs again.
  static func preCommitHook() throws

  /// Runs after a commit that changed keys in this namespace or in those below it, once for each commit, on the
  /// thread that committed. It may read and change the garage.
  static func postCommitHook()
}

extension Namespace {
  /// Does nothing.
  public static func preCommitHook() throws {}

  /// Does nothing.
  public static func postCommitHook() {}

  /// The parent; nil where there is none. One that is its own parent has none.
  static var outer: (any Namespace.Type)? {
    isOutermost ? nil : Parent.self
  }

  /// Whether there is no parent.
  @inlinable
  static var isOutermost: Bool { Parent.self == GlobalNamespace.self || Parent.self == Self.self }

  /// The names from the outermost namespace to this one, as ``Key/stringValue`` has them.
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
  /// Itself: nothing is around it.
  public typealias Parent = GlobalNamespace
  /// The same.
  public typealias parent = GlobalNamespace

  /// Empty.
  public static var id: String { "" }
}
