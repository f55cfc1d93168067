// A model written by hand, with the structures that the compiler emits: output[i] = float(indices[i]) + bias of the
// input, with a node that refuses negative indices.
#pragma once
#include "ingot.h"

namespace ingot::test {

inline constexpr int64_t inputDims[] = {2, 3};
inline constexpr int64_t indexDims[] = {6};
inline constexpr ingot_tensor_info inputInfos[] = {{"x", INGOT_FLOAT32, 2, inputDims, 6, 24, 0, 0, 0},
                                                   {"indices", INGOT_INT64, 1, indexDims, 6, 48, 0, 0, 0}};
inline constexpr ingot_tensor_info outputInfos[] = {{"y", INGOT_FLOAT32, 2, inputDims, 6, 24, 0, 0, 0}};
inline constexpr const char *nodeNames[] = {"/embed/Gather", "/add"};

inline int runFake(const void *const *inputs, void *const *outputs, int64_t *, void *workspace,
                   const ingot_exec *exec) {
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

inline constexpr ingot_model fakeModel = {INGOT_ABI,  0,           "fake", "any", 2,       1,         2,       0,
                                          inputInfos, outputInfos, 256,    64,    0,       nodeNames, nullptr, nullptr,
                                          runFake,    0,           0,      0,     nullptr, 0,         nullptr};

// An open model: y[batch][2*rows] = the sum of x[batch][rows] and bias[rows], each sum twice. A batch is at most 4; the
// node refuses 7 rows.

inline constexpr int64_t openX[] = {-1, -2}, openBias[] = {-2}, openY[] = {-1, INGOT_DIM_COMPUTED};
inline constexpr ingot_tensor_info openInputs[] = {{"x", INGOT_FLOAT32, 2, openX, -1, -1, 0, 0, 0},
                                                   {"bias", INGOT_FLOAT32, 1, openBias, -1, -1, 0, 0, 0}};
inline constexpr ingot_tensor_info openOutputs[] = {{"y", INGOT_FLOAT32, 2, openY, -1, -1, 0, 0, 0}};
inline constexpr ingot_symbol_info openSymbols[] = {{"batch", 0, 4}, {"rows", 0, -1}};
inline constexpr const char *openNodes[] = {"/double"};

inline int planOpen(const int64_t *sizes, int64_t *dims, int64_t *workspaceBytes) {
  if (sizes[1] == 7) {
    return INGOT_STATUS(INGOT_ERROR_SIZE, 0);
  }
  dims[0] = sizes[0];
  dims[1] = sizes[1] < INT64_MAX / 2 ? 2 * sizes[1] : -1;
  *workspaceBytes = sizes[1] < 1000 ? 64 * sizes[1] : 64;
  return 0;
}

inline int runOpen(const void *const *inputs, void *const *outputs, int64_t *sizes, void *workspace,
                   const ingot_exec *) {
  const auto *x = static_cast<const float *>(inputs[0]), *bias = static_cast<const float *>(inputs[1]);
  auto *y = static_cast<float *>(outputs[0]);
  for (int64_t i = 0; i < sizes[0] * sizes[1]; ++i) {
    static_cast<char *>(workspace)[i % sizes[1] * 64] = 1;
    y[2 * i] = y[2 * i + 1] = x[i] + bias[i % sizes[1]];
  }
  return 0;
}

inline constexpr ingot_model openModel = {
    INGOT_ABI, 0,         "open",      "any",    2,       1, 1, 2, openInputs, openOutputs, -1,     64,
    0,         openNodes, openSymbols, planOpen, runOpen, 0, 0, 0, nullptr,    0,           nullptr};

} // namespace ingot::test
