#include "CGarage.h"

#include <string.h>

// One scalar after the other (The Unicode Standard, table 3-7).
bool garage_is_utf8_portable(const void *bytes, size_t count) {
  const uint8_t *p = bytes, *end = p + count;
  while (p < end) {
    uint8_t first = *p++;
    if (first < 0x80) continue;
    size_t more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
    if (first < 0xC2 || first > 0xF4 || (size_t)(end - p) < more) return false;
    uint8_t least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    uint8_t most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    if (p[0] < least || p[0] > most) return false;
    for (size_t index = 1; index < more; index++)
      if ((p[index] & 0xC0) != 0x80) return false;
    p += more;
  }
  return true;
}

// Sixteen bytes at a time, without a branch: John Keiser and Daniel Lemire, "Validating UTF-8 In Less Than One
// Instruction Per Byte", Software: Practice and Experience 51 (5), 2021. Three tables say, by the halves of a byte and
// of the one behind it, which errors the two may be; an error is what all three say.
enum {
  TOO_SHORT = 1 << 0,
  TOO_LONG = 1 << 1,
  OVERLONG_3 = 1 << 2,
  TOO_LARGE = 1 << 3,
  SURROGATE = 1 << 4,
  OVERLONG_2 = 1 << 5,
  // Both are told by the same byte behind another one.
  TOO_LARGE_1000 = 1 << 6,
  OVERLONG_4 = 1 << 6,
  TWO_CONTINUATIONS = 1 << 7,
  CARRY = TOO_SHORT | TOO_LONG | TWO_CONTINUATIONS,
};

#define FIRST_HIGH                                                                                              \
  {TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TWO_CONTINUATIONS,           \
   TWO_CONTINUATIONS, TWO_CONTINUATIONS, TWO_CONTINUATIONS, TOO_SHORT | OVERLONG_2, TOO_SHORT,                  \
   TOO_SHORT | OVERLONG_3 | SURROGATE, TOO_SHORT | TOO_LARGE | TOO_LARGE_1000 | OVERLONG_4}
#define LARGE (CARRY | TOO_LARGE | TOO_LARGE_1000)
#define FIRST_LOW                                                                                               \
  {CARRY | OVERLONG_3 | OVERLONG_2 | OVERLONG_4, CARRY | OVERLONG_2, CARRY, CARRY, CARRY | TOO_LARGE, LARGE,    \
   LARGE, LARGE, LARGE, LARGE, LARGE, LARGE, LARGE, LARGE | SURROGATE, LARGE, LARGE}
#define LONG (TOO_LONG | OVERLONG_2 | TWO_CONTINUATIONS)
#define SECOND_HIGH                                                                                             \
  {TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT,                      \
   LONG | OVERLONG_3 | TOO_LARGE_1000 | OVERLONG_4, LONG | OVERLONG_3 | TOO_LARGE, LONG | SURROGATE | TOO_LARGE, \
   LONG | SURROGATE | TOO_LARGE, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT}

#if defined(__x86_64__)
#include <tmmintrin.h>

__attribute__((target("ssse3"))) static inline __m128i errors(__m128i input, __m128i before) {
  const __m128i low_half = _mm_set1_epi8(0x0F);
  const uint8_t first_high[16] = FIRST_HIGH, first_low[16] = FIRST_LOW, second_high[16] = SECOND_HIGH;
  __m128i first = _mm_alignr_epi8(input, before, 15);
  __m128i special = _mm_and_si128(
      _mm_and_si128(_mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)first_high),
                                     _mm_and_si128(_mm_srli_epi16(first, 4), low_half)),
                    _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)first_low), _mm_and_si128(first, low_half))),
      _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)second_high),
                       _mm_and_si128(_mm_srli_epi16(input, 4), low_half)));
  // The third byte of three and the third and fourth of four are continuations behind continuations, and only they.
  __m128i third = _mm_subs_epu8(_mm_alignr_epi8(input, before, 14), _mm_set1_epi8((char)(0xE0 - 0x80)));
  __m128i fourth = _mm_subs_epu8(_mm_alignr_epi8(input, before, 13), _mm_set1_epi8((char)(0xF0 - 0x80)));
  __m128i must = _mm_and_si128(_mm_or_si128(third, fourth), _mm_set1_epi8((char)0x80));
  return _mm_xor_si128(must, special);
}

__attribute__((target("ssse3"))) static bool is_utf8(const uint8_t *p, size_t count) {
  __m128i before = _mm_setzero_si128(), error = _mm_setzero_si128();
  for (; count >= 16; p += 16, count -= 16) {
    __m128i input = _mm_loadu_si128((const __m128i *)p);
    error = _mm_or_si128(error, errors(input, before));
    before = input;
  }
  // Zeros behind the end: what is cut there is too short.
  uint8_t rest[16] = {0};
  memcpy(rest, p, count);
  error = _mm_or_si128(error, errors(_mm_loadu_si128((const __m128i *)rest), before));
  return _mm_movemask_epi8(_mm_cmpeq_epi8(error, _mm_setzero_si128())) == 0xFFFF;
}

bool garage_is_utf8(const void *bytes, size_t count) {
  if (count == 0) return true;
  return __builtin_cpu_supports("ssse3") ? is_utf8(bytes, count) : garage_is_utf8_portable(bytes, count);
}
#elif defined(__aarch64__)
#include <arm_neon.h>

static inline uint8x16_t errors(uint8x16_t input, uint8x16_t before) {
  const uint8_t first_high[16] = FIRST_HIGH, first_low[16] = FIRST_LOW, second_high[16] = SECOND_HIGH;
  uint8x16_t first = vextq_u8(before, input, 15);
  uint8x16_t special = vandq_u8(vandq_u8(vqtbl1q_u8(vld1q_u8(first_high), vshrq_n_u8(first, 4)),
                                         vqtbl1q_u8(vld1q_u8(first_low), vandq_u8(first, vdupq_n_u8(0x0F)))),
                                vqtbl1q_u8(vld1q_u8(second_high), vshrq_n_u8(input, 4)));
  uint8x16_t third = vqsubq_u8(vextq_u8(before, input, 14), vdupq_n_u8(0xE0 - 0x80));
  uint8x16_t fourth = vqsubq_u8(vextq_u8(before, input, 13), vdupq_n_u8(0xF0 - 0x80));
  return veorq_u8(vandq_u8(vorrq_u8(third, fourth), vdupq_n_u8(0x80)), special);
}

bool garage_is_utf8(const void *bytes, size_t count) {
  const uint8_t *p = bytes;
  uint8x16_t before = vdupq_n_u8(0), error = vdupq_n_u8(0);
  if (count == 0) return true;
  for (; count >= 16; p += 16, count -= 16) {
    uint8x16_t input = vld1q_u8(p);
    error = vorrq_u8(error, errors(input, before));
    before = input;
  }
  uint8_t rest[16] = {0};
  memcpy(rest, p, count);
  error = vorrq_u8(error, errors(vld1q_u8(rest), before));
  return vmaxvq_u8(error) == 0;
}
#else
bool garage_is_utf8(const void *bytes, size_t count) { return garage_is_utf8_portable(bytes, count); }
#endif
