// libFuzzer's mutator for targets whose input is a model: mostly changes of the parsed model, sometimes of its bytes.
#include "test/fuzz/Fuzz.h"

using namespace ingot::fuzz;

static size_t write(const pb::ModelProto &model, uint8_t *out, size_t most) {
  size_t size = model.ByteSizeLong();
  return size <= most && model.SerializeToArray(out, int(size)) ? size : 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
  Random random(seed);
  pb::ModelProto model;
  if (random() % 8 == 0 || !parse({reinterpret_cast<char *>(data), size}, model)) {
    return LLVMFuzzerMutate(data, size, most);
  }
  mutate(model, random);
  size_t written = write(model, data, most);
  return written ? written : LLVMFuzzerMutate(data, size, most);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *first, size_t firstSize, const uint8_t *second, size_t secondSize,
                                 uint8_t *out, size_t most, unsigned seed) {
  Random random(seed);
  pb::ModelProto model, other;
  if (!parse({reinterpret_cast<const char *>(first), firstSize}, model) ||
      !parse({reinterpret_cast<const char *>(second), secondSize}, other)) {
    return 0;
  }
  append(model, std::move(other), random);
  return write(model, out, most);
}
