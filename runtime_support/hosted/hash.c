/* Computes XXH64 (Yann Collet) with seed 0: four lanes of 8 bytes, then the tail in ever smaller steps, then a final
 * mix. It was chosen because it keeps up with memory, has a public specification, and LLVM has the same function
 * (llvm::xxHash64) for the compiler. Bytes are read one by one in little-endian order, which compilers turn into
 * plain loads. */
#include "ingot.h"

#define PRIME1 0x9E3779B185EBCA87u
#define PRIME2 0xC2B2AE3D27D4EB4Fu
#define PRIME3 0x165667B19E3779F9u
#define PRIME4 0x85EBCA77C2B2AE63u
#define PRIME5 0x27D4EB2F165667C5u

static uint64_t rotate(uint64_t value, int bits) { return value << bits | value >> (64 - bits); }

static uint64_t read32(const unsigned char *p) {
  return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24;
}

static uint64_t read64(const unsigned char *p) { return read32(p) | read32(p + 4) << 32; }

static uint64_t mixLane(uint64_t lane, uint64_t input) { return rotate(lane + input * PRIME2, 31) * PRIME1; }

static uint64_t mergeLane(uint64_t hash, uint64_t lane) { return (hash ^ mixLane(0, lane)) * PRIME1 + PRIME4; }

static uint64_t hashStripes(const unsigned char **data, size_t bytes) {
  uint64_t a = PRIME1 + PRIME2, b = PRIME2, c = 0, d = 0 - PRIME1;
  const unsigned char *p = *data;
  for (; bytes >= 32; bytes -= 32, p += 32) {
    a = mixLane(a, read64(p));
    b = mixLane(b, read64(p + 8));
    c = mixLane(c, read64(p + 16));
    d = mixLane(d, read64(p + 24));
  }
  *data = p;
  uint64_t hash = rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18);
  return mergeLane(mergeLane(mergeLane(mergeLane(hash, a), b), c), d);
}

uint64_t ingot_hash64(const void *data, size_t bytes) {
  const unsigned char *p = data, *end = p + bytes;
  uint64_t hash = (bytes >= 32 ? hashStripes(&p, bytes) : PRIME5) + bytes;
  for (; end - p >= 8; p += 8) {
    hash = rotate(hash ^ mixLane(0, read64(p)), 27) * PRIME1 + PRIME4;
  }
  if (end - p >= 4) {
    hash = rotate(hash ^ read32(p) * PRIME1, 23) * PRIME2 + PRIME3;
    p += 4;
  }
  for (; p != end; ++p) {
    hash = rotate(hash ^ *p * PRIME5, 11) * PRIME1;
  }
  hash = (hash ^ hash >> 33) * PRIME2;
  hash = (hash ^ hash >> 29) * PRIME3;
  return hash ^ hash >> 32;
}

int ingot_weights_check(const ingot_model *model, const void *data, int64_t bytes) {
  if (!model) {
    return INGOT_ERROR_NULL;
  }
  if (model->abi != INGOT_ABI) {
    return INGOT_ERROR_ABI;
  }
  if (!(model->flags & (INGOT_MODEL_WEIGHTS_APART | INGOT_MODEL_WEIGHTS_STREAMED))) {
    return INGOT_OK;
  }
  int argument = model->input_count + model->output_count + 1;
  if (!data) {
    return INGOT_STATUS(INGOT_ERROR_NULL, argument);
  }
  if ((uintptr_t)data % INGOT_WEIGHTS_ALIGN) {
    return INGOT_STATUS(INGOT_ERROR_ALIGNMENT, argument);
  }
  if (bytes != model->weight_bytes) {
    return INGOT_STATUS(INGOT_ERROR_CONTENT, argument);
  }
  return ingot_hash64(data, (size_t)bytes) == model->weight_hash ? INGOT_OK : INGOT_STATUS(INGOT_ERROR_HASH, argument);
}
