#if Crypto
  internal import GarageDriver
  internal import Synchronization

  #if canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #elseif canImport(Darwin)
    internal import Darwin
  #endif

  /// Nonces of 96 random bits from the system's generator. Many are fetched at a time, because a system call for each would
  /// cost as much as sealing a small value.
  ///
  /// No nonce is given out twice. A forked child fetches new ones.
  final class NonceSource: Sendable {
    static let byteCount = 12
    /// 252 bytes: getentropy gives up to 256 at a time.
    private static let batchCount = 21

    private struct Batch: Sendable {
      var bytes = [UInt8](repeating: 0, count: NonceSource.byteCount * NonceSource.batchCount)
      /// How many of the bytes were given out. At first it is all of them, so that the first call fetches.
      var position = NonceSource.byteCount * NonceSource.batchCount
      var process = ProcessMark()
    }
    private let batch = Mutex(Batch())

    /// Lends the next nonce.
    func withNext<R>(_ body: (UnsafeRawBufferPointer) throws -> R) throws -> R {
      try withUnsafeTemporaryAllocation(byteCount: NonceSource.byteCount, alignment: 8) { nonce in
        batch.withLock { batch in
          if batch.position == batch.bytes.count || !batch.process.isOfThisProcess {
            batch.bytes.withUnsafeMutableBytes(fillWithRandomBytes)
            batch.position = 0
            batch.process = ProcessMark()
          }
          batch.bytes.withUnsafeBytes { bytes in
            let end = batch.position + NonceSource.byteCount
            nonce.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[batch.position..<end]))
          }
          batch.position += NonceSource.byteCount
        }
        return try body(UnsafeRawBufferPointer(nonce))
      }
    }
  }

  private func fillWithRandomBytes(_ bytes: UnsafeMutableRawBufferPointer) {
    guard let start = bytes.baseAddress else { return }
    #if canImport(Darwin)
      arc4random_buf(start, bytes.count)
    #elseif canImport(Glibc) || canImport(Musl)
      if getentropy(start, bytes.count) == 0 { return }
      fillByGenerator(bytes)
    #else
      fillByGenerator(bytes)
    #endif
  }

  /// Fills the bytes eight at a time. If the system has no random bytes, Swift's generator waits or ends the process.
  private func fillByGenerator(_ bytes: UnsafeMutableRawBufferPointer) {
    var generator = SystemRandomNumberGenerator()
    for index in bytes.indices { bytes[index] = generator.next() }
  }
#endif
