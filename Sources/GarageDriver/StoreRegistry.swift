internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Which file a path leads to: two paths to one file, also through links, have one identity.
public struct FileIdentity: Hashable, Sendable {
  /// The device the file is on.
  public var device: UInt64
  /// Its number there.
  public var inode: UInt64

  /// The identity of the file or folder at `path`, or nil where there is none or it may not be looked at.
  public init?(path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    device = UInt64(truncatingIfNeeded: status.st_dev)
    inode = UInt64(truncatingIfNeeded: status.st_ino)
  }
}

/// What one process shares between all driver values on one store: for SQLite its ``WriterGate``, for LMDB
/// also the environment, which must not be opened twice.
///
/// Entries are held weakly: they live as long as some driver value uses them. A forked child does not get
/// its parent's entries, whose locks may be held by threads that it does not have.
public final class StoreRegistry<Entry: AnyObject & Sendable>: Sendable {
  private struct Place: Hashable {
    var identity: FileIdentity
    var process = ProcessMark()
  }
  private struct WeakEntry: Sendable {
    weak let entry: Entry?
  }
  private let entries = Mutex<[Place: WeakEntry]>([:])

  /// A registry without entries.
  public init() {}

  /// The living entry of `identity`, or the one that `make` returns.
  ///
  /// `make` runs under the registry's lock, so that two threads never make two entries of one store.
  public func entry(for identity: FileIdentity, make: () throws -> Entry) throws -> Entry {
    let place = Place(identity: identity)
    return try entries.withLock { entries in
      if let entry = entries[place]?.entry { return entry }
      entries = entries.filter { $0.value.entry != nil }
      let entry = try make()
      entries[place] = WeakEntry(entry: entry)
      return entry
    }
  }

  /// Whether the store was open when this process was forked, and what its parent opened still lives here.
  public func isInherited(_ identity: FileIdentity) -> Bool {
    entries.withLock { entries in
      entries.contains { place, value in
        place.identity == identity && !place.process.isOfThisProcess && value.entry != nil
      }
    }
  }
}
