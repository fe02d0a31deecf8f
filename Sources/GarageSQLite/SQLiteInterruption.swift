internal import GarageDriver

#if canImport(SQLite3)
  internal import SQLite3
#else
  internal import CSQLite
#endif

/// Asks a function, while SQLite works on a long statement, whether to go on.
final class SQLiteInterruption {
  /// How many steps of SQLite's machine lie between two questions: some milliseconds.
  private static let stepCount: Int32 = 20_000

  private let ask: () throws -> Void
  private var error: (any Error)?

  private init(_ ask: @escaping () throws -> Void) { self.ask = ask }

  /// Runs `body`, during which `ask` is called every so often on the same thread. Where that throws, the statement ends, and
  /// its error is thrown.
  static func run(
    on connection: SQLiteConnection, asking ask: () throws -> Void, _ body: () throws -> Void
  ) throws {
    try withoutActuallyEscaping(ask) { ask in
      let interruption = SQLiteInterruption(ask)
      try withExtendedLifetime(interruption) {
        sqlite3_progress_handler(
          connection.handle, stepCount,
          { context in
            guard let context else { return 0 }
            let interruption = Unmanaged<SQLiteInterruption>.fromOpaque(context).takeUnretainedValue()
            do { try interruption.ask() } catch {
              interruption.error = error
              return 1
            }
            return 0
          }, Unmanaged.passUnretained(interruption).toOpaque())
        defer { sqlite3_progress_handler(connection.handle, 0, nil, nil) }
        do { try body() } catch { throw interruption.error ?? error }
      }
    }
  }
}
