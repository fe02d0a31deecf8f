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
static void compress(uint32_t state[8], const uint8_t *block) {
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

// Section 5.3.3.
static const uint32_t INITIAL[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

void garage_sha256_begin(const uint8_t block[64], uint32_t state[8]) {
  memcpy(state, INITIAL, sizeof INITIAL);
  compress(state, block);
}

// The digest of `before` bytes, a multiple of 64, which led to `initial`, and `count` more.
static void finish(const uint32_t initial[8], size_t before, const void *bytes, size_t count, uint8_t out[32]) {
  uint32_t state[8];
  memcpy(state, initial, sizeof state);
  const uint8_t *p = bytes;
  size_t rest = count;
  for (; rest >= 64; rest -= 64, p += 64) compress(state, p);

  // Section 5.1.1: a one bit, zeros, and the length in bits as 64-bit big-endian number.
  uint8_t tail[128] = {0};
  if (rest > 0) memcpy(tail, p, rest);
  tail[rest] = 0x80;
  size_t tail_count = rest < 56 ? 64 : 128;
  uint64_t bits = (uint64_t)(before + count) * 8;
  store_big_endian(tail + tail_count - 8, (uint32_t)(bits >> 32));
  store_big_endian(tail + tail_count - 4, (uint32_t)bits);
  compress(state, tail);
  if (tail_count == 128) compress(state, tail + 64);

  for (int i = 0; i < 8; i++) store_big_endian(out + 4 * i, state[i]);
}

void garage_sha256_end(const uint32_t state[8], const void *bytes, size_t count, uint8_t out[32]) {
  finish(state, 64, bytes, count, out);
}

void garage_sha256(const void *bytes, size_t count, uint8_t out[32]) { finish(INITIAL, 0, bytes, count, out); }
