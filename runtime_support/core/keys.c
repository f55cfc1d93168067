/* Finds which key each element is, by hash tables that the compiler has made (text.h), and counts how often n-grams
 * of keys occur. */
#include "views.h"

/* Two words and a hash by which a text is looked up. Most texts have 4 to 16 bytes, for which making them is little
 * code. */
typedef struct Probe {
  uint64_t low, high, hash;
} Probe;

static __attribute__((noinline)) Probe probeAny(const ingot_string *x) {
  Probe probe;
  ingot_text_ends(x->data, x->size, &probe.low, &probe.high);
  probe.hash = ingot_text_hash(x->data, x->size, probe.low, probe.high);
  return probe;
}

static inline Probe probeOf(const ingot_string *x) {
  Probe probe;
  if (x->size < 4 || x->size > 16) {
    return probeAny(x);
  }
  ingot_text_ends(x->data, x->size, &probe.low, &probe.high);
  probe.hash = ingot_text_hash(x->data, x->size, probe.low, probe.high);
  return probe;
}

static __attribute__((noinline)) int isSameText(const ingot_string *x, const char *key) {
  return ingot_text_same(*x, key, x->size);
}

/* Writes the value of the key that each element is. For an element that is no key it writes the value for all
 * others, or ends with the status in INGOT_TEXT_NUMBER where that is not 0. */
int ingot_text_find(const ingot_exec *exec, const int64_t *arguments) {
  const ingot_string *x = ingot_text_strings(arguments, INGOT_TEXT_X);
  const ingot_text_keys table = *(const ingot_text_keys *)ingot_text_table(arguments);
  const char *begin = (const char *)ingot_text_table(arguments), *bytes = begin + table.bytes;
  const uint32_t *slots = (const uint32_t *)(const void *)(begin + sizeof table);
  const ingot_text_key *keys = (const ingot_text_key *)(const void *)(begin + table.keys);
  uint32_t mask = (uint32_t)table.mask, numbers = ((uint32_t)1 << table.shift) - 1;
  int64_t *to = (int64_t *)ingot_text_result(arguments), step = arguments[INGOT_TEXT_X_STEP];
  for (int64_t i = 0, count = arguments[INGOT_TEXT_COUNT]; i < count; ++i, x += step) {
    Probe probe = probeOf(x);
    uint32_t at = (uint32_t)(probe.hash >> 32) & mask, slot;
    int64_t found = table.otherwise;
    for (; (slot = slots[at]) != 0; at = (at + 1) & mask) {
      const ingot_text_key *key = keys + (slot & numbers) - 1;
      if (((slot ^ (uint32_t)probe.hash) & ~numbers) == 0 && key->low == probe.low && key->high == probe.high &&
          key->size == (uint64_t)x->size && (x->size <= 16 || isSameText(x, bytes + key->from))) {
        found = key->value;
        break;
      }
    }
    if (slot == 0 && arguments[INGOT_TEXT_NUMBER]) {
      return (int)arguments[INGOT_TEXT_NUMBER];
    }
    to[i] = found;
  }
  (void)exec;
  return 0;
}

/* Writes the number of the key that each integer is. Where INGOT_TEXT_NUMBER is a status, an integer that is no key
 * ends the run with it. */
int ingot_text_find_number(const ingot_exec *exec, const int64_t *arguments) {
  const int64_t *x = (const int64_t *)(uintptr_t)arguments[INGOT_TEXT_X];
  const ingot_text_keys *table = (const ingot_text_keys *)ingot_text_table(arguments);
  const uint32_t *slots = (const uint32_t *)(table + 1);
  const int64_t *numbers = (const int64_t *)((const char *)table + table->keys);
  uint64_t mask = table->mask;
  int64_t *to = (int64_t *)ingot_text_result(arguments);
  for (int64_t i = 0; i < arguments[INGOT_TEXT_COUNT]; ++i, x += arguments[INGOT_TEXT_X_STEP]) {
    uint64_t at = ingot_text_number_hash(*x) >> 32 & mask, found = (uint64_t)table->otherwise;
    uint32_t slot;
    for (; (slot = slots[at]) != 0; at = (at + 1) & mask) {
      uint64_t number = (slot & (((uint32_t)1 << table->shift) - 1)) - 1;
      if (numbers[number] == *x) {
        found = number;
        break;
      }
    }
    if (slot == 0 && arguments[INGOT_TEXT_NUMBER]) {
      return (int)arguments[INGOT_TEXT_NUMBER];
    }
    to[i] = (int64_t)found;
  }
  (void)exec;
  return 0;
}

/* Returns the step from a node by a number; null where there is none. */
static const ingot_text_gram *step(const ingot_text_grams *grams, uint64_t node, int64_t number) {
  const ingot_text_gram *slots = (const ingot_text_gram *)(grams + 1);
  uint64_t wanted = (node << 32 | (uint64_t)number) + 1;
  for (uint64_t at = ingot_text_number_hash((int64_t)wanted) >> 32 & grams->mask;; at = (at + 1) & grams->mask) {
    if (slots[at].step == wanted) {
      return slots + at;
    }
    if (!slots[at].step) {
      return 0;
    }
  }
}

/* Counts how often each n-gram is in each row of keys' numbers. From each element, for each number of skipped
 * elements, it walks through the tree of n-grams. */
int ingot_text_count_grams(const ingot_exec *exec, const int64_t *arguments) {
  const int64_t *x = (const int64_t *)(uintptr_t)arguments[INGOT_TEXT_X];
  const ingot_text_grams *grams = (const ingot_text_grams *)ingot_text_table(arguments);
  float *to = (float *)ingot_text_result(arguments);
  int64_t length = arguments[INGOT_TEXT_ROW], width = arguments[INGOT_TEXT_TAIL];
  for (int64_t row = 0; row < arguments[INGOT_TEXT_COUNT]; ++row, x += length, to += width) {
    for (int64_t i = 0; i < width; ++i) {
      to[i] = 0;
    }
    for (int64_t i = 0; i < length; ++i) {
      const ingot_text_gram *first = step(grams, 0, x[i]);
      if (first && first->place && grams->least <= 1) {
        to[first->place - 1] += 1;
      }
      for (uint64_t apart = 1; first && first->node && apart <= grams->skips + 1; ++apart) {
        const ingot_text_gram *gram = first;
        uint64_t words = 2, at = (uint64_t)i + apart;
        for (; gram->node && words <= grams->most && at < (uint64_t)length; ++words, at += apart) {
          gram = step(grams, gram->node, x[at]);
          if (!gram) {
            break;
          }
          if (gram->place && words >= grams->least) {
            to[gram->place - 1] += 1;
          }
        }
      }
    }
  }
  (void)exec;
  return 0;
}
