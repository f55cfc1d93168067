/* Which key each element is, by hash tables of the compiler's (text.h), and how often n-grams of them occur. */
#include "views.h"

/* The number of the key; where there is none, that of all keys, or the status that is asked for. */
int ingot_text_find(const ingot_exec *exec, const int64_t *arguments) {
  const ingot_string *x = ingot_text_strings(arguments, INGOT_TEXT_X);
  const uint64_t *head = (const uint64_t *)ingot_text_table(arguments), *slots = head + 4;
  const ingot_text_key *keys = (const ingot_text_key *)((const char *)head + head[2]);
  const char *bytes = (const char *)head + head[3];
  uint64_t mask = head[0];
  int64_t *to = (int64_t *)ingot_text_result(arguments), step = arguments[INGOT_TEXT_X_STEP];
  for (int64_t i = 0, count = arguments[INGOT_TEXT_COUNT]; i < count; ++i, x += step) {
    uint64_t low, high, hash, at, slot, found = head[1];
    ingot_text_ends(x->data, x->size, &low, &high);
    hash = ingot_text_hash(x->data, x->size, low, high);
    for (at = hash >> 32 & mask; (slot = slots[at]) != 0; at = (at + 1) & mask) {
      const ingot_text_key *key = keys + ((uint32_t)slot - 1);
      if (slot >> 32 == (uint32_t)hash && key->low == low && key->high == high && key->size == (uint64_t)x->size &&
          (x->size <= 16 || ingot_text_same(*x, bytes + key->from, x->size))) {
        found = (uint32_t)slot - 1;
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

/* The same of integers. */
int ingot_text_find_number(const ingot_exec *exec, const int64_t *arguments) {
  const int64_t *x = (const int64_t *)(uintptr_t)arguments[INGOT_TEXT_X];
  const uint64_t *head = (const uint64_t *)ingot_text_table(arguments), *slots = head + 4;
  const int64_t *numbers = (const int64_t *)((const char *)head + head[2]);
  uint64_t mask = head[0];
  int64_t *to = (int64_t *)ingot_text_result(arguments);
  for (int64_t i = 0; i < arguments[INGOT_TEXT_COUNT]; ++i, x += arguments[INGOT_TEXT_X_STEP]) {
    uint64_t at = ingot_text_number_hash(*x) >> 32 & mask, slot, found = head[1];
    for (; (slot = (uint32_t)slots[at]) != 0; at = (at + 1) & mask) {
      if (numbers[slot - 1] == *x) {
        found = slot - 1;
        break;
      }
    }
    to[i] = (int64_t)found;
  }
  (void)exec;
  return 0;
}

/* The step from a node; null: there is none. */
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

/* How often each n-gram is in each row of keys' numbers: a walk through the tree from each element for each skip. */
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
