#include "CRawStores.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PUT, REMOVE, BEGIN, COMMIT, ROLLBACK, WRITER_STATEMENTS };
enum { GET, SCAN, BEGIN_READ, END_READ, READER_STATEMENTS };

struct raw_sqlite {
  sqlite3 *writer, *reader;
  sqlite3_stmt *writing[WRITER_STATEMENTS];
  sqlite3_stmt *reading[READER_STATEMENTS];
};

static const char *const writer_sql[] = {
    "INSERT INTO entries (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
    "DELETE FROM entries WHERE key = ?1", "BEGIN IMMEDIATE", "COMMIT", "ROLLBACK"};
static const char *const reader_sql[] = {
    "SELECT value FROM entries WHERE key = ?1", "SELECT key, value FROM entries ORDER BY key", "BEGIN", "COMMIT"};

static int pragma(sqlite3 *db, const char *name, int64_t value) {
  char sql[100];
  snprintf(sql, sizeof sql, "PRAGMA %s = %lld", name, (long long)value);
  return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

sqlite3 *raw_sqlite_connect(const char *path, raw_sqlite_settings settings, int64_t cache_bytes) {
  sqlite3 *db = NULL;
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  if (sqlite3_open_v2(path, &db, flags, NULL) != SQLITE_OK) return NULL;
  int code = sqlite3_exec(db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
  code |= pragma(db, "synchronous", settings.full_synchronous ? 2 : 1);
  code |= pragma(db, "cache_size", -cache_bytes / 1024);
  code |= pragma(db, "mmap_size", settings.mmap_bytes);
  code |= pragma(db, "journal_size_limit", settings.log_limit_bytes);
  code |= pragma(db, "wal_autocheckpoint", settings.checkpoint_pages);
  if (code == SQLITE_OK) return db;
  sqlite3_close(db);
  return NULL;
}

static int prepare(sqlite3 *db, const char *const *sql, sqlite3_stmt **statements, int count) {
  int code = SQLITE_OK;
  for (int i = 0; i < count && code == SQLITE_OK; i++)
    code = sqlite3_prepare_v3(db, sql[i], -1, SQLITE_PREPARE_PERSISTENT, &statements[i], NULL);
  return code;
}

raw_sqlite *raw_sqlite_open(const char *path, raw_sqlite_settings settings) {
  raw_sqlite *store = calloc(1, sizeof *store);
  if (!store) return NULL;
  int in_memory = strcmp(path, ":memory:") == 0;
  store->writer = raw_sqlite_connect(path, settings, settings.writer_cache_bytes);
  if (!store->writer) goto failed;
  if (sqlite3_exec(
          store->writer, "CREATE TABLE entries (key BLOB NOT NULL PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID",
          NULL, NULL, NULL) != SQLITE_OK)
    goto failed;
  // A database in memory belongs to its connection.
  store->reader = in_memory ? store->writer : raw_sqlite_connect(path, settings, settings.reader_cache_bytes);
  if (!store->reader) goto failed;
  if (prepare(store->writer, writer_sql, store->writing, WRITER_STATEMENTS) != SQLITE_OK) goto failed;
  if (prepare(store->reader, reader_sql, store->reading, READER_STATEMENTS) != SQLITE_OK) goto failed;
  return store;
failed:
  raw_sqlite_close(store);
  return NULL;
}

const char *raw_sqlite_version(void) { return sqlite3_libversion(); }

void raw_sqlite_describe(raw_sqlite *store, char *text, size_t capacity) {
  static const char *const names[] = {"journal_mode", "synchronous", "cache_size", "mmap_size", "wal_autocheckpoint",
                                      "journal_size_limit"};
  size_t length = 0;
  for (int i = 0; i < 2; i++) {
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
      char sql[100];
      sqlite3_stmt *statement = NULL;
      snprintf(sql, sizeof sql, "PRAGMA %s", names[n]);
      sqlite3_prepare_v2(i ? store->reader : store->writer, sql, -1, &statement, NULL);
      const char *value = "-";
      if (sqlite3_step(statement) == SQLITE_ROW) value = (const char *)sqlite3_column_text(statement, 0);
      const char *before = n ? ", " : i ? "; reader: " : "writer: ";
      if (length < capacity) length += snprintf(text + length, capacity - length, "%s%s %s", before, names[n], value);
      sqlite3_finalize(statement);
    }
  }
}

void raw_sqlite_close(raw_sqlite *store) {
  for (int i = 0; i < READER_STATEMENTS; i++) sqlite3_finalize(store->reading[i]);
  for (int i = 0; i < WRITER_STATEMENTS; i++) sqlite3_finalize(store->writing[i]);
  if (store->reader != store->writer) sqlite3_close(store->reader);
  sqlite3_close(store->writer);
  free(store);
}

static int run(sqlite3_stmt *statement) {
  int code = sqlite3_step(statement);
  sqlite3_reset(statement);
  return code == SQLITE_DONE ? SQLITE_OK : code;
}

static inline void bind(sqlite3_stmt *statement, int at, const uint8_t *bytes, const uint32_t *starts, size_t i) {
  sqlite3_bind_blob64(statement, at, bytes + starts[i], starts[i + 1] - starts[i], SQLITE_STATIC);
}

static inline int put(raw_sqlite *store, raw_entries entries, size_t i) {
  bind(store->writing[PUT], 1, entries.keys, entries.key_starts, i);
  bind(store->writing[PUT], 2, entries.values, entries.value_starts, i);
  return run(store->writing[PUT]);
}

static int end(raw_sqlite *store, int code) {
  if (code == SQLITE_OK) return run(store->writing[COMMIT]);
  run(store->writing[ROLLBACK]);
  return code;
}

int raw_sqlite_put_all(raw_sqlite *store, raw_entries entries, const uint32_t *order) {
  int code = run(store->writing[BEGIN]);
  for (size_t i = 0; i < entries.count && code == SQLITE_OK; i++) code = put(store, entries, order ? order[i] : i);
  return end(store, code);
}

int raw_sqlite_put_each(raw_sqlite *store, raw_entries entries) {
  for (size_t i = 0; i < entries.count; i++) {
    int code = run(store->writing[BEGIN]);
    if (code == SQLITE_OK) code = put(store, entries, i);
    code = end(store, code);
    if (code != SQLITE_OK) return code;
  }
  return SQLITE_OK;
}

static inline int equals(sqlite3_stmt *statement, int column, const uint8_t *bytes, const uint32_t *starts, size_t i) {
  size_t count = starts[i + 1] - starts[i];
  const void *value = sqlite3_column_blob(statement, column);
  return (size_t)sqlite3_column_bytes(statement, column) == count && memcmp(value, bytes + starts[i], count) == 0;
}

size_t raw_sqlite_get(raw_sqlite *store, raw_entries entries, const uint32_t *order, size_t count, int together) {
  size_t equal = 0;
  sqlite3_stmt *get = store->reading[GET];
  if (together && run(store->reading[BEGIN_READ]) != SQLITE_OK) return 0;
  for (size_t n = 0; n < count; n++) {
    size_t i = order[n];
    bind(get, 1, entries.keys, entries.key_starts, i);
    if (sqlite3_step(get) == SQLITE_ROW) equal += equals(get, 0, entries.values, entries.value_starts, i);
    sqlite3_reset(get);
  }
  if (together) run(store->reading[END_READ]);
  return equal;
}

size_t raw_sqlite_scan(raw_sqlite *store, raw_entries entries) {
  size_t equal = 0, i = 0;
  sqlite3_stmt *scan = store->reading[SCAN];
  while (i < entries.count && sqlite3_step(scan) == SQLITE_ROW) {
    equal += equals(scan, 0, entries.keys, entries.key_starts, i) &&
             equals(scan, 1, entries.values, entries.value_starts, i);
    i++;
  }
  sqlite3_reset(scan);
  return equal;
}

int raw_sqlite_remove(raw_sqlite *store, raw_entries entries, const uint32_t *order, size_t count) {
  int code = run(store->writing[BEGIN]);
  for (size_t n = 0; n < count && code == SQLITE_OK; n++) {
    bind(store->writing[REMOVE], 1, entries.keys, entries.key_starts, order[n]);
    code = run(store->writing[REMOVE]);
  }
  return end(store, code);
}
