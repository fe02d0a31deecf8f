#include "CGarage.h"

#include <string.h>

// SHA-256 as FIPS 180-4 defines it; the section numbers below are that standard's.

// Section 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64 primes.
static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static inline uint32_t rotate_right(uint32_t x, int n) { return (x >> n) | (x << (32 - n)); }

static inline uint32_t load_big_endian(const uint8_t *p) {
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | (uint32_t)p[3];
}

static inline void store_big_endian(uint8_t *p, uint32_t x) {
  p[0] = (uint8_t)(x >> 24);
  p[1] = (uint8_t)(x >> 16);
  p[2] = (uint8_t)(x >> 8);
  p[3] = (uint8_t)x;
}

// Section 6.2.2: one block of 64 bytes.
static void compress_one(uint32_t state[8], const uint8_t *block) {
  uint32_t w[64];
  for (int t = 0; t < 16; t++) w[t] = load_big_endian(block + 4 * t);
  for (int t = 16; t < 64; t++) {
    uint32_t s0 = rotate_right(w[t - 15], 7) ^ rotate_right(w[t - 15], 18) ^ (w[t - 15] >> 3);
    uint32_t s1 = rotate_right(w[t - 2], 17) ^ rotate_right(w[t - 2], 19) ^ (w[t - 2] >> 10);
    w[t] = s1 + w[t - 7] + s0 + w[t - 16];
  }

  uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
  uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
  for (int t = 0; t < 64; t++) {
    uint32_t sum1 = rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25);
    uint32_t choice = (e & f) ^ (~e & g);
    uint32_t t1 = h + sum1 + choice + K[t] + w[t];
    uint32_t sum0 = rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22);
    uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
    uint32_t t2 = sum0 + majority;
    h = g, g = f, f = e, e = d + t1;
    d = c, c = b, b = a, a = t1 + t2;
  }
  state[0] += a, state[1] += b, state[2] += c, state[3] += d;
  state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

static void compress_portable(uint32_t state[8], const uint8_t *block, size_t block_count) {
  for (; block_count > 0; block_count--, block += 64) compress_one(state, block);
}

// The same by the processor's own instructions, which take a fifth of the time: two rounds each, over a state of two vectors,
// and two that make the next four words out of the sixteen before. A loop takes four words through four rounds; those of the
// last four steps need no successors.
#if defined(__x86_64__)
#include <immintrin.h>

// The state as the instructions want it, the first word on top: a b e f, and c d g h.
__attribute__((target("sha,sse4.1,ssse3"))) static void compress_instructions(uint32_t state[8], const uint8_t *block,
                                                                              size_t block_count) {
  const __m128i big_endian = _mm_set_epi64x(0x0C0D0E0F08090A0BLL, 0x0405060700010203LL);
  __m128i cdab = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)state), 0xB1);
  __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(state + 4)), 0x1B);
  __m128i abef = _mm_alignr_epi8(cdab, efgh, 8), cdgh = _mm_blend_epi16(efgh, cdab, 0xF0);
  for (; block_count > 0; block_count--, block += 64) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i w[4];
    for (int i = 0; i < 4; i++)
      w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(block + 16 * i)), big_endian);
#pragma clang loop unroll(full)
    for (int step = 0; step < 16; step++) {
      __m128i words = w[step & 3];
      __m128i sum = _mm_add_epi32(words, _mm_loadu_si128((const __m128i *)(K + 4 * step)));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0E));
      if (step < 12) {
        __m128i next = w[(step + 1) & 3], third = w[(step + 2) & 3], last = w[(step + 3) & 3];
        __m128i partly = _mm_add_epi32(_mm_sha256msg1_epu32(words, next), _mm_alignr_epi8(last, third, 4));
        w[step & 3] = _mm_sha256msg2_epu32(partly, last);
      }
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  __m128i feba = _mm_shuffle_epi32(abef, 0x1B), dchg = _mm_shuffle_epi32(cdgh, 0xB1);
  _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(feba, dchg, 0xF0));
  _mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

// `__builtin_cpu_supports` does not know these in all compilers.
#include <cpuid.h>
static int has_instructions(void) {
  static int known = 0;  // 1 for no, 2 for yes
  int found = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (found == 0) {
    unsigned a, b, c, d;
    int sha = __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b >> 29 & 1);
    int sse = __get_cpuid(1, &a, &b, &c, &d) && (c >> 19 & 1) && (c >> 9 & 1);
    found = sha && sse ? 2 : 1;
    __atomic_store_n(&known, found, __ATOMIC_RELAXED);
  }
  return found == 2;
}

static void compress(uint32_t state[8], const uint8_t *block, size_t block_count) {
  if (has_instructions())
    compress_instructions(state, block, block_count);
  else
    compress_portable(state, block, block_count);
}

#elif defined(__aarch64__) && defined(__ARM_FEATURE_SHA2)
#include <arm_neon.h>

static void compress(uint32_t state[8], const uint8_t *block, size_t block_count) {
  uint32x4_t abcd = vld1q_u32(state), efgh = vld1q_u32(state + 4);
  for (; block_count > 0; block_count--, block += 64) {
    const uint32x4_t abcd_before = abcd, efgh_before = efgh;
    uint32x4_t w[4];
    for (int i = 0; i < 4; i++) w[i] = vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(block + 16 * i)));
#pragma clang loop unroll(full)
    for (int step = 0; step < 16; step++) {
      uint32x4_t words = w[step & 3], sum = vaddq_u32(words, vld1q_u32(K + 4 * step)), before = abcd;
      abcd = vsha256hq_u32(abcd, efgh, sum);
      efgh = vsha256h2q_u32(efgh, before, sum);
      if (step < 12)
        w[step & 3] =
            vsha256su1q_u32(vsha256su0q_u32(words, w[(step + 1) & 3]), w[(step + 2) & 3], w[(step + 3) & 3]);
    }
    abcd = vaddq_u32(abcd, abcd_before);
    efgh = vaddq_u32(efgh, efgh_before);
  }
  vst1q_u32(state, abcd);
  vst1q_u32(state + 4, efgh);
}

#else
#define compress compress_portable
#endif

typedef void compression(uint32_t state[8], const uint8_t *block, size_t block_count);

// Section 5.3.3.
static const uint32_t INITIAL[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

void garage_sha256_begin(const uint8_t block[64], uint32_t state[8]) {
  memcpy(state, INITIAL, sizeof INITIAL);
  compress(state, block, 1);
}

// The digest of `before` bytes, a multiple of 64, which led to `initial`, and `count` more.
static inline void finish(compression *compress, const uint32_t initial[8], size_t before, const void *bytes,
                          size_t count, uint8_t out[32]) {
  uint32_t state[8];
  memcpy(state, initial, sizeof state);
  size_t rest = count % 64;
  if (count >= 64) compress(state, bytes, count / 64);

  // Section 5.1.1: a one bit, zeros, and the length in bits as 64-bit big-endian number.
  uint8_t tail[128] = {0};
  if (rest > 0) memcpy(tail, (const uint8_t *)bytes + (count - rest), rest);
  tail[rest] = 0x80;
  size_t tail_count = rest < 56 ? 64 : 128;
  uint64_t bits = (uint64_t)(before + count) * 8;
  store_big_endian(tail + tail_count - 8, (uint32_t)(bits >> 32));
  store_big_endian(tail + tail_count - 4, (uint32_t)bits);
  compress(state, tail, tail_count / 64);

  for (int i = 0; i < 8; i++) store_big_endian(out + 4 * i, state[i]);
}

void garage_sha256_end(const uint32_t state[8], const void *bytes, size_t count, uint8_t out[32]) {
  finish(compress, state, 64, bytes, count, out);
}

void garage_sha256(const void *bytes, size_t count, uint8_t out[32]) { finish(compress, INITIAL, 0, bytes, count, out); }

void garage_sha256_portable(const void *bytes, size_t count, uint8_t out[32]) {
  finish(compress_portable, INITIAL, 0, bytes, count, out);
}
