/* Functions that compiled models call for tensors of strings. Keys are in keys.c, letters in letters.c, pieces in
 * pieces.c, regular expressions in patterns.c and numbers in numbers.c. All of it is freestanding like all of core/.
 * Only joining, changing the case of letters and writing numbers make new bytes, in ingot_exec.strings; everything
 * else gives views of bytes that are there. */
#include "views.h"

/* Memory */

typedef struct Block { /* stands in front of the bytes of each block that `allocate` gave */
  struct Block *older;
  int64_t bytes;
} Block;

enum { FIRST = 1 << 12, ALIGN = 16 };

char *ingot_strings_room(const ingot_exec *exec, int64_t bytes) {
  ingot_strings *strings = exec ? exec->strings : 0;
  if (!strings || bytes < 0) {
    return 0;
  }
  if (strings->bytes - strings->used < bytes) {
    int64_t last = strings->bytes < FIRST / 2 ? FIRST / 2 : strings->bytes,
            wanted = bytes > 2 * last ? bytes : 2 * last;
    Block *block = 0;
    if (exec->allocate && wanted < INT64_MAX - (int64_t)sizeof(Block)) {
      block = (Block *)exec->allocate(exec->allocator, wanted + (int64_t)sizeof(Block), ALIGN, -1);
    }
    if (!block) {
      return 0;
    }
    block->older = (Block *)strings->blocks;
    block->bytes = wanted;
    strings->blocks = block;
    strings->data = (char *)(block + 1);
    strings->bytes = wanted;
    strings->used = 0;
  }
  char *room = strings->data + strings->used;
  strings->used += bytes;
  return room;
}

void ingot_strings_shrink(const ingot_exec *exec, int64_t bytes) { exec->strings->used -= bytes; }

/* Releases all blocks behind `newest`. */
static void drop(const ingot_exec *exec, Block *newest) {
  while (newest) {
    Block *older = newest->older;
    exec->release(exec->allocator, newest);
    newest = older;
  }
}

void ingot_strings_clear(const ingot_exec *exec) {
  ingot_strings *strings = exec ? exec->strings : 0;
  if (!strings) {
    return;
  }
  strings->used = 0;
  Block *newest = (Block *)strings->blocks;
  if (newest) { /* the newest block is the largest, and is kept */
    drop(exec, newest->older);
    newest->older = 0;
  }
}

void ingot_strings_release(const ingot_exec *exec) {
  ingot_strings *strings = exec ? exec->strings : 0;
  if (!strings) {
    return;
  }
  if (strings->blocks) {
    drop(exec, (Block *)strings->blocks);
    strings->data = 0;
    strings->bytes = 0;
  }
  strings->blocks = 0;
  strings->used = 0;
}

/* Pools, and operations on one string at a time */

int ingot_text_spell(const ingot_exec *exec, const int64_t *arguments) {
  const int64_t *numbers = (const int64_t *)(uintptr_t)arguments[INGOT_TEXT_X];
  const uint64_t *pool = (const uint64_t *)ingot_text_table(arguments);
  ingot_string *to = (ingot_string *)ingot_text_result(arguments);
  for (int64_t i = 0; i < arguments[INGOT_TEXT_COUNT]; ++i, numbers += arguments[INGOT_TEXT_X_STEP]) {
    if ((uint64_t)*numbers >= pool[0]) {
      return INGOT_ERROR_INDEX;
    }
    to[i] = ingot_text_in_pool(pool, *numbers);
  }
  (void)exec;
  return 0;
}

int ingot_text_equal(const ingot_exec *exec, const int64_t *arguments) {
  const ingot_string *x = ingot_text_strings(arguments, INGOT_TEXT_X), *y = ingot_text_strings(arguments, INGOT_TEXT_Y);
  uint8_t *to = (uint8_t *)ingot_text_result(arguments);
  for (int64_t i = 0; i < arguments[INGOT_TEXT_COUNT]; ++i) {
    to[i] = (uint8_t)ingot_text_same(*x, y->data, y->size);
    x += arguments[INGOT_TEXT_X_STEP];
    y += arguments[INGOT_TEXT_Y_STEP];
  }
  (void)exec;
  return 0;
}

int ingot_text_join(const ingot_exec *exec, const int64_t *arguments) {
  const ingot_string *x = ingot_text_strings(arguments, INGOT_TEXT_X), *y = ingot_text_strings(arguments, INGOT_TEXT_Y);
  ingot_string *to = (ingot_string *)ingot_text_result(arguments);
  for (int64_t i = 0; i < arguments[INGOT_TEXT_COUNT]; ++i) {
    if (x->size == 0 || y->size == 0) {
      to[i] = x->size == 0 ? *y : *x;
    } else {
      char *room = x->size > INT64_MAX - y->size ? 0 : ingot_strings_room(exec, x->size + y->size);
      if (!room) {
        return INGOT_ERROR_MEMORY;
      }
      ingot_text_copy(room, x->data, x->size);
      ingot_text_copy(room + x->size, y->data, y->size);
      to[i].size = x->size + y->size;
      to[i].data = room;
    }
    x += arguments[INGOT_TEXT_X_STEP];
    y += arguments[INGOT_TEXT_Y_STEP];
  }
  return 0;
}
