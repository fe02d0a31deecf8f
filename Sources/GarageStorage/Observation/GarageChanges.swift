public import GarageCoding
internal import GarageDriver

/// What has changed since a listener last heard of changes.
///
/// What a slow listener missed is merged: of an object that was parked and then deleted it says the latter.
public struct GarageChanges: Sendable {
  /// Who changed something.
  public enum Source: Sendable, Hashable {
    /// The garage that is listened to.
    case thisGarage
    /// Another garage of this process, on the same storage.
    case thisProcess
    /// Another process, or a storage of its own on the same store. It does not say what it changed.
    case anotherProcess
  }

  /// Who made the changes.
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

  /// What identifies the objects of this type that were parked; nil where they are too many to be listed, thousands,
  /// where that is not known, and where the garage hides identifiers.
  ///
  /// For a subclass it is nil if any object of its hierarchy was parked or deleted, because it is not known of which class that
  /// was. The topmost class lists the objects of all.
  public func parked<T: Codable>(_ type: T.Type) -> Set<Identifier>? { identifiers(type, removed: false) }

  /// What identifies the objects of this type that were deleted; nil as for ``parked(_:)``.
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
      // Keys do not tell classes that share them.
      if ofTag.isMany || facts.sharesSpaceWithSuperclass { return nil }
      for (key, last) in ofTag.records where removed || !last.isRemoved {
        let bytes = Array(key.bytes[KeyLayout.identifierOffset...])
        // A cut one is not whole.
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
    // What is parked under one of its type's names leaves the others, and is there all the same.
    return removed ? deleted.subtracting(parked) : parked
  }
}

/// The changes of a garage, one after another, for `for await`. It ends when the task is cancelled or the garage closed.
public struct GarageChangesSequence: AsyncSequence, Sendable {
  /// What iterating yields.
  public typealias Element = GarageChanges
  /// What listening can throw.
  public typealias Failure = Never

  let garage: Garage

  /// Waits for changes.
  public struct AsyncIterator: AsyncIteratorProtocol {
    /// What listening can throw.
    public typealias Failure = Never

    private let garage: Garage
    private let hearing: Hearing

    init(_ garage: Garage) {
      self.garage = garage
      hearing = Hearing(garage, keepsChanges: true)
    }

    /// What changed since the last time; waits for it.
    public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> GarageChanges? {
      guard let (changes, sources) = await hearing.listener.next() else { return nil }
      return GarageChanges(changes, sources, garage)
    }
  }

  /// Listens from here on.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(garage) }
}

/// Listens as long as it is there.
final class Hearing: Sendable {
  let listener: NewsListener
  private let hub: NewsHub

  init(_ garage: Garage, keepsChanges: Bool = false) {
    listener = NewsListener(garage, keepsChanges: keepsChanges)
    hub = garage.store.news
    hub.add(listener)
    // Closing the garage ends the listeners that were added by then. So only after adding it can be checked that it is not too
    // late.
    do { try garage.checkOpen() } catch { listener.end() }
  }

  deinit { hub.remove(listener) }

  /// Called before a read: keeps all that comes from here on, and forgets what came before.
  func beginReading() {
    hub.set(.everything, of: listener)
    listener.beginReading()
  }

  /// Called after a read: of what came meanwhile, and of all that comes, keeps only what concerns the objects and keys that
  /// were read.
  func endReading(_ interest: Interest) {
    hub.set(interest, of: listener)
    listener.endReading(interest)
  }
}
