#include "CRawStores.h"

#include <lmdb.h>
#include <stdlib.h>
#include <string.h>

struct raw_lmdb {
  MDB_env *env;
  MDB_dbi dbi;
  MDB_txn *reader;
};

raw_lmdb *raw_lmdb_open(const char *folder, size_t map_bytes) {
  raw_lmdb *store = calloc(1, sizeof *store);
  if (!store) return NULL;
  MDB_txn *txn = NULL;
  int code = mdb_env_create(&store->env);
  if (!code) code = mdb_env_set_maxdbs(store->env, 1);
  if (!code) code = mdb_env_set_mapsize(store->env, map_bytes);
  if (!code) code = mdb_env_open(store->env, folder, MDB_NOTLS, 0644);
  if (!code) code = mdb_txn_begin(store->env, NULL, 0, &txn);
  if (!code) code = mdb_dbi_open(txn, "entries", MDB_CREATE, &store->dbi);
  if (!code) code = mdb_txn_commit(txn);
  if (!code) code = mdb_txn_begin(store->env, NULL, MDB_RDONLY, &store->reader);
  if (!code) {
    mdb_txn_reset(store->reader);
    return store;
  }
  raw_lmdb_close(store);
  return NULL;
}

const char *raw_lmdb_version(void) { return mdb_version(NULL, NULL, NULL); }

void raw_lmdb_close(raw_lmdb *store) {
  if (store->reader) mdb_txn_abort(store->reader);
  if (store->env) mdb_env_close(store->env);
  free(store);
}

static inline MDB_val value(const uint8_t *bytes, const uint32_t *starts, size_t i) {
  return (MDB_val){starts[i + 1] - starts[i], (void *)(bytes + starts[i])};
}

static inline int put(MDB_txn *txn, MDB_dbi dbi, raw_entries entries, size_t i, unsigned flags) {
  MDB_val key = value(entries.keys, entries.key_starts, i);
  MDB_val bytes = value(entries.values, entries.value_starts, i);
  return mdb_put(txn, dbi, &key, &bytes, flags);
}

static int end(MDB_txn *txn, int code) {
  if (code == MDB_SUCCESS) return mdb_txn_commit(txn);
  mdb_txn_abort(txn);
  return code;
}

int raw_lmdb_put_all(raw_lmdb *store, raw_entries entries, const uint32_t *order) {
  MDB_txn *txn;
  int code = mdb_txn_begin(store->env, NULL, 0, &txn);
  if (code) return code;
  unsigned flags = order ? 0 : MDB_APPEND;
  for (size_t i = 0; i < entries.count && !code; i++)
    code = put(txn, store->dbi, entries, order ? order[i] : i, flags);
  return end(txn, code);
}

int raw_lmdb_put_some(raw_lmdb *store, raw_entries entries, size_t first, size_t count) {
  MDB_txn *txn;
  int code = mdb_txn_begin(store->env, NULL, 0, &txn);
  if (code) return code;
  for (size_t i = first; i < first + count && !code; i++) code = put(txn, store->dbi, entries, i, MDB_APPEND);
  return end(txn, code);
}

int raw_lmdb_put_each(raw_lmdb *store, raw_entries entries) {
  for (size_t i = 0; i < entries.count; i++) {
    MDB_txn *txn;
    int code = mdb_txn_begin(store->env, NULL, 0, &txn);
    if (code) return code;
    code = end(txn, put(txn, store->dbi, entries, i, 0));
    if (code) return code;
  }
  return MDB_SUCCESS;
}

static inline int equals(MDB_val found, const uint8_t *bytes, const uint32_t *starts, size_t i) {
  size_t count = starts[i + 1] - starts[i];
  return found.mv_size == count && memcmp(found.mv_data, bytes + starts[i], count) == 0;
}

size_t raw_lmdb_get(raw_lmdb *store, raw_entries entries, const uint32_t *order, size_t count, int together) {
  size_t equal = 0;
  if (together && mdb_txn_renew(store->reader)) return 0;
  for (size_t n = 0; n < count; n++) {
    size_t i = order[n];
    if (!together && mdb_txn_renew(store->reader)) return equal;
    MDB_val key = value(entries.keys, entries.key_starts, i);
    MDB_val found;
    if (mdb_get(store->reader, store->dbi, &key, &found) == MDB_SUCCESS)
      equal += equals(found, entries.values, entries.value_starts, i);
    if (!together) mdb_txn_reset(store->reader);
  }
  if (together) mdb_txn_reset(store->reader);
  return equal;
}

size_t raw_lmdb_copy(raw_lmdb *store, raw_entries entries, const uint32_t *order, size_t count) {
  size_t good = 0;
  for (size_t n = 0; n < count; n++) {
    MDB_val expected = value(entries.values, entries.value_starts, order[n]);
    if (mdb_txn_renew(store->reader)) return good;
    MDB_val key = value(entries.keys, entries.key_starts, order[n]);
    MDB_val found;
    if (mdb_get(store->reader, store->dbi, &key, &found) == MDB_SUCCESS)
      good += raw_copy_is(found.mv_data, found.mv_size, expected.mv_data, expected.mv_size);
    mdb_txn_reset(store->reader);
  }
  return good;
}

size_t raw_lmdb_scan(raw_lmdb *store, raw_entries entries) {
  size_t equal = 0, i = 0;
  MDB_cursor *cursor;
  if (mdb_txn_renew(store->reader)) return 0;
  if (mdb_cursor_open(store->reader, store->dbi, &cursor)) return 0;
  MDB_val key, found;
  while (i < entries.count && mdb_cursor_get(cursor, &key, &found, MDB_NEXT) == MDB_SUCCESS) {
    equal += equals(key, entries.keys, entries.key_starts, i) &&
             equals(found, entries.values, entries.value_starts, i);
    i++;
  }
  mdb_cursor_close(cursor);
  mdb_txn_reset(store->reader);
  return equal;
}

int raw_lmdb_remove(raw_lmdb *store, raw_entries entries, const uint32_t *order, size_t count) {
  MDB_txn *txn;
  int code = mdb_txn_begin(store->env, NULL, 0, &txn);
  if (code) return code;
  for (size_t n = 0; n < count && !code; n++) {
    MDB_val key = value(entries.keys, entries.key_starts, order[n]);
    code = mdb_del(txn, store->dbi, &key, NULL);
  }
  return end(txn, code);
}
