public import GarageCoding

/// What is in a store: how much of what.
public struct StoreStatistics: Sendable, Hashable {
  /// What there is of one type.
  public struct TypeStatistics: Sendable, Hashable {
    /// The type's name in the store: its tag. A subclass's objects are counted under its own. Where the store has lost the name,
    /// or it cannot be read, this says so, with the 16 digits that stand for it wherever a type is named; a program that parks an
    /// object of the type puts it right.
    public var name: String
    /// How many objects there are.
    public var objectCount = 0
    /// The bytes of their keys and records. What the engine adds is not in it.
    public var byteCount = 0
    /// The bytes of the largest one, key and record.
    public var largestByteCount = 0
    /// The identifier of the largest one, in words.
    public var largestIdentifier = ""
    /// How many references its objects hold, by how they are loaded.
    public var outgoingReferences: [ReferenceKind: Int] = [:]
    /// How many references of objects, and of the values of typed keys, lead to its identity space. Of a class with
    /// subclasses those of all are counted under its topmost one.
    public var incomingReferenceCount = 0
    /// How many objects have each sync status; empty for types that have none.
    public var syncStatuses: [SyncStatus: Int] = [:]
    /// How many records are damaged: of those nothing else is counted but their bytes.
    public var damagedCount = 0
  }

  /// The types there are objects of, in the order of their names.
  public internal(set) var types: [TypeStatistics] = []
  /// How many typed keys have a value.
  public internal(set) var keyCount = 0
  /// The bytes of typed keys and their values.
  public internal(set) var keyByteCount = 0
  /// The bytes of everything else: names, entries for sync statuses, metadata.
  public internal(set) var otherByteCount = 0
  /// How many bytes of the store's files are free to be used again: ``Garage/compact(progress:)`` may give them back. Nil
  /// where the engine does not tell.
  public internal(set) var freeByteCount: Int?

  /// How many objects there are.
  public var objectCount: Int { types.reduce(0) { $0 + $1.objectCount } }
  /// The bytes of all keys and values.
  public var byteCount: Int { types.reduce(keyByteCount + otherByteCount) { $0 + $1.byteCount } }
}

extension StoreStatistics: CustomStringConvertible {
  /// A line for each type, and one for the rest.
  public var description: String {
    let lines = types.map { type in
      let outgoing = type.outgoingReferences.values.reduce(0, +)
      return """
        \(type.name): \(type.objectCount) objects, \(type.byteCount) bytes, the largest "\(type.largestIdentifier)" with \
        \(type.largestByteCount); \(outgoing) references from them, \(type.incomingReferenceCount) to them
        """
    }
    let free = freeByteCount.map { "; \($0) bytes free" } ?? ""
    return (lines + ["\(keyCount) keys, \(keyByteCount) bytes; \(otherByteCount) bytes beside\(free)"])
      .joined(
        separator: "\n")
  }
}
