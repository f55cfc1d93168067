/* What the compiler and the core agree on about strings: the words of a call's arguments, and the hash of tables. */
#ifndef INGOT_TEXT_H
#define INGOT_TEXT_H
#include <stdint.h>

/* The words of `arguments`, see ingot.h. */
enum ingot_text_word {
  INGOT_TEXT_X,
  INGOT_TEXT_Y,
  INGOT_TEXT_X_STEP,
  INGOT_TEXT_Y_STEP,
  INGOT_TEXT_TABLE,
  INGOT_TEXT_TO,
  INGOT_TEXT_COUNT,
  INGOT_TEXT_NUMBER, /* what of several things is to be done: a type, a case, the most splits */
  INGOT_TEXT_TAIL,   /* elements of the result for each of the operand */
  INGOT_TEXT_WORDS
};

/* Tables are little endian and begin at a multiple of 64. A pool of strings: their number n, n + 1 offsets of 64 bits
 * from the first byte behind these, the bytes. A table of keys: the number of slots less one, the offset of the pool, a
 * slot of 32 bits each (0, or 1 + the number of a key; one that is taken sends on to the next), the pool. An automaton:
 * the number of its states and of its classes of bytes, the state that it begins in, a flag for each state (32 bits
 * each), a class for each byte (8 bits), and for each state that which follows by class (16 bits). State 0 never accepts
 * and is never left. */

static inline uint64_t ingot_text_hash(const char *data, int64_t size) {
  uint64_t hash = 0x9e3779b97f4a7c15u ^ (uint64_t)size;
  int64_t i = 0;
  for (; i + 8 <= size; i += 8) {
    uint64_t word = 0;
    for (int k = 0; k < 8; ++k) {
      word |= (uint64_t)(unsigned char)data[i + k] << (8 * k);
    }
    hash = (hash ^ word) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  uint64_t rest = 0;
  for (int k = 0; i < size; ++i, ++k) {
    rest |= (uint64_t)(unsigned char)data[i] << (8 * k);
  }
  hash = (hash ^ rest) * 0xc4ceb9fe1a85ec53u;
  return hash ^ hash >> 29;
}

#endif
