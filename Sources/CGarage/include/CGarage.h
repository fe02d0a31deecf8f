#ifndef CGARAGE_H
#define CGARAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The transactions that are open on the calling thread, the outermost first. A C thread-local costs one load; Swift has
// none without a dictionary. A transaction ends on the thread that began it, and before those around it.
typedef struct {
  const void *_Nullable lifetime;
  bool is_write;
} garage_transaction;
size_t garage_transaction_count(void);
garage_transaction garage_transaction_at(size_t index);
void garage_push_transaction(const void *_Nullable lifetime, bool is_write);
void garage_pop_transaction(void);

// CRC-32C (Castagnoli polynomial, RFC 3720 appendix B.4), continued from `seed` (0 to begin).
// Uses the processor's instruction where there is one, else a table.
uint32_t garage_crc32c(uint32_t seed, const void *_Nullable bytes, size_t count);

// The same by table alone, so that tests can compare the two.
uint32_t garage_crc32c_portable(uint32_t seed, const void *_Nullable bytes, size_t count);

// SHA-256 (FIPS 180-4) of `count` bytes. Portable C: the library only digests names, long identifiers and
// the canonical form of values.
void garage_sha256(const void *_Nullable bytes, size_t count, uint8_t out[_Nonnull 32]);

// The same in two steps: the state behind a first block of 64 bytes, to be kept, and the digest of that block and
// `count` more bytes. A keyed hash begins with the same block each time.
void garage_sha256_begin(const uint8_t block[_Nonnull 64], uint32_t state[_Nonnull 8]);
void garage_sha256_end(const uint32_t state[_Nonnull 8], const void *_Nullable bytes, size_t count,
                       uint8_t out[_Nonnull 32]);

// How often this process image was forked since the first call of garage_watch_forks: a child sees a
// larger number than the parent that opened its storages.
void garage_watch_forks(void);
uint32_t garage_fork_count(void);

// How many bytes of the calling thread's stack are left; SIZE_MAX where the system does not tell.
size_t garage_stack_remaining(void);

#endif
