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
 * from the first byte behind these, the bytes. A table of keys: the number of slots less one, the offset of what the
 * keys are, and a slot of 64 bits each: 0, or 1 + the number of a key in the lower half and that of its hash in the
 * upper one; one that is taken sends on to the next. Keys are a pool, or their number and as many integers. An
 * automaton: the number of its states and of its classes of bytes, the state that it begins in, a flag for each state
 * (32 bits each), a class for each byte (8 bits), and for each state that which follows by class (16 bits). State 0
 * never accepts and is never left. */

static inline uint64_t ingot_text_word(const char *data, int bytes) {
  uint64_t word = 0;
  for (int k = 0; k < bytes; ++k) { /* one load where memory is little endian */
    word |= (uint64_t)(unsigned char)data[k] << (8 * k);
  }
  return word;
}

static inline uint64_t ingot_text_mixed(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0xff51afd7ed558ccdu;
  return hash ^ hash >> 32;
}

/* Eight bytes at a time; the last ones overlap those before. */
static inline uint64_t ingot_text_hash(const char *data, int64_t size) {
  uint64_t hash = 0x9e3779b97f4a7c15u ^ (uint64_t)size;
  if (size >= 8) {
    for (int64_t i = 0; i + 8 < size; i += 8) {
      hash = ingot_text_mixed(hash, ingot_text_word(data + i, 8));
    }
    hash = ingot_text_mixed(hash, ingot_text_word(data + size - 8, 8));
  } else if (size >= 4) {
    hash = ingot_text_mixed(hash, ingot_text_word(data, 4) | ingot_text_word(data + size - 4, 4) << 32);
  } else if (size > 0) {
    uint64_t middle = (unsigned char)data[size / 2], last = (unsigned char)data[size - 1];
    hash = ingot_text_mixed(hash, ingot_text_word(data, 1) | middle << 8 | last << 16);
  }
  return hash * 0xc4ceb9fe1a85ec53u;
}

static inline uint64_t ingot_text_number_hash(int64_t number) { return ingot_text_mixed(0, (uint64_t)number); }

#endif
