import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Memory behind which there is none: who reads beyond the end of bytes there ends the process.
final class EdgeMemory {
  private let start: UnsafeMutableRawPointer
  private let byteCount: Int
  private let pageByteCount: Int

  /// - Parameter byteCount: the most bytes that are lent.
  init(_ byteCount: Int) throws {
    pageByteCount = Int(sysconf(Int32(_SC_PAGESIZE)))
    self.byteCount = (byteCount + pageByteCount - 1) / pageByteCount * pageByteCount
    let memory = mmap(
      nil, self.byteCount + pageByteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0)
    guard let memory, memory != MAP_FAILED,
      mprotect(memory + self.byteCount, pageByteCount, PROT_NONE) == 0
    else { throw POSIXError(.ENOMEM) }
    start = memory
  }

  deinit { munmap(start, byteCount + pageByteCount) }

  /// Lends a copy of the bytes that stands at the edge.
  func lend<R>(_ bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    let copy = UnsafeMutableRawBufferPointer(start: start + byteCount - bytes.count, count: bytes.count)
    copy.copyBytes(from: bytes)
    return try body(UnsafeRawBufferPointer(copy))
  }
}
