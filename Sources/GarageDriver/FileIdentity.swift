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
