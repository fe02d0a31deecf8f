#include "CRawStores.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

// A table of blobs with row numbers: what SQLite is fastest with.

enum { PUT, BEGIN, COMMIT, ROLLBACK, GET, CONTAINS, IDS, STATEMENTS };

static const char *const sql[] = {
    "INSERT INTO blobs (id, value) VALUES (?1, ?2)",
    "BEGIN IMMEDIATE",
    "COMMIT",
    "ROLLBACK",
    "SELECT value FROM blobs WHERE id = ?1",
    "SELECT 1 FROM blobs WHERE id = ?1",
    "SELECT id FROM blobs",
};

struct raw_blobs {
  sqlite3 *writer, *reader;
  sqlite3_stmt *statements[STATEMENTS];
};

raw_blobs *raw_blobs_open(const char *path, raw_sqlite_settings settings) {
  raw_blobs *store = calloc(1, sizeof *store);
  if (!store) return NULL;
  store->writer = raw_sqlite_connect(path, settings, settings.writer_cache_bytes);
  int code = store->writer ? SQLITE_OK : SQLITE_CANTOPEN;
  if (code == SQLITE_OK)
    code = sqlite3_exec(store->writer, "CREATE TABLE blobs (id INTEGER PRIMARY KEY, value BLOB NOT NULL)", NULL, NULL,
                        NULL);
  if (code == SQLITE_OK) store->reader = raw_sqlite_connect(path, settings, settings.reader_cache_bytes);
  if (!store->reader) code = SQLITE_CANTOPEN;
  for (int i = 0; i < STATEMENTS && code == SQLITE_OK; i++)
    code = sqlite3_prepare_v3(i < GET ? store->writer : store->reader, sql[i], -1, SQLITE_PREPARE_PERSISTENT,
                              &store->statements[i], NULL);
  if (code == SQLITE_OK) return store;
  raw_blobs_close(store);
  return NULL;
}

void raw_blobs_close(raw_blobs *store) {
  for (int i = 0; i < STATEMENTS; i++) sqlite3_finalize(store->statements[i]);
  sqlite3_close(store->reader);
  sqlite3_close(store->writer);
  free(store);
}

static int run(raw_blobs *store, int statement) {
  int code = sqlite3_step(store->statements[statement]);
  sqlite3_reset(store->statements[statement]);
  return code == SQLITE_DONE ? SQLITE_OK : code;
}

int raw_blobs_put(raw_blobs *store, raw_entries entries, size_t first, size_t count) {
  int code = run(store, BEGIN);
  for (size_t i = first; i < first + count && code == SQLITE_OK; i++) {
    size_t length = entries.value_starts[i + 1] - entries.value_starts[i];
    sqlite3_bind_int64(store->statements[PUT], 1, (sqlite3_int64)i + 1);
    sqlite3_bind_blob64(store->statements[PUT], 2, entries.values + entries.value_starts[i], length, SQLITE_STATIC);
    code = run(store, PUT);
  }
  if (code == SQLITE_OK) return run(store, COMMIT);
  run(store, ROLLBACK);
  return code;
}

size_t raw_blobs_copy(raw_blobs *store, raw_entries entries, const uint32_t *order, size_t count) {
  size_t good = 0;
  sqlite3_stmt *get = store->statements[GET];
  for (size_t n = 0; n < count; n++) {
    size_t expected = entries.value_starts[order[n] + 1] - entries.value_starts[order[n]];
    sqlite3_bind_int64(get, 1, (sqlite3_int64)order[n] + 1);
    if (sqlite3_step(get) == SQLITE_ROW) {
      const void *value = sqlite3_column_blob(get, 0);
      size_t length = (size_t)sqlite3_column_bytes(get, 0);
      good += raw_copy_is(value, length, entries.values + entries.value_starts[order[n]], expected);
    }
    sqlite3_reset(get);
  }
  return good;
}

size_t raw_blobs_contains(raw_blobs *store, const uint32_t *order, size_t count) {
  size_t found = 0;
  sqlite3_stmt *contains = store->statements[CONTAINS];
  for (size_t n = 0; n < count; n++) {
    sqlite3_bind_int64(contains, 1, (sqlite3_int64)order[n] + 1);
    found += sqlite3_step(contains) == SQLITE_ROW;
    sqlite3_reset(contains);
  }
  return found;
}

size_t raw_blobs_count(raw_blobs *store) {
  size_t count = 0;
  while (sqlite3_step(store->statements[IDS]) == SQLITE_ROW) count++;
  sqlite3_reset(store->statements[IDS]);
  return count;
}

int raw_copy_is(const void *value, size_t length, const uint8_t *expected, size_t expected_length) {
  if (length != expected_length) return 0;
  uint8_t *copy = malloc(length);
  if (!copy) return 0;
  memcpy(copy, value, length);
  // The whole of it is looked at elsewhere: here it would count as work of the engine.
  int is_good = copy[0] == expected[0] && copy[length - 1] == expected[length - 1];
  free(copy);
  return is_good;
}
