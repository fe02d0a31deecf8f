#if PostgreSQL
  import Foundation
  import RawPostgreSQL

  /// A connection to a PostgreSQL server, used as a program would that writes its SQL itself: a command, its answer, and the
  /// next command.
  final class PlainSQL {
    private let handle: OpaquePointer

    /// What the server says of a command that failed.
    struct Failure: Error, CustomStringConvertible {
      var description: String
    }

    init(_ url: String) throws {
      guard let handle = PQconnectdb(url), PQstatus(handle) == CONNECTION_OK else {
        throw Failure(description: "There is no connection to the server: see --server.")
      }
      self.handle = handle
    }

    deinit { PQfinish(handle) }

    /// Gives a command a name.
    func prepare(_ name: String, _ sql: String) throws {
      try check(PQprepare(handle, name, sql, 0, nil)) { _ in }
    }

    func run(_ sql: String) throws { try check(PQexec(handle, sql)) { _ in } }

    /// Runs a command that has a name, with binary parameters and answers.
    ///
    /// - Parameter visit: gets the columns of each row, which are lent.
    func run(
      _ name: String, _ parameters: [[UInt8]], _ visit: ([UnsafeRawBufferPointer]) throws -> Void = { _ in }
    ) throws {
      let lengths = parameters.map { Int32($0.count) }
      let formats = [Int32](repeating: 1, count: parameters.count)
      // All in one piece, whose parts stay where they are.
      let starts = parameters.reduce(into: [0]) { $0.append($0.last! + $1.count) }
      let answer = (parameters.flatMap(\.self) + [0]).withUnsafeBytes { bytes in
        let values = starts.dropLast().map { (bytes.baseAddress! + $0).assumingMemoryBound(to: CChar.self) as Optional }
        return PQexecPrepared(handle, name, Int32(parameters.count), values, lengths, formats, 1)
      }
      try check(answer) { answer in
        let columnCount = PQnfields(answer)
        for row in 0..<PQntuples(answer) {
          try visit(
            (0..<columnCount).map {
              UnsafeRawBufferPointer(start: PQgetvalue(answer, row, $0), count: Int(PQgetlength(answer, row, $0)))
            })
        }
      }
    }

    private func check(_ answer: OpaquePointer?, _ body: (OpaquePointer) throws -> Void) throws {
      defer { PQclear(answer) }
      guard let answer, [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(answer)) else {
        throw Failure(description: String(cString: PQerrorMessage(handle)))
      }
      try body(answer)
    }

    /// An array of byte strings, as the server reads it.
    static func array(_ elements: some Collection<[UInt8]>) -> [UInt8] {
      var bytes: [UInt8] = []
      func append(_ number: Int) { withUnsafeBytes(of: Int32(number).bigEndian) { bytes += $0 } }
      // Dimensions, no nulls, the type bytea, how many, and the first index.
      for number in [1, 0, 17, elements.count, 1] { append(number) }
      for element in elements {
        append(element.count)
        bytes += element
      }
      return bytes
    }
  }
#endif
