#include "CGarage.h"

#include <pthread.h>
#include <string.h>

// Reflected Castagnoli polynomial.
#define POLYNOMIAL 0x82F63B78u

// Slicing by eight: table[k][b] is the checksum of byte b followed by k zero bytes.
static uint32_t table[8][256];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static void make_table(void) {
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ (POLYNOMIAL & (0u - (crc & 1u)));
    table[0][byte] = crc;
  }
  for (uint32_t byte = 0; byte < 256; byte++)
    for (int k = 1; k < 8; k++)
      table[k][byte] = (table[k - 1][byte] >> 8) ^ table[0][table[k - 1][byte] & 0xFF];
}

static uint32_t continued_portable(uint32_t crc, const uint8_t *p, size_t count) {
  while (count >= 8) {
    crc ^= (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
    crc = table[7][crc & 0xFF] ^ table[6][(crc >> 8) & 0xFF] ^ table[5][(crc >> 16) & 0xFF] ^
          table[4][crc >> 24] ^ table[3][p[4]] ^ table[2][p[5]] ^ table[1][p[6]] ^ table[0][p[7]];
    p += 8;
    count -= 8;
  }
  while (count-- > 0) crc = (crc >> 8) ^ table[0][(crc ^ *p++) & 0xFF];
  return crc;
}

uint32_t garage_crc32c_portable(uint32_t seed, const void *bytes, size_t count) {
  pthread_once(&table_once, make_table);
  return ~continued_portable(~seed, bytes, count);
}

// The checksum of a record: what is before the checksum's own four bytes, and what is behind them.
#define RECORD_CHECKSUM(continued)                 \
  const uint8_t *bytes = record;                   \
  uint32_t crc = continued(~seed, key, key_count); \
  crc = continued(crc, bytes, place);              \
  return ~continued(crc, bytes + place + 4, count - place - 4)

uint32_t garage_record_crc32c_portable(uint32_t seed, const void *key, size_t key_count, const void *record,
                                       size_t count, size_t place) {
  pthread_once(&table_once, make_table);
  RECORD_CHECKSUM(continued_portable);
}

#if defined(__x86_64__)
#include <nmmintrin.h>
#define TARGET __attribute__((target("sse4.2")))
#define STEP _mm_crc32_u64

TARGET static inline uint32_t continued(uint32_t before, const uint8_t *p, size_t count) {
  uint64_t crc = before;
  while (count >= 8) {
    uint64_t word;
    memcpy(&word, p, 8);
    crc = _mm_crc32_u64(crc, word);
    p += 8;
    count -= 8;
  }
  uint32_t crc32 = (uint32_t)crc;
  if (count & 4) {
    uint32_t word;
    memcpy(&word, p, 4);
    crc32 = _mm_crc32_u32(crc32, word);
    p += 4;
  }
  if (count & 2) {
    uint16_t word;
    memcpy(&word, p, 2);
    crc32 = _mm_crc32_u16(crc32, word);
    p += 2;
  }
  if (count & 1) crc32 = _mm_crc32_u8(crc32, *p);
  return crc32;
}

#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#define TARGET
#define STEP __crc32cd

static inline uint32_t continued(uint32_t crc, const uint8_t *p, size_t count) {
  while (count >= 8) {
    uint64_t word;
    memcpy(&word, p, 8);
    crc = __crc32cd(crc, word);
    p += 8;
    count -= 8;
  }
  while (count-- > 0) crc = __crc32cb(crc, *p++);
  return crc;
}

#endif

#if defined(STEP)

// The instruction is begun in each cycle, and is done three later: three checksums of blocks one behind another take no
// longer than one of them. A checksum is linear: that of two blocks is the first one, carried over as many zeros as the
// second one is long, combined with the second one, begun at zero.
#define BLOCK 512
// From this length on.
#define FAR (3 * BLOCK)

// What each byte of a checksum becomes behind a block of zeros.
static uint32_t carried[4][256];
static pthread_once_t carried_once = PTHREAD_ONCE_INIT;

static void make_carried(void) {
  static const uint8_t zeros[BLOCK];
  pthread_once(&table_once, make_table);
  for (int k = 0; k < 4; k++)
    for (uint32_t byte = 0; byte < 256; byte++) carried[k][byte] = continued_portable(byte << (8 * k), zeros, BLOCK);
}

static inline uint32_t carry(uint32_t crc) {
  return carried[0][crc & 0xFF] ^ carried[1][(crc >> 8) & 0xFF] ^ carried[2][(crc >> 16) & 0xFF] ^
         carried[3][crc >> 24];
}

static inline uint64_t word_at(const uint8_t *p) {
  uint64_t word;
  memcpy(&word, p, 8);
  return word;
}

// The same as `continued`.
TARGET static uint32_t continued_far(uint32_t crc, const uint8_t *p, size_t count) {
  if (count >= FAR) pthread_once(&carried_once, make_carried);
  for (; count >= FAR; count -= FAR, p += FAR) {
    uint64_t first = crc, second = 0, third = 0;
    for (size_t at = 0; at < BLOCK; at += 8) {
      first = STEP((uint32_t)first, word_at(p + at));
      second = STEP((uint32_t)second, word_at(p + BLOCK + at));
      third = STEP((uint32_t)third, word_at(p + 2 * BLOCK + at));
    }
    crc = carry(carry((uint32_t)first) ^ (uint32_t)second) ^ (uint32_t)third;
  }
  return continued(crc, p, count);
}

TARGET static uint32_t hardware(uint32_t seed, const uint8_t *bytes, size_t count) {
  return ~continued(~seed, bytes, count);
}

TARGET static uint32_t record_hardware(uint32_t seed, const uint8_t *key, size_t key_count, const uint8_t *record,
                                       size_t count, size_t place) {
  RECORD_CHECKSUM(continued);
}

// Functions of their own: those above call nothing, and are the faster for it.
TARGET __attribute__((noinline)) static uint32_t hardware_far(uint32_t seed, const uint8_t *bytes, size_t count) {
  return ~continued_far(~seed, bytes, count);
}

TARGET __attribute__((noinline)) static uint32_t record_hardware_far(uint32_t seed, const uint8_t *key,
                                                                     size_t key_count, const uint8_t *record,
                                                                     size_t count, size_t place) {
  RECORD_CHECKSUM(continued_far);
}

static inline int has_instruction(void) {
#if defined(__x86_64__)
  return __builtin_cpu_supports("sse4.2");
#else
  return 1;
#endif
}

uint32_t garage_crc32c(uint32_t seed, const void *bytes, size_t count) {
  if (!has_instruction()) return garage_crc32c_portable(seed, bytes, count);
  return count < FAR ? hardware(seed, bytes, count) : hardware_far(seed, bytes, count);
}

uint32_t garage_record_crc32c(uint32_t seed, const void *key, size_t key_count, const void *record,
                              size_t count, size_t place) {
  if (!has_instruction()) return garage_record_crc32c_portable(seed, key, key_count, record, count, place);
  return count < FAR ? record_hardware(seed, key, key_count, record, count, place)
                     : record_hardware_far(seed, key, key_count, record, count, place);
}

#else

uint32_t garage_crc32c(uint32_t seed, const void *bytes, size_t count) {
  return garage_crc32c_portable(seed, bytes, count);
}

uint32_t garage_record_crc32c(uint32_t seed, const void *key, size_t key_count, const void *record,
                              size_t count, size_t place) {
  return garage_record_crc32c_portable(seed, key, key_count, record, count, place);
}

#endif
