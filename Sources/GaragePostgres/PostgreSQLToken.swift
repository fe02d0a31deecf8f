#if PostgreSQL
  /// Names one transaction, in the store itself: if the answer to its commit is lost, the outcome is found out there.
  ///
  /// The server's time in milliseconds, then eight random bytes, so that old tokens stand together and are removed together.
  struct PostgreSQLToken: Sendable {
    let bytes: [UInt8]

    /// How long tokens stay: far longer than anybody waits for an answer.
    static let lifeMilliseconds = 24 * 3600 * 1000
    /// How many old tokens are removed at a time, and after how many commits of a storage: more than have come meanwhile.
    static let (forgottenCount, commitsBetween) = (5000, 1000)

    /// A new one, at that time by the server's clock.
    init(serverMilliseconds: Int64) {
      var bytes: [UInt8] = []
      withUnsafeBytes(of: serverMilliseconds.bigEndian) { bytes += $0 }
      withUnsafeBytes(of: UInt64.random(in: .min ... .max)) { bytes += $0 }
      self.bytes = bytes
    }
  }
#endif
