/* Finds which strings are the same, and in which order they are: a hash table of those that differ, which are then
 * sorted by merging. Their first eight bytes are kept as a number, which mostly decides. */
#include "views.h"

typedef struct Entry {
  uint64_t prefix; /* the first eight bytes, of which the first is the highest */
  int64_t first;   /* the first of all strings that are the same */
} Entry;

static uint64_t prefixOf(ingot_string s) {
  uint64_t prefix = 0;
  for (int64_t k = 0; k < 8; ++k) {
    prefix = prefix << 8 | (k < s.size ? (unsigned char)s.data[k] : 0);
  }
  return prefix;
}

typedef struct Strings {
  const ingot_string *x;
  int64_t step;
} Strings;

static const ingot_string *string(const Strings *all, int64_t i) { return all->x + i * all->step; }

static int isLess(const Strings *all, const Entry *a, const Entry *b) {
  if (a->prefix != b->prefix) {
    return a->prefix < b->prefix;
  }
  const ingot_string *x = string(all, a->first), *y = string(all, b->first);
  for (int64_t k = 8; k < x->size && k < y->size; ++k) {
    if (x->data[k] != y->data[k]) {
      return (unsigned char)x->data[k] < (unsigned char)y->data[k];
    }
  }
  return x->size < y->size;
}

/* Numbers the strings that differ as they occur; returns how many there are. */
static int64_t numberDistinct(const Strings *all, int64_t count, uint64_t *slots, Entry *entries, int64_t *numbers) {
  uint64_t size = 2 * (uint64_t)count;
  int64_t found = 0;
  for (uint64_t i = 0; i < size; ++i) {
    slots[i] = 0;
  }
  for (int64_t i = 0; i < count; ++i) {
    ingot_string s = *string(all, i);
    uint64_t low, high, hash, at, slot;
    ingot_text_ends(s.data, s.size, &low, &high);
    hash = ingot_text_hash(s.data, s.size, low, high);
    for (at = (hash >> 32) * size >> 32; (slot = slots[at]) != 0; at = at + 1 < size ? at + 1 : 0) {
      const ingot_string *known = string(all, entries[(uint32_t)slot - 1].first);
      if (slot >> 32 == (uint32_t)hash && ingot_text_same(s, known->data, known->size)) {
        break;
      }
    }
    if (!slot) {
      Entry entry = {prefixOf(s), i};
      entries[found++] = entry;
      slot = (uint64_t)(uint32_t)hash << 32 | (uint64_t)found;
      slots[at] = slot;
    }
    numbers[i] = (uint32_t)slot - 1;
  }
  return found;
}

/* Merges from[begin, middle) and from[middle, end). */
static void merge(const Strings *all, const Entry *from, Entry *to, int64_t begin, int64_t middle, int64_t end) {
  int64_t a = begin, b = middle;
  for (int64_t i = begin; i < end; ++i) {
    int second = a == middle || (b < end && isLess(all, from + b, from + a));
    to[i] = from[second ? b++ : a++];
  }
}

/* Sorts with as much room beside the entries; returns where the result is. */
static Entry *sorted(const Strings *all, Entry *entries, Entry *room, int64_t count) {
  for (int64_t width = 1; width < count; width *= 2) {
    for (int64_t i = 0; i < count; i += 2 * width) {
      int64_t middle = i + width < count ? i + width : count, end = i + 2 * width < count ? i + 2 * width : count;
      merge(all, entries, room, i, middle, end);
    }
    Entry *other = room;
    room = entries;
    entries = other;
  }
  return entries;
}

/* Writes a number for each string, which equal strings share: in the order in which they occur, or
 * (INGOT_TEXT_NUMBER is 1) in the order of their bytes. */
int ingot_text_rank(const ingot_exec *exec, const int64_t *arguments) {
  Strings all = {ingot_text_strings(arguments, INGOT_TEXT_X), arguments[INGOT_TEXT_X_STEP]};
  int64_t count = arguments[INGOT_TEXT_COUNT], *to = (int64_t *)ingot_text_result(arguments);
  char *scratch = (char *)(uintptr_t)arguments[INGOT_TEXT_SCRATCH];
  Entry *entries = (Entry *)(void *)scratch, *room = entries + count;
  (void)exec;
  if (count >= INT32_MAX) {
    return INGOT_ERROR_SIZE;
  }
  int64_t found = numberDistinct(&all, count, (uint64_t *)(void *)room, entries, to);
  if (arguments[INGOT_TEXT_NUMBER]) {
    const Entry *order = sorted(&all, entries, room, found);
    int64_t *ranks = (int64_t *)(void *)(order == entries ? room : entries);
    for (int64_t i = 0; i < found; ++i) {
      ranks[to[order[i].first]] = i;
    }
    for (int64_t i = 0; i < count; ++i) {
      to[i] = ranks[to[i]];
    }
  }
  return 0;
}
