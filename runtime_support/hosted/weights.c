/* Maps a weights file and checks it. The pages are shared with every process that maps the same file. */
#define _POSIX_C_SOURCE 200809L
#include "ingot.h"
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int mapDescriptor(int descriptor, int64_t expected_bytes, uint64_t expected_hash, ingot_weights *weights) {
  struct stat info;
  if (fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode)) {
    return INGOT_ERROR_FILE;
  }
  if (info.st_size != expected_bytes || (uint64_t)expected_bytes > SIZE_MAX) {
    return INGOT_ERROR_CONTENT;
  }
  size_t bytes = (size_t)expected_bytes;
  if (bytes == 0) { /* an empty range cannot be mapped */
    return ingot_hash64(0, 0) == expected_hash ? INGOT_OK : INGOT_ERROR_HASH;
  }
  void *data = mmap(0, bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (data == MAP_FAILED) {
    return INGOT_ERROR_FILE;
  }
  if (ingot_hash64(data, bytes) != expected_hash) {
    munmap(data, bytes);
    return INGOT_ERROR_HASH;
  }
  weights->data = data;
  weights->bytes = expected_bytes;
  return INGOT_OK;
}

int ingot_weights_map(const char *path, int64_t expected_bytes, uint64_t expected_hash, ingot_weights *weights) {
  if (!path || !weights) {
    return INGOT_ERROR_NULL;
  }
  weights->data = 0;
  weights->bytes = 0;
  /* Without O_NONBLOCK a pipe in the file's place would block for ever. */
  int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    return INGOT_ERROR_FILE;
  }
  int status = mapDescriptor(descriptor, expected_bytes, expected_hash, weights);
  close(descriptor);
  return status;
}

int ingot_weights_load(const ingot_model *model, const char *path, ingot_weights *weights) {
  if (!model || !weights) {
    return INGOT_ERROR_NULL;
  }
  weights->data = 0;
  weights->bytes = 0;
  if (model->abi != INGOT_ABI) {
    return INGOT_ERROR_ABI;
  }
  if (!(model->flags & (INGOT_MODEL_WEIGHTS_APART | INGOT_MODEL_WEIGHTS_STREAMED))) {
    return INGOT_OK;
  }
  return ingot_weights_map(path, model->weight_bytes, model->weight_hash, weights);
}

static int copyWeights(void *context, int64_t offset, void *to, int64_t bytes) {
  memcpy(to, (const char *)context + offset, (size_t)bytes);
  return 0;
}

const void *ingot_weights_for(const ingot_model *model, const ingot_weights *weights, ingot_reader *reader) {
  if (!(model->flags & INGOT_MODEL_WEIGHTS_STREAMED)) {
    return weights->data;
  }
  reader->context = (void *)(uintptr_t)weights->data;
  reader->begin = copyWeights;
  reader->finish = 0;
  return reader;
}

void ingot_weights_unmap(ingot_weights *weights) {
  if (weights && weights->data) {
    munmap((void *)(uintptr_t)weights->data, (size_t)weights->bytes);
    weights->data = 0;
    weights->bytes = 0;
  }
}
