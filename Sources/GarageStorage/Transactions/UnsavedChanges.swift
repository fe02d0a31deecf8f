internal import GarageDriver

/// Changes that are not saved yet: for each changed key its new value, or that it was removed.
///
/// A copy is a snapshot and costs a reference.
struct UnsavedChanges: Sendable {
  private var tree = PersistentTree()
  /// The indexes that all changed records have entries in (`IndexCatalog.Item.entriesID`); nil where no record was changed yet.
  var indexes: Set<UInt64>?
  /// What has to be checked again when they are saved; nil where nothing has.
  var denials: UnsavedDenials?

  /// What precedes each value in the tree.
  private enum Mark {
    static let removed: UInt8 = 0
    static let put: UInt8 = 1
  }

  var isEmpty: Bool { tree.isEmpty }

  mutating func put(_ value: RawSpan, for key: RawSpan) {
    denials?.forget(key)
    tree.put(value, for: key, prefix: Mark.put)
  }

  mutating func putAll(_ entries: [PlacedEntry], in bytes: RawSpan) {
    if denials != nil { for entry in entries { denials?.forget(bytes.extracting(entry.key)) } }
    tree.putAll(entries, in: bytes, prefix: Mark.put)
  }

  /// Notes that `key` is to be removed, whether or not the storage has it.
  mutating func remove(_ key: RawSpan) {
    tree.put(RawSpan(), for: key, prefix: Mark.removed)
  }

  /// Forgets every change in `range`.
  mutating func forget(_ range: StorageKeyRange) {
    denials?.forget(range)
    tree.removeAll(in: range)
  }

  /// What becomes of `key`, or nil where it is not changed.
  func change(of key: RawSpan) -> UnsavedChange? {
    tree.value(for: key).map(Self.change)
  }

  /// Makes the changes in a range in a transaction of the storage, in key order.
  func apply(in range: StorageKeyRange = .all, to transaction: any WriteTransaction) throws {
    var cursor = Cursor(self, range, .forward)
    while let (key, change) = cursor.next() {
      let keyBytes = key.storage.span.bytes.extracting(key.range)
      switch change {
      case .removed: try transaction.remove(keyBytes)
      case .put(let value):
        try transaction.put(value.storage.span.bytes.extracting(value.range), for: keyBytes)
      }
    }
  }

  /// Visits the changes in a range, in key order: each key, and its new value or nil where it was removed.
  func forEach(in range: StorageKeyRange, _ visit: (RawSpan, RawSpan?) throws -> Void) throws {
    var cursor = Cursor(self, range, .forward)
    while let (key, change) = cursor.next() {
      let keyBytes = key.storage.span.bytes.extracting(key.range)
      switch change {
      case .removed: try visit(keyBytes, nil)
      case .put(let value): try visit(keyBytes, value.storage.span.bytes.extracting(value.range))
      }
    }
  }

  /// Whether there is a change in a range.
  func hasChange(in range: StorageKeyRange) -> Bool { Cursor(self, range, .forward).nextKey != nil }

  /// Walks over the changes in a range of keys.
  struct Cursor {
    private var place: TreeCursor

    init(_ changes: UnsavedChanges, _ range: StorageKeyRange, _ direction: ScanDirection) {
      place = TreeCursor(changes.tree, range, direction)
    }

    /// The key of the next change, or nil where there is none any more.
    var nextKey: TreeBytes? { place.isAtEnd ? nil : place.key }

    /// Returns the next change and goes on behind it.
    mutating func next() -> (key: TreeBytes, change: UnsavedChange)? {
      if place.isAtEnd { return nil }
      defer { place.moveToNext() }
      return (place.key, UnsavedChanges.change(place.value))
    }
  }

  private static func change(_ marked: TreeBytes) -> UnsavedChange {
    if marked.storage[marked.range.lowerBound] == Mark.removed { return .removed }
    return .put(marked.dropFirst())
  }
}

/// What becomes of one key.
enum UnsavedChange {
  case removed
  case put(TreeBytes)
}
