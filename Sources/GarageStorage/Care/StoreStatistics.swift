public import GarageCoding

/// The content of a store in numbers.
public struct StoreStatistics: Sendable, Hashable {
  /// The objects of one type in numbers.
  public struct TypeStatistics: Sendable, Hashable {
    /// The type's name in the store: its tag. Objects of a subclass are counted under the subclass's name. If the store has lost
    /// the name, or it cannot be read, this says so, with the 16 digits that stand for the type wherever it is named; a program
    /// that parks an object of the type puts the name right.
    public var name: String
    /// The number of objects.
    public var objectCount = 0
    /// The bytes of their keys and records, without those that the engine adds.
    public var byteCount = 0
    /// The bytes of the largest object's key and record.
    public var largestByteCount = 0
    /// The identifier of the largest object, in words.
    public var largestIdentifier = ""
    /// How many references its objects hold, by how they are loaded.
    public var outgoingReferences: [ReferenceKind: Int] = [:]
    /// How many references of objects, and of the values of typed keys, lead to its identity space. For a class hierarchy all
    /// are counted under the topmost class.
    public var incomingReferenceCount = 0
    /// How many objects have each sync status; empty for types without one.
    public var syncStatuses: [SyncStatus: Int] = [:]
    /// How many records are damaged. Only the bytes of these are counted.
    public var damagedCount = 0
  }

  /// The types that have objects, in the order of their names.
  public internal(set) var types: [TypeStatistics] = []
  /// How many typed keys have a value.
  public internal(set) var keyCount = 0
  /// The bytes of typed keys and their values.
  public internal(set) var keyByteCount = 0
  /// The bytes of everything else: names, entries for sync statuses, metadata.
  public internal(set) var otherByteCount = 0
  /// How many bytes of the store's files are free to be used again. ``Garage/compact(progress:)`` may give them back. Nil if
  /// the engine does not tell.
  public internal(set) var freeByteCount: Int?

  /// The number of all objects.
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
