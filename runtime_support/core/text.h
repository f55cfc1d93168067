/* Declares what the compiler and the core agree on about strings: the words of a call's arguments, tables, and the
 * hash of tables. */
#ifndef INGOT_TEXT_H
#define INGOT_TEXT_H
#include <stdint.h>

/* The words of `arguments`; see ingot.h. */
enum ingot_text_word {
  INGOT_TEXT_X,
  INGOT_TEXT_Y,
  INGOT_TEXT_X_STEP,
  INGOT_TEXT_Y_STEP,
  INGOT_TEXT_TABLE,
  INGOT_TEXT_TO,
  INGOT_TEXT_COUNT,
  INGOT_TEXT_NUMBER,  /* which of several things is to be done: a type, a case, the most splits */
  INGOT_TEXT_TAIL,    /* elements of the result for each element of the operand, or for each row of it */
  INGOT_TEXT_ROW,     /* elements of a row of the operand */
  INGOT_TEXT_SCRATCH, /* the address of INGOT_TEXT_RANK_BYTES for each element */
  INGOT_TEXT_WORDS
};

enum { INGOT_TEXT_RANK_BYTES = 32 };

/* What is beside a place between two characters of a text: a character that is no part of a word, the end of the
 * text, the end of a line, or a part of a word. */
typedef enum ingot_text_beside {
  INGOT_TEXT_OTHER,
  INGOT_TEXT_EDGE,
  INGOT_TEXT_LINE,
  INGOT_TEXT_WORD,
  INGOT_TEXT_BESIDES
} ingot_text_beside;

/* Tables are little endian and begin at a multiple of 64; offsets count bytes from there. Numbers have 64 bits where
 * nothing else is said.
 *
 * A pool of strings has their number n, then n + 1 offsets from the first byte behind these, then the bytes.
 *
 * A table of keys is an ingot_text_keys, and behind it the slots, of 32 bits each. A slot is 0, or it has 1 + the
 * number of a key in the lower bits and some of its hash in those above; a search goes on to the next slot where one
 * is taken by another key. Behind the slots is an ingot_text_key for each key, or an integer for each, and then the
 * bytes of long keys.
 *
 * An automaton consists of numbers of 32 bits. The first is how many of them a state has, and then comes the state
 * that it begins in for each ingot_text_beside in front of the text. There follow a class for each byte (8 bits),
 * and the states. A state has the next state for each class, and behind these a bit for each ingot_text_beside with
 * which a match ends here. States are offsets in 32 bits from the first one, which is never left and never matches.
 *
 * A tokenizer is an ingot_text_tokenizer, and behind it the offsets of two automata for each search. N-grams are an
 * ingot_text_grams, and behind it an ingot_text_gram for each slot. */

typedef struct ingot_text_keys {
  uint64_t mask;        /* the number of slots less one */
  int64_t otherwise;    /* the value for everything that is no key */
  uint64_t keys, bytes; /* offsets of the keys, and of the bytes of long ones */
  uint64_t shift;       /* how many bits of a slot a key's number has */
} ingot_text_keys;

/* A key. One of up to 16 bytes is in the two words as a whole (ingot_text_ends). */
typedef struct ingot_text_key {
  uint64_t low, high;
  uint32_t size, from; /* `from`: where a longer key begins among the bytes */
  int64_t value;       /* the key's value */
} ingot_text_key;

typedef struct ingot_text_tokenizer {
  uint64_t kind;  /* an ingot_text_token_kind */
  uint64_t least; /* the least characters of a token */
  uint64_t marks; /* whether each string's tokens are between two marks */
  /* The offset of a pool: the padding behind the tokens, the mark in front of them and the one behind them. */
  uint64_t pool;
  uint64_t searches; /* how many searches there are */
} ingot_text_tokenizer;

typedef enum ingot_text_token_kind {
  INGOT_TEXT_CHARACTERS,
  /* Tokens are between matches of the first search, taken apart by those of the second, and so on. */
  INGOT_TEXT_SEPARATED,
  INGOT_TEXT_FOUND /* tokens are the matches of the search */
} ingot_text_token_kind;

/* N-grams of numbers as a tree: a step from a node by a number leads to another one, where n-grams may end. */
typedef struct ingot_text_grams {
  uint64_t mask; /* the number of slots less one */
  uint64_t least, most, skips;
} ingot_text_grams;

typedef struct ingot_text_gram {
  uint64_t step;  /* 1 + (node << 32 | number); 0: the slot is free */
  uint32_t node;  /* 0: no step leads further */
  uint32_t place; /* 1 + the place in the result of the n-gram that ends here; 0: none does */
} ingot_text_gram;

static inline uint64_t ingot_text_word(const char *data, int bytes) {
  uint64_t word = 0;
  for (int k = 0; k < bytes; ++k) { /* compilers make this one load where memory is little endian */
    word |= (uint64_t)(unsigned char)data[k] << (8 * k);
  }
  return word;
}

static inline uint64_t ingot_text_mixed(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0xff51afd7ed558ccdu;
  return hash ^ hash >> 32;
}

/* Returns the last 16 bytes of a text, in an order of their own. Of a shorter text these are all bytes, so two texts
 * of one size are equal where the words are. Texts of 4 to 16 bytes take the same way, because a processor cannot
 * guess which of several ways a text takes. */
static inline void ingot_text_ends(const char *data, int64_t size, uint64_t *low, uint64_t *high) {
  if (size > 16) {
    data += size - 16;
    size = 16;
  }
  if (size >= 4) {
    const char *last = data + size - 4;
    int64_t apart = size >> 3 << 2; /* the words overlap */
    *low = ingot_text_word(data, 4) << 32 | ingot_text_word(data + apart, 4);
    *high = ingot_text_word(last, 4) << 32 | ingot_text_word(last - apart, 4);
  } else {
    uint64_t few = 0;
    if (size > 0) {
      few = (unsigned char)data[0] | (uint64_t)(unsigned char)data[size / 2] << 8 |
            (uint64_t)(unsigned char)data[size - 1] << 16;
    }
    *low = few;
    *high = 0;
  }
}

static inline uint64_t ingot_text_hash(const char *data, int64_t size, uint64_t low, uint64_t high) {
  uint64_t hash = (uint64_t)size;
  for (int64_t i = 0; i + 16 < size; i += 8) {
    hash = ingot_text_mixed(hash, ingot_text_word(data + i, 8));
  }
  hash = (hash ^ low) * 0xff51afd7ed558ccdu + high * 0x9e3779b97f4a7c15u;
  return (hash ^ hash >> 32) * 0xc4ceb9fe1a85ec53u;
}

static inline uint64_t ingot_text_number_hash(int64_t number) { return ingot_text_mixed(0, (uint64_t)number); }

#endif
