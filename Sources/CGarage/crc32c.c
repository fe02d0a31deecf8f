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
// Only the last part is long, mostly.
#define RECORD_CHECKSUM(continued, continued_short)      \
  const uint8_t *bytes = record;                         \
  uint32_t crc = continued_short(~seed, key, key_count); \
  crc = continued_short(crc, bytes, place);              \
  return ~continued(crc, bytes + place + 4, count - place - 4)

uint32_t garage_record_crc32c_portable(uint32_t seed, const void *key, size_t key_count, const void *record,
                                       size_t count, size_t place) {
  pthread_once(&table_once, make_table);
  RECORD_CHECKSUM(continued_portable, continued_portable);
}

#if defined(__x86_64__)
#include <nmmintrin.h>
#include <wmmintrin.h>
#define TARGET __attribute__((target("sse4.2,pclmul")))
#define STEP _mm_crc32_u64
#define STEP_BYTE(crc, byte) _mm_crc32_u8((uint32_t)(crc), byte)

TARGET static inline uint64_t product(uint32_t a, uint32_t b) {
  return (uint64_t)_mm_cvtsi128_si64(_mm_clmulepi64_si128(_mm_cvtsi32_si128((int)a), _mm_cvtsi32_si128((int)b), 0));
}

#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32) && defined(__ARM_FEATURE_AES)
#include <arm_acle.h>
#include <arm_neon.h>
#define TARGET
#define STEP __crc32cd
#define STEP_BYTE __crc32cb

static inline uint64_t product(uint32_t a, uint32_t b) {
  return (uint64_t)vgetq_lane_u64(vreinterpretq_u64_p128(vmull_p64((poly64_t)a, (poly64_t)b)), 0);
}

#endif

#if defined(STEP)

// The instruction is begun in each cycle, and is done three later: three checksums of blocks one behind another take no
// longer than one of them. A checksum is linear: that of two blocks is the first one, carried over as many zeros as the
// second one is long, combined with the second one, begun at zero.
//
// To carry a checksum over n zero bytes is to multiply it by x^8n, modulo the polynomial. A product without carries is
// twice as long, and the instruction divides it: it multiplies by x^32 on the way, and the product of two reflected
// numbers is one place too high, so that the factor is x^(8n - 33). (Gopal et al., Fast CRC Computation for iSCSI Polynomial
// Using CRC32 Instruction, Intel 2011.)

// Those factors for 1, 2, … words of eight bytes.
static const uint32_t factors[128] = {
    0x00000001, 0x493C7D27, 0xF20C0DFE, 0xBA4FC28E, 0x3DA6D0CB, 0xDDC0152B, 0x1C291D04, 0x9E4ADDF8,
    0x740EEF02, 0x39D3B296, 0x083A6EEC, 0x0715CE53, 0xC49F4F67, 0x47DB8317, 0x2AD91C30, 0x0D3B6092,
    0x6992CEA2, 0xC96CFDC0, 0x7E908048, 0x878A92A7, 0x1B3D8F29, 0xDAECE73E, 0xF1D0F55E, 0xAB7AFF2A,
    0xA87AB8A8, 0x2162D385, 0x8462D800, 0x83348832, 0x71D111A8, 0x299847D5, 0xFFD852C6, 0xB9E02B86,
    0xDCB17AA4, 0x18B33A4E, 0xF37C5AEE, 0xB6DD949B, 0x6051D5A2, 0x78D9CCB7, 0x18B0D4FF, 0xBAC2FD7B,
    0x21F3D99C, 0xA60CE07B, 0x8F158014, 0xCE7F39F4, 0xA00457F7, 0x61D82E56, 0x8D6D2C43, 0xD270F1A2,
    0x00AC29CF, 0xC619809D, 0xE9ADF796, 0x2B3CAC5D, 0x96638B34, 0x65863B64, 0xE0E9F351, 0x1B03397F,
    0x9AF01F2D, 0xEBB883BD, 0x2CFF42CF, 0xB3E32C28, 0x88F25A3A, 0x064F7F26, 0x4E36F0B0, 0xDD7E3B0C,
    0xBD6F81F8, 0xF285651C, 0x91C9BD4B, 0x10746F3C, 0x885F087B, 0xC7A68855, 0x4C144932, 0x271D9844,
    0x52148F02, 0x8E766A0C, 0xA3C6F37A, 0x93A5F730, 0xD7C0557F, 0x6CB08E5C, 0x63DED06A, 0x6B749FB2,
    0x4D56973C, 0x1393E203, 0x9669C9DF, 0xCEC3662E, 0xE417F38A, 0x96C515BB, 0x4B9E0F71, 0xE6FC4E6A,
    0xD104B8FC, 0x8227BB8A, 0x5B397730, 0xB0CD4768, 0xE78EB416, 0x39C7FF35, 0x61FF0E01, 0xD7A4825C,
    0x8D96551C, 0x0AB3844B, 0x0BF80DD2, 0x0167D312, 0x8821ABED, 0xF6076544, 0x6A45D2B2, 0x26F6A60A,
    0xD8D26619, 0xA741C1BF, 0xDE87806C, 0x98D8D9CB, 0x14338754, 0x49C3CC9C, 0x5BD2011F, 0x68BCE87A,
    0xDD07448E, 0x57A3D037, 0xDDE8F5B9, 0x6956FC3B, 0xA3E3E02C, 0x42D98888, 0xD73C7BEA, 0x3771E98F,
    0x80FF0093, 0xB42AE3D9, 0x8FE4C34D, 0x2178513A, 0xDF99FC11, 0xE0AC139E, 0x6C23E841, 0x170076FA,
};

// At most so many words in three blocks, for there are factors for two thirds of them. From so many bytes on their length is
// that of a loop, from fewer on it is fixed, and even fewer are quicker as they are.
#define MOST_WORDS 192
#define FAR 192
#define NEAR 64

#define ALWAYS_INLINE inline __attribute__((always_inline))

static inline uint64_t word_at(const uint8_t *p) {
  uint64_t word;
  memcpy(&word, p, 8);
  return word;
}

// Records are of all lengths, so that no processor foresees where one ends: to guess wrongly takes longer than the
// instructions for ten words. What is left of a word is therefore taken without asking how much it is.

// Fewer than eight bytes, which stand at the top of a word: zeros before them leave a checksum of zero as it is. That of what
// was before goes into the bytes as far as they reach, and behind them is what it had left.
TARGET static ALWAYS_INLINE uint64_t continued_top(uint64_t crc, uint64_t top, size_t count) {
  return STEP(0, top ^ crc << (63 - 8 * count) << 1) ^ crc >> 8 * count;
}

// The same of the last bytes before `end`, behind eight others or more.
TARGET static ALWAYS_INLINE uint64_t continued_end(uint64_t crc, const uint8_t *end, size_t count) {
  return continued_top(crc, word_at(end - 8) & ~0ull << (63 - 8 * count) << 1, count);
}

// Fewer than eight bytes, which may be all that there are.
TARGET static uint64_t continued_few(uint64_t crc, const uint8_t *p, size_t count) {
  if (count == 0) return crc;
  uint64_t word;
  if (count >= 4) {
    uint32_t first, last;
    memcpy(&first, p, 4);
    memcpy(&last, p + count - 4, 4);
    word = first | (uint64_t)last << 8 * (count - 4);
  } else {
    word = p[0] | (uint64_t)p[count / 2] << 8 * (count / 2) | (uint64_t)p[count - 1] << 8 * (count - 1);
  }
  return continued_top(crc, word << (64 - 8 * count), count);
}

// Whole words, of which there are some; `p` and `count` are those of what is left afterwards.
TARGET static ALWAYS_INLINE uint64_t continued_whole(uint64_t crc, const uint8_t **p, size_t *count) {
#pragma clang loop unroll(disable)
  do {
    crc = STEP(crc, word_at(*p));
    *p += 8;
    *count -= 8;
  } while (*count >= 8);
  return crc;
}

TARGET static ALWAYS_INLINE uint64_t continued_short(uint64_t crc, const uint8_t *p, size_t count) {
  if (count < 8) return continued_few(crc, p, count);
  crc = continued_whole(crc, &p, &count);
  return continued_end(crc, p + count, count);
}

// A key. Those of one type have one length mostly, and that of numbers and UUIDs is a byte behind whole words.
TARGET static ALWAYS_INLINE uint64_t continued_key(uint64_t crc, const uint8_t *p, size_t count) {
  if (count < 8) return continued_few(crc, p, count);
  crc = continued_whole(crc, &p, &count);
  return count == 1 ? STEP_BYTE(crc, *p) : continued_end(crc, p + count, count);
}

// So many words, up to seven: each bit of the number is a stretch that is taken, and used or not. What stands there is read all
// the same.
TARGET static ALWAYS_INLINE uint64_t continued_words(uint64_t crc, const uint8_t *p, size_t words) {
  size_t four = words >> 2 & 1, two = words >> 1 & 1, one = words & 1;
  uint64_t next = STEP(STEP(STEP(STEP(crc, word_at(p)), word_at(p + 8)), word_at(p + 16)), word_at(p + 24));
  crc ^= (crc ^ next) & (0 - (uint64_t)four);
  p += 32 * four;
  next = STEP(STEP(crc, word_at(p)), word_at(p + 8));
  crc ^= (crc ^ next) & (0 - (uint64_t)two);
  p += 16 * two;
  return crc ^ ((crc ^ STEP(crc, word_at(p))) & (0 - (uint64_t)one));
}

// From NEAR bytes on and fewer than FAR, which is what most records have: up to seven words, eight or sixteen words, and what
// is left of one. No loop ends where the bytes do.
TARGET static ALWAYS_INLINE uint64_t continued_near(uint64_t crc, const uint8_t *p, size_t count) {
  size_t words = count / 8;
  const uint8_t *p2 = p + 8 * (words & 7);
  uint64_t first = continued_words(crc, p, words & 7), second = 0, third = 0;
  if (words < 16) {
#pragma clang loop unroll(full)
    for (size_t at = 0; at < 64; at += 8) second = STEP(second, word_at(p2 + at));
    crc = STEP(0, product((uint32_t)first, factors[7])) ^ second;
  } else {
#pragma clang loop unroll(full)
    for (size_t at = 0; at < 64; at += 8) {
      second = STEP(second, word_at(p2 + at));
      third = STEP(third, word_at(p2 + 64 + at));
    }
    uint64_t carried = product((uint32_t)first, factors[15]) ^ product((uint32_t)second, factors[7]);
    crc = STEP(0, carried) ^ third;
  }
  return continued_end(crc, p + count, count & 7);
}

TARGET static ALWAYS_INLINE uint64_t continued(uint64_t crc, const uint8_t *p, size_t count) {
  if (count - NEAR < FAR - NEAR) return continued_near(crc, p, count);
  while (count >= FAR) {
    size_t words = count / 8 < MOST_WORDS ? count / 8 : MOST_WORDS;
    // The first two blocks have a word more where three do not divide them.
    size_t shortest = words / 3, rest = words % 3;
    size_t more = rest != 0, still_more = rest == 2;
    uint64_t first = crc, second = 0, third = 0;
    const uint8_t *p2 = p + 8 * (shortest + more);
    const uint8_t *p3 = p2 + 8 * (shortest + still_more);
    size_t at = 0;
// Longer pieces have ends of their own to be foreseen.
#pragma clang loop unroll(disable)
    do {
      first = STEP(first, word_at(p + at));
      second = STEP(second, word_at(p2 + at));
      third = STEP(third, word_at(p3 + at));
      at += 8;
    } while (at < 8 * shortest);
    // Taken, and used or not: what stands there is the next block's first word else.
    first ^= (first ^ STEP(first, word_at(p + at))) & (0 - (uint64_t)more);
    second ^= (second ^ STEP(second, word_at(p2 + at))) & (0 - (uint64_t)still_more);
    uint64_t carried = product((uint32_t)first, factors[2 * shortest + still_more - 1]) ^ product((uint32_t)second, factors[shortest - 1]);
    crc = STEP(0, carried) ^ third;
    p += 8 * words;
    count -= 8 * words;
    if (count < 8) return continued_end(crc, p + count, count);
  }
  return count < NEAR ? continued_short(crc, p, count) : continued_near(crc, p, count);
}

TARGET static uint32_t hardware(uint32_t seed, const uint8_t *bytes, size_t count) {
  return ~(uint32_t)continued(~seed, bytes, count);
}

TARGET static ALWAYS_INLINE uint32_t record_continued(uint64_t crc, const uint8_t *key, size_t key_count,
                                                      const uint8_t *record, size_t count, size_t place) {
  crc = continued_key(crc, key, key_count);
  if (count < 12 || place >= 8) {
    crc = continued_short(crc, record, place);
    return ~(uint32_t)continued(crc, record + place + 4, count - place - 4);
  }
  // The first eight bytes beside the checksum are one word.
  uint64_t behind = ~0ull << 8 * place;
  crc = STEP(crc, (word_at(record) & ~behind) | (word_at(record + 4) & behind));
  return ~(uint32_t)continued(crc, record + 12, count - 12);
}

TARGET static uint32_t record_hardware(uint32_t seed, const uint8_t *key, size_t key_count, const uint8_t *record,
                                       size_t count, size_t place) {
  return record_continued(~seed, key, key_count, record, count, place);
}

TARGET static uint32_t tagged_hardware(uint64_t tag, const uint8_t *key, size_t key_count, const uint8_t *record,
                                       size_t count, size_t place) {
  return record_continued(STEP(~0u, tag), key, key_count, record, count, place);
}

static inline int has_instructions(void) {
#if defined(__x86_64__)
  return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul");
#else
  return 1;
#endif
}

uint32_t garage_crc32c(uint32_t seed, const void *bytes, size_t count) {
  return has_instructions() ? hardware(seed, bytes, count) : garage_crc32c_portable(seed, bytes, count);
}

uint32_t garage_record_crc32c(uint32_t seed, const void *key, size_t key_count, const void *record,
                              size_t count, size_t place) {
  return has_instructions() ? record_hardware(seed, key, key_count, record, count, place)
                            : garage_record_crc32c_portable(seed, key, key_count, record, count, place);
}

uint32_t garage_tagged_record_crc32c(uint64_t tag, const void *key, size_t key_count, const void *record,
                                     size_t count, size_t place) {
  return has_instructions() ? tagged_hardware(tag, key, key_count, record, count, place)
                            : garage_record_crc32c_portable(garage_crc32c_portable(0, &tag, sizeof tag), key,
                                                            key_count, record, count, place);
}

#else

uint32_t garage_crc32c(uint32_t seed, const void *bytes, size_t count) {
  return garage_crc32c_portable(seed, bytes, count);
}

uint32_t garage_record_crc32c(uint32_t seed, const void *key, size_t key_count, const void *record,
                              size_t count, size_t place) {
  return garage_record_crc32c_portable(seed, key, key_count, record, count, place);
}

uint32_t garage_tagged_record_crc32c(uint64_t tag, const void *key, size_t key_count, const void *record,
                                     size_t count, size_t place) {
  return garage_record_crc32c_portable(garage_crc32c_portable(0, &tag, sizeof tag), key, key_count, record, count,
                                       place);
}

#endif
