#if PostgreSQL
  /// The statements that the driver sends to a server. Each connection prepares all of them once.
  enum PostgreSQLStatement: String, CaseIterable {
    case beginRead, beginWrite, snapshot, lock, commit, rollBack
    case get, contains, getMany, piece
    case scanForward, scanBackward, keysForward, keysBackward
    case put, putLarge, putPiece, remove, removeRange
    case noteToken, forgetTokens
    case claimToken, lookForClaim, awaitStandbys
    case expectValue, expectNone

    /// Values up to this size, in bytes, are sent along with the page of a scan, or with many others. Larger ones are fetched
    /// when they are visited.
    static let inlineByteCount = 16 << 10

    func sql(_ tables: PostgreSQLTables, writersConflict: Bool, isStandby: Bool) -> String {
      switch self {
      case .beginRead:
        // Beside several writers, a snapshot alone may show a state that no order of the writes produces. A standby offers
        // nothing else.
        let isSerializable = writersConflict && !isStandby
        let level = isSerializable ? "SERIALIZABLE" : "REPEATABLE READ"
        return "BEGIN ISOLATION LEVEL \(level) READ ONLY, NOT DEFERRABLE"
      case .beginWrite:
        // The only writer sees the last commit in each of its statements, because nobody else commits.
        return "BEGIN ISOLATION LEVEL \(writersConflict ? "SERIALIZABLE" : "READ COMMITTED") READ WRITE"
      case .snapshot: return "SELECT 1"
      case .lock: return "SELECT pg_advisory_xact_lock(\(PostgreSQLTables.lockClass), $1::int4)"
      case .commit: return "COMMIT"
      case .rollBack: return "ROLLBACK"
      default: return tableSQL(tables)
      }
    }

    private func tableSQL(_ tables: PostgreSQLTables) -> String {
      let entries = tables.entries
      switch self {
      case .get: return "SELECT v, size FROM \(entries) WHERE shard = 0 AND k = $1::bytea"
      case .contains: return "SELECT 1 FROM \(entries) WHERE shard = 0 AND k = $1::bytea"
      case .getMany:
        return "SELECT k, \(Self.inlineValue) FROM \(entries) WHERE shard = 0 AND k = ANY($1::bytea[])"
      case .piece: return "SELECT v FROM \(tables.pieces) WHERE shard = 0 AND id = $1::bytea AND n = $2::int4"
      case .scanForward: return scan(entries, "k, \(Self.inlineValue)", "")
      case .scanBackward: return scan(entries, "k, \(Self.inlineValue)", "DESC")
      case .keysForward: return scan(entries, "k", "")
      case .keysBackward: return scan(entries, "k", "DESC")
      case .put:
        return """
          INSERT INTO \(entries) AS e (shard, k, ver, v) \
          SELECT 0, n.k, 1, n.v FROM unnest($1::bytea[], $2::bytea[]) AS n (k, v) \
          ON CONFLICT (shard, k) DO UPDATE SET v = excluded.v, size = NULL, ver = e.ver + 1
          """
      case .putLarge:
        return """
          INSERT INTO \(entries) AS e (shard, k, ver, v, size) VALUES (0, $1::bytea, 1, $2::bytea, $3::int8) \
          ON CONFLICT (shard, k) DO UPDATE SET v = excluded.v, size = excluded.size, ver = e.ver + 1
          """
      case .putPiece:
        return "INSERT INTO \(tables.pieces) (shard, id, n, v) VALUES (0, $1::bytea, $2::int4, $3::bytea)"
      case .remove: return "DELETE FROM \(entries) WHERE shard = 0 AND k = ANY($1::bytea[])"
      case .removeRange: return "DELETE FROM \(entries) WHERE shard = 0 AND k >= $1::bytea AND k < $2::bytea"
      case .noteToken, .claimToken, .lookForClaim, .awaitStandbys, .forgetTokens:
        return tokenSQL(tables.tokens)
      // A value that is not the expected one makes this divide by zero, which ends the transaction. Nothing else here divides.
      case .expectValue:
        return """
          SELECT 1 / CASE WHEN (SELECT v FROM \(entries) WHERE shard = 0 AND k = $1::bytea AND size IS NULL) \
          IS NOT DISTINCT FROM $2::bytea THEN 1 ELSE 0 END
          """
      case .expectNone:
        return """
          SELECT 1 / CASE WHEN EXISTS (SELECT 1 FROM \(entries) WHERE shard = 0 AND k = $1::bytea) THEN 0 ELSE 1 END
          """
      default: return ""
      }
    }

    private func tokenSQL(_ tokens: String) -> String {
      // If a claim stands beside the token, this transaction has put it there, and not the commit.
      let claim = "decode('00', 'hex')"
      switch self {
      case .noteToken: return "INSERT INTO \(tokens) (token) VALUES ($1::bytea)"
      case .claimToken:
        return """
          WITH own AS (INSERT INTO \(tokens) (token) VALUES ($1::bytea) ON CONFLICT DO NOTHING RETURNING token) \
          INSERT INTO \(tokens) (token) SELECT token || \(claim) FROM own
          """
      case .lookForClaim: return "SELECT 1 FROM \(tokens) WHERE token = $1::bytea || \(claim)"
      case .awaitStandbys:
        // A transaction that has changed nothing would not wait for them.
        return """
          INSERT INTO \(tokens) (token) VALUES ($1::bytea || decode('01', 'hex')) \
          ON CONFLICT (token) DO UPDATE SET token = excluded.token
          """
      case .forgetTokens:
        // By the server's clock, whose milliseconds, in eight bytes, the tokens begin with. A few at a time, because the next
        // user of the connection waits for it. `clock_timestamp()` changes from row to row, so all rows would be read.
        return """
          DELETE FROM \(tokens) WHERE token = ANY(ARRAY(SELECT token FROM \(tokens) WHERE token < \
          int8send((extract(epoch FROM now()) * 1000)::int8 - \(PostgreSQLToken.lifeMilliseconds)) \
          ORDER BY token LIMIT \(PostgreSQLToken.forgottenCount)))
          """
      default: return ""
      }
    }

    /// The value if it is small, and otherwise null; and its size in bytes.
    private static let inlineValue = """
      CASE WHEN size IS NULL AND octet_length(v) <= \(inlineByteCount) THEN v END, \
      coalesce(size, octet_length(v)::int8)
      """

    private func scan(_ entries: String, _ columns: String, _ order: String) -> String {
      """
      SELECT \(columns) FROM \(entries) WHERE shard = 0 AND k >= $1::bytea AND k < $2::bytea \
      ORDER BY k \(order) LIMIT $3::int4
      """
    }
  }
#endif
