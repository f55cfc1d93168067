// A model written by hand, with the structures that the compiler emits: output[i] = float(indices[i]) + bias of the
// input, with a node that refuses negative indices.
#pragma once
#include "ingot.h"

namespace ingot::test {

inline constexpr int64_t inputDims[] = {2, 3};
inline constexpr int64_t indexDims[] = {6};
inline constexpr ingot_tensor_info inputInfos[] = {{"x", INGOT_FLOAT32, 2, inputDims, 6, 24},
                                                   {"indices", INGOT_INT64, 1, indexDims, 6, 48}};
inline constexpr ingot_tensor_info outputInfos[] = {{"y", INGOT_FLOAT32, 2, inputDims, 6, 24}};
inline constexpr const char *nodeNames[] = {"/embed/Gather", "/add"};

inline int runFake(const void *const *inputs, void *const *outputs, void *workspace, const ingot_exec *exec) {
  struct Args {
    const float *x;
    const int64_t *indices;
    float *y;
  } args = {static_cast<const float *>(inputs[0]), static_cast<const int64_t *>(inputs[1]),
            static_cast<float *>(outputs[0])};
  *static_cast<char *>(workspace) = 1;
  auto body = [](void *opaque, int64_t begin, int64_t end) -> int {
    auto *args = static_cast<Args *>(opaque);
    for (int64_t i = begin; i < end; ++i) {
      if (args->indices[i] < 0) {
        return INGOT_STATUS(INGOT_ERROR_INDEX, 0);
      }
      args->y[i] = args->x[i] + float(args->indices[i]);
    }
    return 0;
  };
  return ingot_parallel_for(exec, body, &args, 6);
}

inline constexpr ingot_model fakeModel = {INGOT_ABI,  0,           "fake", "any", 2, 1,         2,      0,
                                          inputInfos, outputInfos, 256,    64,    0, nodeNames, runFake};

} // namespace ingot::test
