/* Unpacks images, whose format targets/cuda/Packing.h describes. Bytes that are damaged are found, and touch nothing
 * but the memory that was made for the result. */
#include "unpack.h"
#include <stdlib.h>
#include <string.h>

enum { HEAD_BYTES = 16, LEAST_COPY = 4, HALF = 15 };

/* The bytes that are left to read; `damaged` where more was read than there is. */
typedef struct Source {
  const unsigned char *at, *end;
  int damaged;
} Source;

static size_t next(Source *from) {
  if (from->at == from->end) {
    from->damaged = 1;
    return 0;
  }
  return *from->at++;
}

/* Reads what is added to half a byte. */
static size_t count(Source *from, size_t half) {
  size_t all = half, more = half == HALF ? 255 : 0;
  while (more == 255) {
    more = next(from);
    all += more;
  }
  return all;
}

static size_t distanceOf(Source *from, size_t before) {
  size_t distance = 0, part = 0x80;
  for (int shift = 0; part & 0x80 && shift < 35; shift += 7) {
    part = next(from);
    distance |= (part & 0x7f) << shift;
  }
  return distance ? distance : before;
}

static size_t numberAt(const unsigned char *bytes) {
  return bytes[0] | (size_t)bytes[1] << 8 | (size_t)bytes[2] << 16 | (size_t)bytes[3] << 24;
}

/* Appends the steps' bytes to the `there` bytes of `to`, until there are `all`. */
static int runSteps(Source *from, char *to, size_t there, size_t all) {
  size_t distance = 0;
  while (there < all) {
    size_t halves = next(from), literals = count(from, halves >> 4);
    if (from->damaged || literals > all - there || literals > (size_t)(from->end - from->at)) {
      return 1;
    }
    memcpy(to + there, from->at, literals);
    from->at += literals;
    there += literals;
    if (there == all) {
      break;
    }
    distance = distanceOf(from, distance);
    size_t copied = count(from, halves & HALF) + LEAST_COPY;
    if (from->damaged || distance == 0 || distance > there || copied > all - there) {
      return 1;
    }
    for (; copied > 0; --copied, ++there) { /* what is copied may begin among the bytes that are written */
      to[there] = to[there - distance];
    }
  }
  return from->at != from->end;
}

int ingot_cuda_is_packed(const ingot_image *image) {
  return image->size >= HEAD_BYTES && !memcmp(image->bytes, "\033P1", 3);
}

int ingot_cuda_is_packed_elf(const ingot_image *image) { return ((const char *)image->bytes)[3] == 'E'; }

/* Returns the bytes of an image behind those of its base, of which there are `*before`; null where it is damaged. */
static char *withBase(const ingot_image *images, size_t image, size_t *before) {
  const unsigned char *bytes = images[image].bytes;
  size_t size = numberAt(bytes + 4), number = numberAt(bytes + 8), ofBase = 0;
  char *all = NULL;
  *before = 0;
  if (number > 0) {
    if (number > image || !ingot_cuda_is_packed(&images[number - 1])) {
      return NULL;
    }
    all = withBase(images, number - 1, &ofBase);
    if (!all) {
      return NULL;
    }
    *before = numberAt((const unsigned char *)images[number - 1].bytes + 4);
    memmove(all, all + ofBase, *before);
  }
  char *larger = realloc(all, *before + size + 1); /* of nothing, it might be null */
  Source from = {bytes + HEAD_BYTES, bytes + images[image].size, 0};
  if (!larger || runSteps(&from, larger, *before, *before + size)) {
    free(larger ? larger : all);
    return NULL;
  }
  return larger;
}

/* Whether words are lists of one word more than the first says, one for each kernel. */
static int areUses(const uint64_t *words, size_t count, int32_t kernels) {
  size_t at = 0;
  for (int32_t i = 0; i < kernels; ++i) {
    if (at >= count || words[at] >= count - at) {
      return 0;
    }
    at += (size_t)words[at] + 1;
  }
  return at == count;
}

ingot_cuda_unpacked ingot_cuda_unpack(const ingot_device_info *info, const ingot_image *image) {
  ingot_cuda_unpacked none = {NULL, NULL}, made;
  const unsigned char *bytes = image->bytes;
  size_t size = numberAt(bytes + 4), front = numberAt(bytes + 12), before;
  char *all = front <= size ? withBase(info->images, (size_t)(image - info->images), &before) : NULL;
  if (!all) {
    return none;
  }
  made.uses = malloc(front + 1);
  if (made.uses) {
    memcpy(made.uses, all + before, front);
  }
  if (!made.uses || front % sizeof *made.uses || !areUses(made.uses, front / sizeof *made.uses, info->kernel_count)) {
    free(made.uses);
    free(all);
    return none;
  }
  made.image = all;
  memmove(all, all + before + front, size - front); /* an ELF file begins where memory does */
  return made;
}
