#if PostgreSQL
  /// The tables of one store, by their names as SQL has them.
  struct PostgreSQLTables: Sendable, Hashable {
    /// The beginning of all names.
    let name: String

    /// Key by key: `(shard, k, ver, v, size)`. `v` is the value; where `size` is not null, it names the pieces that the
    /// value is in, and `size` is how many bytes it has.
    var entries: String { quoted("_kv") }
    /// Large values in pieces: `(shard, id, n, v)`.
    var pieces: String { quoted("_piece") }
    /// Which transactions have committed: `(token)`.
    var tokens: String { quoted("_token") }
    /// What the store is, in one row: `(version, shards, writers)`.
    var facts: String { quoted("_store") }
    /// The trigger that removes the pieces of a value that was replaced or removed.
    var sweeper: String { quoted("_sweep") }

    /// The first of the two numbers that name the locks of this driver, so that they are none of an app's.
    static let lockClass = 0x4761_7261
    /// The version of the tables.
    static let version = 1
    /// The longest name: PostgreSQL cuts identifiers at 63 bytes.
    static let maximumNameByteCount = 63 - "_piece_pkey".utf8.count

    private func quoted(_ end: String) -> String {
      "\"" + (name + end).replacing("\"", with: "\"\"") + "\""
    }

    /// What stands before and behind a function's body: nothing that the name of the store has in it.
    private var bodyMark: String {
      var tag = "body"
      while name.contains("$\(tag)$") { tag += "_" }
      return "$\(tag)$"
    }

    /// The SQL that makes them.
    func creation(_ writers: PostgreSQLStorage.Options.Writers) -> [String] {
      [
        """
        CREATE TABLE \(entries) (
          shard int2 NOT NULL, k bytea NOT NULL, ver int8 NOT NULL, v bytea NOT NULL, size int8,
          PRIMARY KEY (shard, k))
        """,
        """
        CREATE TABLE \(pieces) (
          shard int2 NOT NULL, id bytea NOT NULL, n int4 NOT NULL, v bytea NOT NULL, PRIMARY KEY (shard, id, n))
        """,
        "CREATE TABLE \(tokens) (token bytea PRIMARY KEY)",
        // Values are compact already: trying to compress them takes time and gains little.
        "ALTER TABLE \(entries) ALTER COLUMN v SET STORAGE EXTERNAL",
        "ALTER TABLE \(pieces) ALTER COLUMN v SET STORAGE EXTERNAL",
        """
        CREATE FUNCTION \(sweeper)() RETURNS trigger LANGUAGE plpgsql AS \(bodyMark)
        BEGIN DELETE FROM \(pieces) WHERE shard = OLD.shard AND id = OLD.v; RETURN NULL; END \(bodyMark)
        """,
        """
        CREATE TRIGGER sweep AFTER UPDATE OR DELETE ON \(entries) FOR EACH ROW
        WHEN (OLD.size IS NOT NULL) EXECUTE FUNCTION \(sweeper)()
        """,
        "CREATE TABLE \(facts) (version int4 NOT NULL, shards int4 NOT NULL, writers text NOT NULL)",
        "INSERT INTO \(facts) VALUES (\(Self.version), 1, '\(writers.rawValue)')",
      ]
    }
  }
#endif
