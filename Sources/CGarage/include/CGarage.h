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

// The few that threads have open at a time stand in `near`; more than those, which costs an allocation, in `more`.
#define GARAGE_NEAR 8
typedef struct {
  size_t count, more_capacity;
  garage_transaction near[GARAGE_NEAR];
  garage_transaction *_Nullable more;
} garage_transactions;
extern _Thread_local garage_transactions garage_open;
void garage_push_far_transaction(garage_transaction transaction);
void garage_pop_far_transaction(void);

garage_transaction garage_transaction_at(size_t index);
static inline size_t garage_transaction_count(void) { return garage_open.count; }

static inline void garage_push_transaction(const void *_Nullable lifetime, bool is_write) {
  garage_transaction transaction = {lifetime, is_write};
  if (garage_open.count < GARAGE_NEAR) {
    garage_open.near[garage_open.count++] = transaction;
  } else {
    garage_push_far_transaction(transaction);
  }
}

static inline void garage_pop_transaction(void) {
  if (garage_open.count <= GARAGE_NEAR) {
    garage_open.count--;
  } else {
    garage_pop_far_transaction();
  }
}

// Swift's own: the memory of an object of that class, to which nothing but its header is written.
extern void *_Nonnull swift_allocObject(const void *_Nonnull metadata, size_t byte_count, size_t alignment_mask);
static inline void *_Nonnull garage_allocate_object(const void *_Nonnull metadata, size_t byte_count,
                                                    size_t alignment_mask) {
  return swift_allocObject(metadata, byte_count, alignment_mask);
}

// CRC-32C (Castagnoli polynomial, RFC 3720 appendix B.4), continued from `seed` (0 to begin).
// Uses the processor's instruction where there is one, else a table.
uint32_t garage_crc32c(uint32_t seed, const void *_Nullable bytes, size_t count);

// The checksum of a record under its key, in one call: of the key, and of all of the record but the checksum's own
// four bytes, which stand at `place` and up to which a record goes at least.
uint32_t garage_record_crc32c(uint32_t seed, const void *_Nullable key, size_t key_count, const void *_Nonnull record,
                              size_t count, size_t place);

// The same, of a key that begins with eight bytes that stand elsewhere: `tag` has them as memory has them.
uint32_t garage_tagged_record_crc32c(uint64_t tag, const void *_Nullable key, size_t key_count,
                                     const void *_Nonnull record, size_t count, size_t place);

// The first two by table alone, so that tests can compare them.
uint32_t garage_crc32c_portable(uint32_t seed, const void *_Nullable bytes, size_t count);
uint32_t garage_record_crc32c_portable(uint32_t seed, const void *_Nullable key, size_t key_count,
                                       const void *_Nonnull record, size_t count, size_t place);

// Copies text to one or two places, and tells what is in it.
enum { GARAGE_NOT_ASCII = 1, GARAGE_HAS_ZERO = 2 };
uint32_t garage_copy_text(uint8_t *_Nonnull target, uint8_t *_Nullable second, const uint8_t *_Nonnull source,
                          size_t count);

// Whether bytes are UTF-8, as the Unicode Standard has it: no surrogates, nothing longer than it has to be. The second
// without the processor's instructions for many bytes at once, so that tests can compare them.
bool garage_is_utf8(const void *_Nullable bytes, size_t count);
bool garage_is_utf8_portable(const void *_Nullable bytes, size_t count);

// How many bytes a value in a body has, its first one and all, where that byte tells; 0 where it does not, or there is no such
// value (BodyTag). A table, because fields are of all kinds: no processor foresees what a branch for each of them would do.
static const uint8_t garage_value_byte_counts[256] = {
    1, 1, 1, 1, 2, 3, 5, 9, 17, 9, 17, 5, 9, 9, 17, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 5, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
    17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32,
    33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48,
    49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
};
static inline uint8_t garage_value_byte_count(uint8_t first) { return garage_value_byte_counts[first]; }

// SHA-256 (FIPS 180-4) of `count` bytes, by the processor's own instructions where it has them.
void garage_sha256(const void *_Nullable bytes, size_t count, uint8_t out[_Nonnull 32]);

// The same in portable C.
void garage_sha256_portable(const void *_Nullable bytes, size_t count, uint8_t out[_Nonnull 32]);

// The same in two steps: the state behind a first block of 64 bytes, to be kept, and the digest of that block and
// `count` more bytes. A keyed hash begins with the same block each time.
void garage_sha256_begin(const uint8_t block[_Nonnull 64], uint32_t state[_Nonnull 8]);
void garage_sha256_end(const uint32_t state[_Nonnull 8], const void *_Nullable bytes, size_t count,
                       uint8_t out[_Nonnull 32]);

// How often this process image was forked since the first call of garage_watch_forks: a child sees a
// larger number than the parent that opened its storages.
void garage_watch_forks(void);
uint32_t garage_fork_count(void);

// Runs `body` on a thread of its own, for which nobody waits; false where the system gives none.
bool garage_start_thread(void (*_Nonnull body)(void));

// The same for a body that gets `context`, on a stack of so many bytes. What it returns is lost.
bool garage_start_thread_with(void *_Nullable (*_Nonnull body)(void *_Nonnull), void *_Nonnull context,
                              size_t stack_byte_count);

// Names the calling thread for debuggers, by up to 15 bytes.
void garage_name_thread(const char *_Nonnull name);

// How many bytes of the calling thread's stack are left; SIZE_MAX where the system does not tell.
size_t garage_stack_remaining(void);

// Asks the system to back so many bytes from `memory` with large pages, where they hold some.
void garage_use_large_pages(void *_Nonnull memory, size_t count);

// Copies words from memory that other processes may change meanwhile, each word in one piece, and tells whether words
// there are still those that were copied. What was read after they were seen to be the same is no older than they are.
static inline void garage_copy_shared(uint64_t *_Nonnull words, const uint64_t *_Nonnull shared, size_t count) {
  for (size_t i = 0; i < count; i++) words[i] = __atomic_load_n(shared + i, __ATOMIC_ACQUIRE);
}
static inline bool garage_is_same_shared(const uint64_t *_Nonnull words, const uint64_t *_Nonnull shared,
                                         size_t count) {
  uint64_t other = 0;
  for (size_t i = 0; i < count; i++) other |= words[i] ^ __atomic_load_n(shared + i, __ATOMIC_ACQUIRE);
  return !other;
}

// Asks for a cache line that will be read soon. Only advice: the address need not be one of the program's.
static inline void garage_prefetch(const void *_Nullable address) { __builtin_prefetch(address); }

// What copies the arguments of a component of a key path where these are the types of generic code, and no subscript's (Swift
// ABI, KeyPath.h). Of the runtime library.
extern const char swift_keyPathGenericWitnessTable;
static inline const void *_Nonnull garage_generic_key_path_witnesses(void) { return &swift_keyPathGenericWitnessTable; }

#endif
