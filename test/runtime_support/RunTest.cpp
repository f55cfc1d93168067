// ingot_run: every mistake of the caller is an error value that names the argument, and nothing is written then.
#include "FakeModel.h"
#include <gtest/gtest.h>

using namespace ingot::test;

namespace {

struct Call {
  alignas(64) char workspace[320];
  alignas(8) float x[8] = {1, 2, 3, 4, 5, 6};
  alignas(8) float y[8] = {-1, -1, -1, -1, -1, -1};
  int64_t indices[7] = {10, 20, 30, 40, 50, 60};
  ingot_model model = fakeModel;
  ingot_buffer inputs[2] = {{x, 6}, {indices, 6}};
  ingot_buffer outputs[1] = {{y, 6}};

  int run(void *scratch, size_t bytes = 256) {
    return ingot_run(&model, inputs, 2, outputs, 1, nullptr, scratch, bytes, nullptr);
  }
  int run() { return run(workspace); }
  template <typename T> static T *shifted(T *pointer, int bytes) {
    return reinterpret_cast<T *>(reinterpret_cast<char *>(pointer) + bytes);
  }
};

TEST(Run, RunsWhenAllIsRight) {
  Call call;
  EXPECT_EQ(call.run(), 0);
  EXPECT_EQ(call.y[0], 11);
  EXPECT_EQ(call.y[5], 66);
}

TEST(Run, NullModelAndLists) {
  Call call;
  EXPECT_EQ(ingot_run(nullptr, call.inputs, 2, call.outputs, 1, nullptr, call.workspace, 256, nullptr),
            INGOT_ERROR_NULL);
  EXPECT_EQ(ingot_run(&call.model, nullptr, 2, call.outputs, 1, nullptr, call.workspace, 256, nullptr),
            INGOT_ERROR_NULL);
  EXPECT_EQ(ingot_run(&call.model, call.inputs, 2, nullptr, 1, nullptr, call.workspace, 256, nullptr),
            INGOT_ERROR_NULL);
}

TEST(Run, OtherAbi) {
  Call call;
  call.model.abi = INGOT_ABI + 1;
  EXPECT_EQ(call.run(), INGOT_ERROR_ABI);
}

TEST(Run, NumberOfTensors) {
  Call call;
  EXPECT_EQ(ingot_run(&call.model, call.inputs, 1, call.outputs, 1, nullptr, call.workspace, 256, nullptr),
            INGOT_ERROR_COUNT);
  EXPECT_EQ(ingot_run(&call.model, call.inputs, 2, call.outputs, 0, nullptr, call.workspace, 256, nullptr),
            INGOT_ERROR_COUNT);
  EXPECT_EQ(ingot_run(&call.model, call.inputs, -1, call.outputs, 1, nullptr, call.workspace, 256, nullptr),
            INGOT_ERROR_COUNT);
}

TEST(Run, NullTensors) {
  Call call;
  call.inputs[1].data = nullptr;
  EXPECT_EQ(call.run(), INGOT_STATUS(INGOT_ERROR_NULL, 1));
  call.inputs[1].data = call.indices;
  call.outputs[0].data = nullptr;
  EXPECT_EQ(call.run(), INGOT_STATUS(INGOT_ERROR_NULL, 2));
}

TEST(Run, NumberOfElements) {
  Call call;
  call.inputs[0].elements = 7;
  EXPECT_EQ(call.run(), INGOT_STATUS(INGOT_ERROR_COUNT, 0));
  call.inputs[0].elements = 6;
  call.outputs[0].elements = 5;
  EXPECT_EQ(call.run(), INGOT_STATUS(INGOT_ERROR_COUNT, 2));
}

TEST(Run, NaturalAlignmentIsEnoughAndNeeded) {
  Call call;
  call.inputs[0].data = Call::shifted(call.x, 4);
  EXPECT_EQ(call.run(), 0);
  call.inputs[0].data = Call::shifted(call.x, 2);
  EXPECT_EQ(call.run(), INGOT_STATUS(INGOT_ERROR_ALIGNMENT, 0));
  call.inputs[0].data = call.x;
  call.inputs[1].data = Call::shifted(call.indices, 4);
  EXPECT_EQ(call.run(), INGOT_STATUS(INGOT_ERROR_ALIGNMENT, 1));
  call.inputs[1].data = call.indices;
  call.outputs[0].data = Call::shifted(call.y, 1);
  EXPECT_EQ(call.run(), INGOT_STATUS(INGOT_ERROR_ALIGNMENT, 2));
}

TEST(Run, Workspace) {
  Call call;
  EXPECT_EQ(call.run(nullptr), INGOT_STATUS(INGOT_ERROR_NULL, 3));
  EXPECT_EQ(call.run(call.workspace + 32), INGOT_STATUS(INGOT_ERROR_ALIGNMENT, 3));
  EXPECT_EQ(call.run(call.workspace, 255), INGOT_STATUS(INGOT_ERROR_WORKSPACE, 3));
  EXPECT_EQ(call.run(call.workspace, 0), INGOT_STATUS(INGOT_ERROR_WORKSPACE, 3));
  EXPECT_EQ(call.y[0], -1) << "nothing may be written when a check fails";
}

TEST(Run, NoWorkspaceNeeded) {
  Call call;
  call.model.workspace_bytes = 0;
  call.model.run = [](const void *const *, void *const *, int64_t *, void *, const ingot_exec *) { return 0; };
  EXPECT_EQ(call.run(nullptr, 0), 0);
}

TEST(Run, EmptyTensorsMayBeNull) {
  Call call;
  ingot_tensor_info empty = {"e", INGOT_FLOAT32, 1, nullptr, 0, 0, 0, 0, 0};
  call.model.inputs = &empty;
  call.model.input_count = 1;
  call.model.run = [](const void *const *inputs, void *const *, int64_t *, void *, const ingot_exec *) {
    return int(!!inputs[0]);
  };
  call.inputs[0] = {nullptr, 0};
  EXPECT_EQ(ingot_run(&call.model, call.inputs, 1, call.outputs, 1, nullptr, call.workspace, 256, nullptr), 0);
}

TEST(Run, OptionalInputsMayBeNull) {
  Call call;
  ingot_tensor_info input = call.model.inputs[0];
  call.model.inputs = &input;
  call.model.input_count = 1;
  call.model.run = [](const void *const *inputs, void *const *, int64_t *, void *, const ingot_exec *) {
    return int(!inputs[0]);
  };
  auto run = [&] {
    return ingot_run(&call.model, call.inputs, 1, call.outputs, 1, nullptr, call.workspace, 256, nullptr);
  };
  EXPECT_EQ(run(), 0);
  call.inputs[0] = {nullptr, 0};
  EXPECT_EQ(run(), INGOT_STATUS(INGOT_ERROR_COUNT, 0));
  input.flags = INGOT_TENSOR_OPTIONAL;
  EXPECT_EQ(run(), 1);
  float one = 1;
  call.inputs[0] = {&one, 1};
  EXPECT_EQ(run(), INGOT_STATUS(INGOT_ERROR_COUNT, 0)) << "one that is there is checked";
}

TEST(Run, ErrorsOfTheRunComeBack) {
  Call call;
  call.indices[4] = -1;
  EXPECT_EQ(call.run(), INGOT_STATUS(INGOT_ERROR_INDEX, 0));
}

TEST(ParallelFor, WithoutExecTheCallerDoesAll) {
  static int calls;
  calls = 0;
  auto body = [](void *args, int64_t begin, int64_t end) {
    ++calls;
    *static_cast<int64_t *>(args) += end - begin;
    return 0;
  };
  int64_t covered = 0;
  ingot_exec none = {};
  EXPECT_EQ(ingot_parallel_for(nullptr, body, &covered, 100), 0);
  EXPECT_EQ(ingot_parallel_for(&none, body, &covered, 10), 0);
  EXPECT_EQ(ingot_parallel_for(&none, body, &covered, 0), 0);
  EXPECT_EQ(ingot_parallel_for(&none, body, &covered, -3), 0);
  EXPECT_EQ(covered, 110);
  EXPECT_EQ(calls, 2);
}

TEST(Types, BytesAndNames) {
  EXPECT_EQ(ingot_type_bytes(INGOT_FLOAT32), 4u);
  EXPECT_EQ(ingot_type_bytes(INGOT_BOOL), 1u);
  EXPECT_EQ(ingot_type_bytes(INGOT_BFLOAT16), 2u);
  EXPECT_EQ(ingot_type_bytes(INGOT_INT64), 8u);
  EXPECT_EQ(ingot_type_bytes(0), 0u);
  EXPECT_EQ(ingot_type_bytes(15), 0u);
  EXPECT_STREQ(ingot_type_text(INGOT_BFLOAT16), "bfloat16");
  EXPECT_STREQ(ingot_type_text(INGOT_UINT64), "uint64");
  EXPECT_STREQ(ingot_type_text(INGOT_BOOL), "bool");
  EXPECT_STREQ(ingot_type_text(-1), "unknown");
  EXPECT_STREQ(ingot_type_text(99), "unknown");
}

} // namespace
