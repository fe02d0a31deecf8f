#include "CGarage.h"

#include <string.h>

static inline __attribute__((always_inline)) uint32_t copied(uint8_t *target, uint8_t *second, const uint8_t *source,
                                                             size_t count) {
  const uint64_t ones = 0x0101010101010101, highs = ones << 7;
  uint64_t all = 0, zeros = 0;
  size_t at = 0;
  for (; at + 8 <= count; at += 8) {
    uint64_t word;
    memcpy(&word, source + at, 8);
    // Else the compiler copies by a call, which takes longer than most names.
    __asm__("" : "+r"(word));
    memcpy(target + at, &word, 8);
    if (second) memcpy(second + at, &word, 8);
    all |= word;
    zeros |= (word - ones) & ~word;
  }
  // No byte twice: a short string has just been stored, and what crosses two stores is slow to load. Ones stand for
  // what is missing in a word.
  uint64_t rest = ones;
  if (count & 4) {
    uint32_t bytes;
    memcpy(&bytes, source + at, 4);
    memcpy(target + at, &bytes, 4);
    if (second) memcpy(second + at, &bytes, 4);
    rest = rest << 32 | bytes;
    at += 4;
  }
  if (count & 2) {
    uint16_t bytes;
    memcpy(&bytes, source + at, 2);
    memcpy(target + at, &bytes, 2);
    if (second) memcpy(second + at, &bytes, 2);
    rest = rest << 16 | bytes;
    at += 2;
  }
  if (count & 1) {
    target[at] = source[at];
    if (second) second[at] = source[at];
    rest = rest << 8 | source[at];
  }
  all |= rest;
  zeros |= (rest - ones) & ~rest;
  return ((all & highs) ? GARAGE_NOT_ASCII : 0) | ((zeros & highs) ? GARAGE_HAS_ZERO : 0);
}

uint32_t garage_copy_text(uint8_t *target, uint8_t *second, const uint8_t *source, size_t count) {
  return second ? copied(target, second, source, count) : copied(target, NULL, source, count);
}
