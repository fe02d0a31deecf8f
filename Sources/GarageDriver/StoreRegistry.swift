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
  public var device: UInt64
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
/// Entries are held weakly: they live as long as some driver value uses them.
public final class StoreRegistry<Entry: AnyObject & Sendable>: Sendable {
  private struct WeakEntry: Sendable {
    weak let entry: Entry?
  }
  private let entries = Mutex<[FileIdentity: WeakEntry]>([:])

  public init() {}

  /// The living entry of `identity`, or the one that `make` returns.
  ///
  /// `make` runs under the registry's lock, so that two threads never make two entries of one store.
  public func entry(for identity: FileIdentity, make: () throws -> Entry) throws -> Entry {
    try entries.withLock { entries in
      if let entry = entries[identity]?.entry { return entry }
      entries = entries.filter { $0.value.entry != nil }
      let entry = try make()
      entries[identity] = WeakEntry(entry: entry)
      return entry
    }
  }
}
