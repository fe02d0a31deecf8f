#if PostgreSQL
  internal import CPostgreSQL

  #if canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #else
    internal import Darwin
  #endif

  /// The server's answer to one command. Its bytes live only as long as this object, so they are only lent to closures.
  final class PostgreSQLResult {
    private let handle: OpaquePointer

    /// Takes the result over.
    init(_ handle: OpaquePointer) { self.handle = handle }

    deinit { PQclear(handle) }

    var status: ExecStatusType { PQresultStatus(handle) }

    var rowCount: Int { Int(PQntuples(handle)) }

    /// What a command reports that it did: `COMMIT`, or `ROLLBACK` if the transaction to be committed had failed.
    var tag: String { PQcmdStatus(handle).map { String(cString: $0) } ?? "" }

    func isNull(_ row: Int, _ column: Int32) -> Bool { PQgetisnull(handle, Int32(row), column) == 1 }

    func byteCount(_ row: Int, _ column: Int32) -> Int { Int(PQgetlength(handle, Int32(row), column)) }

    /// Lends the bytes of a field.
    @inline(__always)
    func withBytes<R>(
      _ row: Int, _ column: Int32, _ body: (UnsafeRawBufferPointer) throws -> R
    ) rethrows -> R {
      try withExtendedLifetime(self) {
        let count = Int(PQgetlength(handle, Int32(row), column))
        return try body(UnsafeRawBufferPointer(start: PQgetvalue(handle, Int32(row), column), count: count))
      }
    }

    func bytes(_ row: Int, _ column: Int32) -> [UInt8] { withBytes(row, column) { [UInt8]($0) } }

    /// An integer field of any width, which the server sent in binary form.
    func integer(_ row: Int, _ column: Int32) -> Int {
      withBytes(row, column) { bytes in
        guard let first = bytes.first else { return 0 }
        return bytes.reduce(first >= 0x80 ? -1 : 0) { $0 << 8 | Int($1) }
      }
    }

    func text(_ row: Int, _ column: Int32) -> String {
      withBytes(row, column) { String(decoding: $0, as: UTF8.self) }
    }

    /// The five characters of the failure's code; nil if the server reported none.
    var state: String? {
      PQresultErrorField(handle, sqlState).map { String(cString: $0) }
    }

    /// Whether the failure ends the session.
    var isOfSession: Bool {
      // This severity is not in the server's language, unlike the one beside it.
      guard let text = PQresultErrorField(handle, severity) else { return false }
      return strcmp(text, "FATAL") == 0 || strcmp(text, "PANIC") == 0
    }

    /// The server's words for the failure: its message, and the hint if there is one.
    var message: String {
      let parts = [primaryMessage, detail].compactMap { PQresultErrorField(handle, $0) }
      if parts.isEmpty { return PQresultErrorMessage(handle).map { String(cString: $0) } ?? "" }
      return parts.map { String(cString: $0) }.joined(separator: ": ")
    }
  }

  // Macros of libpq that Swift does not import: characters.
  private let severity = Int32(UInt8(ascii: "V"))
  private let sqlState = Int32(UInt8(ascii: "C"))
  private let primaryMessage = Int32(UInt8(ascii: "M"))
  private let detail = Int32(UInt8(ascii: "D"))
#endif
