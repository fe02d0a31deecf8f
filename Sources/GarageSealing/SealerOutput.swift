#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Memory to which a sealer appends its result. It is used again for one value after another.
public final class SealerOutput {
  private var memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  /// How many bytes were appended.
  public private(set) var byteCount = 0

  /// Memory without bytes in it.
  public init() {}

  deinit { memory.deallocate() }

  /// Appends bytes.
  public func append(_ bytes: UnsafeRawBufferPointer) {
    append(byteCount: bytes.count) { $0.copyMemory(from: bytes) }
  }

  /// Appends bytes.
  public func append(_ bytes: RawSpan) { bytes.withUnsafeBytes { append($0) } }

  /// Appends bytes.
  public func append(_ data: Data) { data.withUnsafeBytes { append($0) } }

  /// Appends `byteCount` bytes. `body` has to write all of them. If it throws, none is appended.
  public func append<R>(
    byteCount count: Int, _ body: (UnsafeMutableRawBufferPointer) throws -> R
  ) rethrows -> R {
    reserve(byteCount + count)
    let result = try body(UnsafeMutableRawBufferPointer(rebasing: memory[byteCount..<(byteCount + count)]))
    byteCount += count
    return result
  }

  /// Lends the bytes that were appended.
  public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    try body(UnsafeRawBufferPointer(rebasing: memory[..<byteCount]))
  }

  /// Removes all bytes. The memory is kept.
  public func removeAll() { byteCount = 0 }

  /// How many bytes it can hold before it has to grow.
  var capacity: Int { memory.count }

  private func reserve(_ count: Int) {
    if count <= memory.count { return }
    let larger = UnsafeMutableRawBufferPointer.allocate(
      byteCount: max(count, min(2 * memory.count, count + (1 << 24)), 256), alignment: 16)
    larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[..<byteCount]))
    memory.deallocate()
    memory = larger
  }
}
