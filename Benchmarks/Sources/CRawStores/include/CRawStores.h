// SQLite and LMDB as a C program would use them: the same tables, settings, keys and values as the drivers.
#ifndef C_RAW_STORES_H
#define C_RAW_STORES_H

#include <stddef.h>
#include <stdint.h>

/// Keys and values one behind another; entry i is from starts[i] to starts[i + 1].
typedef struct {
  const uint8_t *_Nonnull keys;
  const uint32_t *_Nonnull key_starts;
  const uint8_t *_Nonnull values;
  const uint32_t *_Nonnull value_starts;
  size_t count;
} raw_entries;

/// What an SQLite connection is set to; sizes in bytes.
typedef struct {
  int full_synchronous;
  int64_t writer_cache_bytes;
  int64_t reader_cache_bytes;
  int64_t mmap_bytes;
  /// To which size the log is cut back.
  int64_t log_limit_bytes;
  /// From how many pages in the log on a commit copies them into the file.
  int64_t checkpoint_pages;
} raw_sqlite_settings;

typedef struct raw_sqlite raw_sqlite;
typedef struct raw_lmdb raw_lmdb;

// Opening returns NULL where it failed. Functions that change return 0, or the engine's error code. Functions
// that read compare each value with the expected one, and return how many are equal.

raw_sqlite *_Nullable raw_sqlite_open(const char *_Nonnull path, raw_sqlite_settings settings);
/// Writes the settings of both connections, as SQLite itself tells them.
void raw_sqlite_describe(raw_sqlite *_Nonnull store, char *_Nonnull text, size_t capacity);
void raw_sqlite_close(raw_sqlite *_Nonnull store);
/// All in one transaction, in the given order, or in that of the entries where `order` is NULL.
int raw_sqlite_put_all(raw_sqlite *_Nonnull store, raw_entries entries, const uint32_t *_Nullable order);
/// Each in a transaction of its own.
int raw_sqlite_put_each(raw_sqlite *_Nonnull store, raw_entries entries);
/// `together`: all in one transaction, else each in its own.
size_t raw_sqlite_get(
    raw_sqlite *_Nonnull store, raw_entries entries, const uint32_t *_Nonnull order, size_t count, int together);
size_t raw_sqlite_scan(raw_sqlite *_Nonnull store, raw_entries entries);
int raw_sqlite_remove(
    raw_sqlite *_Nonnull store, raw_entries entries, const uint32_t *_Nonnull order, size_t count);

// A table of blobs by number, in SQLite; each entry's number is its position plus one.

typedef struct raw_blobs raw_blobs;

raw_blobs *_Nullable raw_blobs_open(const char *_Nonnull path, raw_sqlite_settings settings);
void raw_blobs_close(raw_blobs *_Nonnull store);
/// So many from `first` on, in one transaction.
int raw_blobs_put(raw_blobs *_Nonnull store, raw_entries entries, size_t first, size_t count);
/// Copies each value into memory of its own, as one who keeps it has to; returns how many begin and end as expected.
size_t raw_blobs_copy(
    raw_blobs *_Nonnull store, raw_entries entries, const uint32_t *_Nonnull order, size_t count);
size_t raw_blobs_contains(raw_blobs *_Nonnull store, const uint32_t *_Nonnull order, size_t count);
/// Goes through all numbers, and counts.
size_t raw_blobs_count(raw_blobs *_Nonnull store);
/// Copies a value into memory of its own, lets it go, and tells whether it begins and ends as expected.
int raw_copy_is(
    const void *_Nullable value, size_t length, const uint8_t *_Nonnull expected, size_t expected_length);

struct sqlite3;
struct sqlite3 *_Nullable raw_sqlite_connect(
    const char *_Nonnull path, raw_sqlite_settings settings, int64_t cache_bytes);

/// How much memory the process has allocated and not freed, in bytes; 0 where it cannot be told.
size_t raw_heap_bytes(void);
/// Gives free memory back to the system, where that can be asked for.
void raw_heap_trim(void);

/// The version of each engine.
const char *_Nonnull raw_sqlite_version(void);
const char *_Nonnull raw_lmdb_version(void);

raw_lmdb *_Nullable raw_lmdb_open(const char *_Nonnull folder, size_t map_bytes);
void raw_lmdb_close(raw_lmdb *_Nonnull store);
int raw_lmdb_put_all(raw_lmdb *_Nonnull store, raw_entries entries, const uint32_t *_Nullable order);
int raw_lmdb_put_some(raw_lmdb *_Nonnull store, raw_entries entries, size_t first, size_t count);
int raw_lmdb_put_each(raw_lmdb *_Nonnull store, raw_entries entries);
size_t raw_lmdb_get(
    raw_lmdb *_Nonnull store, raw_entries entries, const uint32_t *_Nonnull order, size_t count, int together);
/// As raw_blobs_copy, each in a transaction of its own.
size_t raw_lmdb_copy(
    raw_lmdb *_Nonnull store, raw_entries entries, const uint32_t *_Nonnull order, size_t count);
size_t raw_lmdb_scan(raw_lmdb *_Nonnull store, raw_entries entries);
int raw_lmdb_remove(
    raw_lmdb *_Nonnull store, raw_entries entries, const uint32_t *_Nonnull order, size_t count);

#endif
