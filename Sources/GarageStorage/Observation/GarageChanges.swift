public import GarageCoding
internal import GarageDriver

/// The changes since a listener last heard of changes.
///
/// Changes that a slow listener missed are merged: an object that was parked and then deleted counts as deleted.
public struct GarageChanges: Sendable {
  /// Where a change was made.
  public enum Source: Sendable, Hashable {
    /// The garage that is listened to.
    case thisGarage
    /// Another garage of this process, on the same storage.
    case thisProcess
    /// Another process, or another storage value on the same store. It does not tell what it changed.
    case anotherProcess
  }

  /// Where the changes were made.
  public let sources: Set<Source>
  /// Whether anything may have changed: because another process made the change, or because all objects were deleted at once.
  public var mayBeAnything: Bool { merged.isEverything }

  private let merged: MergedChanges
  private let garage: Garage

  private var changes: KeyChanges { merged.value }

  init(_ merged: MergedChanges, _ sources: Set<Source>, _ garage: Garage) {
    self.merged = merged
    self.sources = sources
    self.garage = garage
  }

  /// Whether an object of this type, or of its hierarchy of classes, may have changed.
  public func concern<T: Codable>(_ type: T.Type) -> Bool {
    if mayBeAnything { return true }
    guard let facts = try? RecordTypeFacts.of(type) else { return false }
    let changes = changes
    return facts.tags.contains { changes.tags[$0] != nil }
  }

  /// The identifiers of the objects of this type that were parked. Nil if they are too many to be listed (thousands), if they
  /// are not known, and if the garage hides identifiers.
  ///
  /// For a subclass it is nil if any object of its class hierarchy was parked or deleted, because the class of that object is
  /// not known. The topmost class lists the objects of all its subclasses.
  public func parked<T: Codable>(_ type: T.Type) -> Set<Identifier>? { identifiers(type, removed: false) }

  /// The identifiers of the objects of this type that were deleted. Nil in the same cases as for ``parked(_:)``.
  public func deleted<T: Codable>(_ type: T.Type) -> Set<Identifier>? { identifiers(type, removed: true) }

  /// Whether the value of a key may have changed.
  public func concern<K: KeyType>(_ key: K) -> Bool {
    if mayBeAnything { return true }
    let changes = changes
    if changes.hasManyValues { return true }
    return (try? KeyName.with(key) { bytes, _ in changes.values.contains(StorageKey(bytes)) }) ?? true
  }

  private func identifiers<T: Codable>(_ type: T.Type, removed: Bool) -> Set<Identifier>? {
    if mayBeAnything || garage.hidesIdentifiers { return nil }
    guard let facts = try? RecordTypeFacts.of(type) else { return [] }
    var (parked, deleted): (Set<Identifier>, Set<Identifier>) = ([], [])
    let changes = changes
    for tag in facts.tags {
      guard let ofTag = changes.tags[tag] else { continue }
      // Keys do not tell apart the classes that share them.
      if ofTag.isMany || facts.sharesSpaceWithSuperclass { return nil }
      for (key, last) in ofTag.records where removed || !last.isRemoved {
        let bytes = Array(key.bytes[KeyLayout.identifierOffset...])
        // A cut identifier is not whole.
        guard bytes.count < Identifier.maximumKeyByteCount, let identifier = Identifier(bytes: bytes) else {
          if last.isRemoved == removed { return nil }
          continue
        }
        if last.isRemoved {
          deleted.insert(identifier)
        } else {
          parked.insert(identifier)
        }
      }
    }
    // Parking an object under one of its type's names removes it under the others, and it is still there.
    return removed ? deleted.subtracting(parked) : parked
  }
}

/// The changes of a garage, one after another, for `for await`. The sequence ends when the task is cancelled or the garage
/// closed.
public struct GarageChangesSequence: AsyncSequence, Sendable {
  /// The element of the sequence.
  public typealias Element = GarageChanges
  /// The error of the sequence: none.
  public typealias Failure = Never

  let garage: Garage

  /// Waits for changes.
  public struct AsyncIterator: AsyncIteratorProtocol {
    /// The error of the sequence: none.
    public typealias Failure = Never

    private let garage: Garage
    private let hearing: Hearing

    init(_ garage: Garage) {
      self.garage = garage
      hearing = Hearing(garage, keepsChanges: true)
    }

    /// The changes since the last call. Waits until there are some. Nil when the task was cancelled or the garage closed.
    public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> GarageChanges? {
      guard let (changes, sources) = await hearing.listener.next() else { return nil }
      return GarageChanges(changes, sources, garage)
    }
  }

  /// Listens from now on.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(garage) }
}

/// Listens as long as it exists.
final class Hearing: Sendable {
  let listener: NewsListener
  private let hub: NewsHub

  init(_ garage: Garage, keepsChanges: Bool = false) {
    listener = NewsListener(garage, keepsChanges: keepsChanges)
    hub = garage.store.news
    hub.add(listener)
    // Closing the garage ends the listeners that were added before. So only after adding this one can it be checked that the
    // garage is still open.
    do { try garage.checkOpen() } catch { listener.end() }
  }

  deinit { hub.remove(listener) }

  /// Called before a read. Keeps all changes from here on, and forgets those before.
  func beginReading() {
    hub.set(.everything, of: listener)
    listener.beginReading()
  }

  /// Called after a read. Keeps only changes that concern the objects and keys that were read, of those that came meanwhile and
  /// of all later ones.
  func endReading(_ interest: Interest) {
    hub.set(interest, of: listener)
    listener.endReading(interest)
  }
}
