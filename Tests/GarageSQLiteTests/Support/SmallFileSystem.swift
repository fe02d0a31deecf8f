import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// A file system of a few megabytes in memory, for the time of one test.
final class SmallFileSystem {
  let url: URL
  private let byteCount: Int

  init(byteCount: Int) throws {
    self.byteCount = byteCount
    url = FileManager.default.temporaryDirectory.appending(path: "garage-sqlite-disk-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    guard Self.attach(url, byteCount) else {
      try? FileManager.default.removeItem(at: url)
      throw CocoaError(.fileWriteUnknown)
    }
  }

  deinit {
    #if canImport(Glibc)
      umount2(url.path, Int32(MNT_DETACH))
    #endif
    try? FileManager.default.removeItem(at: url)
  }

  func makeReadOnly() throws { try remount(readOnly: true) }
  func makeWritable() throws { try remount(readOnly: false) }

  /// Takes all room that is free, but for some bytes; returns the file that takes it.
  @discardableResult
  func fill(leaving byteCount: Int = 0) throws -> URL {
    let ballast = url.appending(path: "ballast-\(UUID().uuidString)")
    var status = statvfs()
    guard statvfs(url.path, &status) == 0 else { throw CocoaError(.fileReadUnknown) }
    var count = max(0, Int(status.f_bavail) * Int(status.f_frsize) - byteCount)
    while count > 0, (try? Data(count: count).write(to: ballast)) == nil { count -= 4096 }
    return ballast
  }

  private func remount(readOnly: Bool) throws {
    #if canImport(Glibc)
      let flags = UInt(MS_REMOUNT) | (readOnly ? UInt(MS_RDONLY) : 0)
      if mount("none", url.path, "tmpfs", flags, "size=\(byteCount)") != 0 {
        throw CocoaError(.fileWriteUnknown)
      }
    #endif
  }

  private static func attach(_ url: URL, _ byteCount: Int) -> Bool {
    #if canImport(Glibc)
      return mount("none", url.path, "tmpfs", 0, "size=\(byteCount)") == 0
    #else
      return false
    #endif
  }

  static let isPossible = (try? SmallFileSystem(byteCount: 1 << 20)) != nil
}
